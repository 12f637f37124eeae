#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace fixnvpe::test {

/// Is this one of an enum's values? The compiler spells any other one as a number: "(Color)7".
template <auto Value>
constexpr bool has_name() {
#ifdef _MSC_VER
    constexpr std::string_view text = __FUNCSIG__;
#else
    constexpr std::string_view text = __PRETTY_FUNCTION__;
#endif
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] == ')' && text[i + 1] >= '0' && text[i + 1] <= '9') {
            return false;
        }
    }
    return true;
}

/// Every value of an enum, whatever any table holds.
template <typename Enum>
std::vector<Enum> values_of() {
    constexpr int more_than_any = 100;
    return []<int... N>(std::integer_sequence<int, N...>) {
        std::vector<Enum> values;
        ((has_name<static_cast<Enum>(N)>() ? values.push_back(static_cast<Enum>(N)) : void()), ...);
        return values;
    }
    (std::make_integer_sequence<int, more_than_any>());
}

}  // namespace fixnvpe::test
