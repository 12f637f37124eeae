#pragma once

// What the tests of os share.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"
#include "support/catch.hpp"
#include "support/error.hpp"

namespace fixnvpe::test {

/// Without reading anything by the code under test.
inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline ByteView view(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The code of the Error that this throws; nothing if it throws none.
template <typename Step>
std::optional<ErrorCode> code_of(Step step) {
    try {
        step();
    } catch (const Error& error) {
        UNSCOPED_INFO(describe(error));
        CHECK_FALSE(error.path().empty());
        CHECK_THAT(error.message(), contains(": "));
        if (error.code() == ErrorCode::busy) {
            CHECK((error.hint() == Hint::wait || error.hint() == Hint::close_program));
        }
        return error.code();
    }
    return std::nullopt;
}

}  // namespace fixnvpe::test
