// Input: a pattern, a NUL, and a path. Our matcher says what one says that tries everything.

#include "fixnvpe/find/glob.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "fixnvpe/base/text.hpp"
#include "fuzz.hpp"

namespace fixnvpe::test {
namespace {

using Text = std::u32string;

char32_t to_upper(char32_t c) {
    return c >= U'a' && c <= U'z' ? c - 32 : c;
}

/// Glob's documentation word for word; each pair of places is tried once.
class Reference {
public:
    explicit Reference(GlobRules rules) : rules_(rules) {}

    [[nodiscard]] bool matches(const Text& pattern, const Text& path) const {
        const std::vector<Text> patterns = names_of(pattern);
        const std::vector<Text> names = names_of(path);
        return !names.empty() && search(patterns.size(), names.size(), [&](std::size_t p, std::size_t n, auto& rest) {
            const std::size_t left = names.size() - n;
            if (p == patterns.size() || left == 0) {
                return p == patterns.size() && left == 0;
            }
            if (patterns[p] == U"**") {  // none, or one more folder; the last name is the file's
                return rest(p + 1, n) || (left > 1 && rest(p, n + 1));
            }
            return matches_name(patterns[p], names[n]) && rest(p + 1, n + 1);
        });
    }

    /// Both without separators.
    [[nodiscard]] bool matches_name(const Text& pattern, const Text& name) const {
        return search(pattern.size(), name.size(), [&](std::size_t p, std::size_t n, auto& rest) {
            const bool more = n < name.size();
            if (p == pattern.size()) {
                return !more;
            }
            if (pattern[p] == U'*') {
                return rest(p + 1, n) || (more && rest(p, n + 1));
            }
            if (pattern[p] == U'?') {
                return more && rest(p + 1, n + 1);
            }
            if (const std::size_t end = end_of_set(pattern, p); end != Text::npos) {
                return more && in_set(pattern.substr(p + 1, end - p - 1), name[n]) && rest(end + 1, n + 1);
            }
            return more && fold(pattern[p]) == fold(name[n]) && rest(p + 1, n + 1);
        });
    }

private:
    /// step(p, n, rest) may ask rest(p', n') of places further on.
    template <typename Step>
    static bool search(std::size_t last_p, std::size_t last_n, const Step& step) {
        enum Known : char { unknown, no, yes };
        std::vector<Known> known((last_p + 1) * (last_n + 1), unknown);
        const std::function<bool(std::size_t, std::size_t)> rest = [&](std::size_t p, std::size_t n) {
            Known& answer = known[p * (last_n + 1) + n];
            if (answer == unknown) {
                answer = step(p, n, rest) ? yes : no;
            }
            return answer == yes;
        };
        return rest(0, 0);
    }

    [[nodiscard]] std::vector<Text> names_of(const Text& text) const {
        std::vector<Text> names(1);
        for (const char32_t c : text) {
            if (rules_.separators.find(c) != rules_.separators.npos) {
                names.emplace_back();
            } else {
                names.back() += c;
            }
        }
        names.erase(std::remove_if(names.begin(), names.end(), [](const Text& n) { return n.empty() || n == U"."; }),
                    names.end());
        return names;
    }

    /// Where the "]" is of the set that begins here; npos if none does.
    [[nodiscard]] static std::size_t end_of_set(const Text& pattern, std::size_t begin) {
        const std::size_t first = begin + (is_negated(pattern.substr(begin + 1)) ? 2 : 1);
        return pattern[begin] == U'[' ? pattern.find(U']', first + 1) : Text::npos;
    }

    [[nodiscard]] static bool is_negated(const Text& set) { return !set.empty() && (set[0] == U'!' || set[0] == U'^'); }

    /// @param set what stands between the brackets
    [[nodiscard]] bool in_set(Text set, char32_t c) const {
        const bool negated = is_negated(set);
        set.erase(0, negated ? 1 : 0);
        const auto between = [](char32_t first, char32_t x, char32_t last) { return first <= x && x <= last; };
        while (!set.empty()) {
            const bool is_range = set.size() >= 3 && set[1] == U'-';
            const char32_t last = set[is_range ? 2 : 0];
            if (between(set[0], c, last) || between(fold(set[0]), fold(c), fold(last))) {
                return !negated;
            }
            set.erase(0, is_range ? 3 : 1);
        }
        return negated;
    }

    [[nodiscard]] char32_t fold(char32_t c) const { return rules_.fold != nullptr ? rules_.fold(c) : c; }

    GlobRules rules_;
};

void run(ByteView input) {
    const auto [first, second] = split(input);
    const Text pattern = code_points(first);
    const Text path = code_points(std::string_view(reinterpret_cast<const char*>(second.data()), second.size()));
    for (const GlobRules& rules : {GlobRules{}, GlobRules{U"\\/", &to_upper}}) {
        const Reference reference(rules);
        expect(Glob(pattern, rules).matches(path) == reference.matches(pattern, path),
               "Glob follows its documentation");
    }
    if (pattern.find(U'/') == Text::npos && !has_magic(pattern)) {
        expect(Reference({}).matches_name(pattern, path) == (pattern == path),
               "a name without magic matches itself alone");
    }
}

}  // namespace
}  // namespace fixnvpe::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fixnvpe::test::run({data, size});
    return 0;
}
