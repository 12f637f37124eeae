#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixnvpe/base/text.hpp"

/// Patterns for paths: `*` any characters, `?` one character, `[a-z]` one of these, `[!a-z]` or `[^a-z]` one
/// of all others, `**` as a whole name zero or more folders. None of them matches a separator. Pure: no disk.
namespace fixnvpe {

/// The characters of a path, or of a pattern that stands in one.
[[nodiscard]] std::u32string points(const std::filesystem::path& path);

/// True if a pattern of this one name can match other names than itself; `[` without its `]` stands for itself.
[[nodiscard]] bool has_magic(std::u32string_view name);

/// How names are cut and compared.
struct GlobRules {
    std::u32string_view separators = U"/";
    /// Maps characters that differ in case alone to one of them; none where case matters.
    char32_t (*fold)(char32_t) = nullptr;
};

/// A pattern for relative paths, to be followed from folder to folder:
/// each folder is listed once, however many ways the pattern leads there.
class Glob {
public:
    /// The places in the pattern where a walk may stand, in rising order; empty: nothing below can match.
    using States = std::vector<std::size_t>;

    /// Empty names and "." are left out of the pattern. ".." matches nothing.
    explicit Glob(std::u32string_view pattern, GlobRules rules = {});

    /// In the folder that the pattern is relative to.
    [[nodiscard]] States start() const;
    /// One folder further down.
    [[nodiscard]] States enter(const States& states, std::u32string_view folder_name) const;
    /// True if the pattern, to its end, leads to the folder itself: every one, if the pattern is empty.
    [[nodiscard]] bool matches_folder(const States& states) const;
    /// True if the pattern, to its end, leads to this file in the folder. `**` stands for folders only, so at
    /// the pattern's end it leads to no file.
    [[nodiscard]] bool matches_file(const States& states, std::u32string_view file_name) const;

    /// True if the pattern matches the file of this relative path.
    [[nodiscard]] bool matches(std::u32string_view file) const;

private:
    struct Token {
        enum Kind { character, any_character, any_characters, set } kind = character;
        char32_t value = 0;                                 ///< of a character
        bool negated = false;                               ///< of a set
        std::vector<std::pair<char32_t, char32_t>> ranges;  ///< of a set; first and last, both belong to it
    };
    using Name = std::vector<Token>;
    friend bool has_magic(std::u32string_view name);

    [[nodiscard]] static Name parse(std::u32string_view name);
    [[nodiscard]] bool matches_one(const Token& token, char32_t c) const;
    [[nodiscard]] bool matches_name(const Name& pattern, std::u32string_view name) const;
    [[nodiscard]] char32_t fold(char32_t c) const { return rules_.fold != nullptr ? rules_.fold(c) : c; }
    void add(States& states, std::size_t state) const;

    GlobRules rules_;
    std::vector<Name> names_;  ///< an empty one is `**`
};

}  // namespace fixnvpe
