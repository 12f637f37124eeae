#pragma once

// Catch2 2.13 (Debian 12) and Catch2 3 (vcpkg) in one.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace fixnvpe::test {

/// For CHECK_THAT(text, contains("…")).
#if __has_include(<catch2/catch_test_macros.hpp>)
using Catch::Approx;

inline auto contains(const std::string& text) {
    return Catch::Matchers::ContainsSubstring(text);
}
#else
inline auto contains(const std::string& text) {
    return Catch::Matchers::Contains(text);
}
#endif

}  // namespace fixnvpe::test
