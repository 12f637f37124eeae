#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace fixnvpe {

/// The words that an enum's values have in the output, in JSON, on the command line or in an undo file: one table an
/// enum, beside it, read in both directions.
///
///     template <>
///     inline constexpr auto names_of<Color> = names<Color>({{Color::red, "red"}, {Color::blue, "blue"}});
template <typename Enum>
inline constexpr int names_of = 0;

template <typename Enum, std::size_t N>
consteval std::array<std::pair<Enum, std::string_view>, N> names(const std::pair<Enum, std::string_view> (&table)[N]) {
    return std::to_array(table);
}

/// The value's word; empty for a value that is none.
template <typename Enum>
requires(!std::is_same_v<decltype(names_of<Enum>), const int>) [[nodiscard]] constexpr std::string_view
    to_string(Enum value) {
    const auto found = std::find_if(names_of<Enum>.begin(), names_of<Enum>.end(),
                                    [&](const auto& entry) { return entry.first == value; });
    return found == names_of<Enum>.end() ? std::string_view() : found->second;
}

/// The value that has this word.
template <typename Enum>
[[nodiscard]] constexpr std::optional<Enum> from_string(std::string_view word) {
    const auto found = std::find_if(names_of<Enum>.begin(), names_of<Enum>.end(),
                                    [&](const auto& entry) { return entry.second == word; });
    return found == names_of<Enum>.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace fixnvpe
