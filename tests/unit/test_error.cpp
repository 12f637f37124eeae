// What an error says of itself.

#include "fixnvpe/base/error.hpp"

#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/values.hpp"

namespace fixnvpe::test {

TEST_CASE("error: every hint has words, and no two the same") {
    CHECK(words_of(Hint::none).empty());
    CHECK(words_of(Hint::words).empty());
    CHECK(words_of(Hint::words, "try --this") == "try --this");
    std::set<std::string> all;
    for (const Hint hint : values_of<Hint>()) {
        INFO(static_cast<int>(hint));
        if (hint != Hint::none && hint != Hint::words) {
            const std::string text = words_of(hint);
            CHECK_FALSE(text.empty());
            CHECK(all.insert(text).second);
        }
    }
    CHECK(all.size() == values_of<Hint>().size() - 2);
}

TEST_CASE("error: the programs that have a file open are named, where they are known") {
    CHECK(words_of(Hint::close_program) == "in use by another program: close it");
    CHECK(words_of(Hint::close_program, "python.exe (12)") == "in use by python.exe (12): close it");
    CHECK(words_of(Hint::close_program, "python.exe (12), code.exe (7)") ==
          "in use by python.exe (12), code.exe (7): close them");
}

TEST_CASE("error: at() gives it a file, and leaves the rest as it is") {
    const Error error = Error(ErrorCode::busy, "open: busy", Hint::close_program, "x.exe").at("a.dll");
    CHECK(error.code() == ErrorCode::busy);
    CHECK(error.path() == "a.dll");
    CHECK(error.message() == "open: busy");
    CHECK(std::string(error.what()) == "open: busy");
    CHECK(error.hint() == Hint::close_program);
    CHECK(error.detail() == "x.exe");
}

}  // namespace fixnvpe::test
