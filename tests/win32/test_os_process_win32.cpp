// The process's surroundings, as Windows has them.

#include "fixnvpe/os/process.hpp"

#include "os/win32.hpp"
#include "support/catch.hpp"

namespace fixnvpe::test {

TEST_CASE("os/process on Windows: paths are UTF-8 outside and UTF-16 inside, with \\ between names") {
    CHECK(os::to_path("C:/模型/torch\\lib").native() == L"C:\\模型\\torch\\lib");
    CHECK(os::to_path("\\\\?\\C:\\a").native() == L"C:\\a");
    CHECK(os::to_path("\\\\?\\UNC\\server\\share\\a").native() == L"\\\\server\\share\\a");
    CHECK(os::to_path("//server/share/a").native() == L"\\\\server\\share\\a");
    CHECK(os::to_path("C:\\my files\\\"").native() == L"C:\\my files\\");  // "C:\my files\" in cmd.exe
    CHECK(os::from_path(os::to_path("C:\\模型")) == "C:\\模型");
    const std::filesystem::path half(L"a\xD800.dll");
    CHECK(os::to_path(os::from_path(half)) == half);
}

TEST_CASE("os/process on Windows: the environment is UTF-8") {
    REQUIRE(::SetEnvironmentVariableW(L"FIXNVPE_TEST_VARIABLE", L"C:\\模型") != FALSE);
    CHECK(os::environment("FIXNVPE_TEST_VARIABLE") == "C:\\模型");
    CHECK(os::environment("fixnvpe_test_variable") == "C:\\模型");
    REQUIRE(::SetEnvironmentVariableW(L"FIXNVPE_TEST_VARIABLE", L"") != FALSE);
    CHECK_FALSE(os::environment("FIXNVPE_TEST_VARIABLE"));
    ::SetEnvironmentVariableW(L"FIXNVPE_TEST_VARIABLE", nullptr);
    CHECK_FALSE(os::environment("FIXNVPE_TEST_VARIABLE"));
}

TEST_CASE("os/process on Windows: arguments() leaves the program's name out") {
    const wchar_t* const words[] = {L"fixnvpe.exe", L"patch", L"C:\\模型\\lib\"", nullptr};
    CHECK(os::arguments(3, words) == std::vector<std::string>{"patch", "C:\\模型\\lib\""});
    CHECK(os::arguments(0, words).empty());
}

}  // namespace fixnvpe::test
