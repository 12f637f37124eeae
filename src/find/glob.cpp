#include "fixnvpe/find/glob.hpp"

#include <algorithm>

namespace fixnvpe {
namespace {

/// Cuts at each separator; empty names and "." are left out.
std::vector<std::u32string_view> split(std::u32string_view text, std::u32string_view separators) {
    std::vector<std::u32string_view> names;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(separators), text.size());
        if (const std::u32string_view name = text.substr(0, end); !name.empty() && name != U".") {
            names.push_back(name);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return names;
}

}  // namespace

std::u32string points(const std::filesystem::path& path) {
    return code_points(std::basic_string_view<std::filesystem::path::value_type>(path.native()));
}

bool has_magic(std::u32string_view name) {
    const Glob::Name tokens = Glob::parse(name);
    return std::any_of(tokens.begin(), tokens.end(),
                       [](const Glob::Token& token) { return token.kind != Glob::Token::character; });
}

Glob::Glob(std::u32string_view pattern, GlobRules rules) : rules_(rules) {
    for (const std::u32string_view name : split(pattern, rules.separators)) {
        if (name != U"**") {
            names_.push_back(parse(name));
        } else if (names_.empty() || !names_.back().empty()) {
            names_.emplace_back();
        }
    }
}

Glob::Name Glob::parse(std::u32string_view name) {
    Name tokens;
    bool closes = true;  // asked once: a pattern of many "[" must not take the square of its length
    for (std::size_t i = 0; i < name.size(); ++i) {
        Token token;
        token.value = name[i];
        if (name[i] == U'?') {
            token.kind = Token::any_character;
        } else if (name[i] == U'*') {
            token.kind = Token::any_characters;
        } else if (name[i] == U'[' && closes) {
            std::size_t first = i + 1;
            const bool negated = first < name.size() && (name[first] == U'!' || name[first] == U'^');
            first += negated ? 1 : 0;
            const std::size_t last = name.find(U']', first + 1);  // a "]" that comes first belongs to the set
            closes = last != name.npos;
            if (closes) {
                token.kind = Token::set;
                token.negated = negated;
                for (std::size_t k = first; k < last; ++k) {
                    const bool range = k + 2 < last && name[k + 1] == U'-';
                    token.ranges.emplace_back(name[k], name[range ? k + 2 : k]);
                    k += range ? 2 : 0;
                }
                i = last;
            }
        }
        tokens.push_back(std::move(token));
    }
    return tokens;
}

bool Glob::matches_one(const Token& token, char32_t c) const {
    switch (token.kind) {
        case Token::character: return fold(token.value) == fold(c);
        case Token::any_character: return true;
        case Token::any_characters: return false;
        case Token::set: break;
    }
    const bool inside = std::any_of(token.ranges.begin(), token.ranges.end(), [&](const auto& range) {
        return (range.first <= c && c <= range.second) ||
               (fold(range.first) <= fold(c) && fold(c) <= fold(range.second));
    });
    return inside != token.negated;
}

bool Glob::matches_name(const Name& pattern, std::u32string_view name) const {
    // Where it does not go on, only the last `*` takes one character more: an earlier one could gain nothing.
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t after_star = 0;  // 0: none yet
    std::size_t star_end = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p].kind == Token::any_characters) {
            after_star = ++p;
            star_end = n;
        } else if (p < pattern.size() && matches_one(pattern[p], name[n])) {
            ++p;
            ++n;
        } else if (after_star != 0) {
            p = after_star;
            n = ++star_end;
        } else {
            return false;
        }
    }
    return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(p), pattern.end(),
                       [](const Token& token) { return token.kind == Token::any_characters; });
}

void Glob::add(States& states, std::size_t state) const {
    states.push_back(state);
    if (state < names_.size() && names_[state].empty()) {
        states.push_back(state + 1);  // `**` may stand for no folder
    }
}

Glob::States Glob::start() const {
    States states;
    add(states, 0);
    return states;
}

Glob::States Glob::enter(const States& states, std::u32string_view folder_name) const {
    States next;
    for (const std::size_t state : states) {
        if (state == names_.size()) {
            continue;
        }
        if (names_[state].empty()) {
            add(next, state);
        } else if (matches_name(names_[state], folder_name)) {
            add(next, state + 1);
        }
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    return next;
}

bool Glob::matches_folder(const States& states) const {
    return !states.empty() && states.back() == names_.size();
}

bool Glob::matches_file(const States& states, std::u32string_view file_name) const {
    return !names_.empty() && !names_.back().empty() &&
           std::find(states.begin(), states.end(), names_.size() - 1) != states.end() &&
           matches_name(names_.back(), file_name);
}

bool Glob::matches(std::u32string_view file) const {
    const auto names = split(file, rules_.separators);
    if (names.empty()) {
        return false;
    }
    States states = start();
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        states = enter(states, names[i]);
    }
    return matches_file(states, names.back());
}

}  // namespace fixnvpe
