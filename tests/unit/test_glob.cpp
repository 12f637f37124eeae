#include "fixnvpe/find/glob.hpp"

#include <cwctype>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

#if __has_include(<fnmatch.h>)
#include <fnmatch.h>
#endif

namespace fixnvpe::test {
namespace {

char32_t to_upper(char32_t c) {
    return c >= U'a' && c <= U'z' ? c - 32 : c >= U'а' && c <= U'я' ? c - 32 : c;  // Latin and Cyrillic
}

constexpr GlobRules WINDOWS{U"\\/", &to_upper};

std::u32string utf8(std::string_view text) {
    return code_points(text);
}

bool matches(std::string_view pattern, std::string_view file, GlobRules rules = {}) {
    return Glob(utf8(pattern), rules).matches(utf8(file));
}

struct Case {
    const char* pattern;
    const char* file;
    bool matches;
};

void check(const std::vector<Case>& cases, GlobRules rules = {}) {
    for (const Case& c : cases) {
        INFO("pattern " << c.pattern << "  file " << c.file);
        CHECK(matches(c.pattern, c.file, rules) == c.matches);
    }
}

}  // namespace

TEST_CASE("glob: a name without magic matches itself alone") {
    check({{"x.dll", "x.dll", true},
           {"x.dll", "x.dlls", false},
           {"x.dll", "ax.dll", false},
           {"x.dll", "X.dll", false},
           {"a/x.dll", "a/x.dll", true},
           {"a/x.dll", "x.dll", false},
           {"./a//x.dll", "a/x.dll", true},
           {"", "x.dll", false}});
}

TEST_CASE("glob: * is any characters and ? is one, never a separator") {
    check({{"*", "x.dll", true},
           {"*.dll", "x.dll", true},
           {"*.dll", ".dll", true},
           {"*.dll", "a/x.dll", false},
           {"*", "a/x.dll", false},
           {"*/*", "a/x.dll", true},
           {"a*b*c", "abc", true},
           {"a*b*c", "a1b2b3c", true},
           {"a*b*c", "a1b2b3", false},
           {"*a", "aaaa", true},
           {"**a", "xa", true},
           {"x?.dll", "x1.dll", true},
           {"x?.dll", "x.dll", false},
           {"x?.dll", "x12.dll", false},
           {"a?b", "a/b", false},
           {"a[/]b", "a/b", false},
           {"*?", "", false},
           {"a*", "a", true}});
}

TEST_CASE("glob: [...] is one of its characters") {
    check({{"[abc].dll", "b.dll", true},
           {"[abc].dll", "d.dll", false},
           {"[a-c]", "b", true},
           {"[a-c]", "d", false},
           {"[!a-c]", "d", true},
           {"[!a-c]", "b", false},
           {"[^a-c]", "d", true},
           {"[^a-c]", "a", false},
           {"[]]", "]", true},
           {"[]a]", "a", true},
           {"[!]]", "]", false},
           {"[!]]", "x", true},
           {"[a-]", "-", true},
           {"[a-]", "b", false},
           {"[-a]", "-", true},
           {"[c-a]", "b", false},
           {"[a-ce-g]", "d", false},
           {"[a-ce-g]", "f", true},
           {"[*]", "*", true},
           {"[*]", "x", false},
           {"[?]", "?", true},
           {"[[]1]", "[1]", true},
           {"py[[]3.10].dll", "py[3.10].dll", true}});
}

TEST_CASE("glob: a [ without its ] stands for itself") {
    check({{"a[b", "a[b", true},
           {"a[b", "ab", false},
           {"[", "[", true},
           {"[]", "[]", true},
           {"[!]", "[!]", true},
           {"[a/b]", "[a/b]", true},
           {"[[a]", "[", true},
           {"[*", "[xyz", true}});
}

TEST_CASE("glob: ** is zero or more whole folders") {
    check({{"**/x.dll", "x.dll", true},
           {"**/x.dll", "a/x.dll", true},
           {"**/x.dll", "a/b/c/x.dll", true},
           {"**/x.dll", "a/x.dll/y", false},
           {"a/**/x.dll", "a/x.dll", true},
           {"a/**/x.dll", "a/b/c/x.dll", true},
           {"a/**/x.dll", "b/x.dll", false},
           {"**/lib/*.dll", "a/lib/x.dll", true},
           {"**/lib/*.dll", "a/lib/b/x.dll", false},
           {"**/lib/**/*.dll", "lib/a/lib/b/x.dll", true},
           {"**/**/x", "x", true},
           {"**/a/**/b/**/c", "a/a/b/c/b/c", true},
           {"**/a/**/b/**/c", "b/a/c", false},
           {"a**/x", "a/b/x", false},
           {"a**/x", "abc/x", true},
           {"**", "x.dll", false}});
}

TEST_CASE("glob: a folder that the pattern leads to is told from one on the way") {
    const Glob glob(U"env*/**");
    CHECK_FALSE(glob.matches_folder(glob.start()));
    const Glob::States inside = glob.enter(glob.start(), U"env1");
    CHECK(glob.matches_folder(inside));
    CHECK(glob.matches_folder(glob.enter(inside, U"lib")));
    CHECK(glob.enter(glob.start(), U"other").empty());
    CHECK_FALSE(glob.matches_file(inside, U"x.dll"));  // ** is for folders
    const Glob empty(U"");
    CHECK(empty.matches_folder(empty.start()));
    CHECK(empty.enter(empty.start(), U"a").empty());
}

TEST_CASE("glob: on Windows both slashes separate and case does not matter") {
    check({{"a\\*.dll", "a/x.dll", true},
           {"a/*.dll", "a\\x.dll", true},
           {"*", "a\\b", false},
           {"LIB\\*.DLL", "lib\\Torch.dll", true},
           {"[a-z].dll", "Q.dll", true},
           {"[A-Z].dll", "q.dll", true},
           {"[!a-z].dll", "Q.dll", false},
           {"МОДЕЛЬ?.dll", "модель1.dll", true}},
          WINDOWS);
    check({{"a\\*", "a\\x", true}, {"a\\*", "a/x", false}, {"*", "a\\b", true}});
}

TEST_CASE("glob: a Chinese character is one character") {
    check({{"?.dll", "模.dll", true},
           {"??.dll", "模.dll", false},
           {"??.dll", "模型.dll", true},
           {"[模型].dll", "型.dll", true},
           {"[一-龥].dll", "模.dll", true},
           {"?", "𝔸", true}});
}

TEST_CASE("glob: a byte that is no UTF-8 is one character, and matches itself alone") {
    check({{"x?.dll", "x\xFF.dll", true},
           {"x??.dll", "x\xFF.dll", false},
           {"x\xFF*", "x\xFF.dll", true},
           {"x\xFF*", "x\xFE.dll", false},
           {"??", "\xC3\xC3", true},
           {"?", "\xED\xA0\x80", false},
           {"???", "\xED\xA0\x80", true}});
}

TEST_CASE("glob: code points keep different texts apart") {
    CHECK(utf8("a模𝔸") == U"a模𝔸");
    CHECK(utf8("\x80\xFF") == std::u32string{0xDC80, 0xDCFF});
    CHECK(utf8("\xC0\x80") == std::u32string{0xDCC0, 0xDC80});  // an overlong NUL
    CHECK(utf8("\xE6\xA8") == std::u32string{0xDCE6, 0xDCA8});  // cut off
    CHECK(code_points(std::u16string_view(u"a模𝔸")) == U"a模𝔸");
    const char16_t stray[] = {0xD835, u'a', 0xDC00, 0xD835};
    CHECK(code_points(std::u16string_view(stray, 4)) == std::u32string{0xD835, U'a', 0xDC00, 0xD835});
    CHECK(code_points(std::wstring_view(L"模𝔸")) == U"模𝔸");
}

TEST_CASE("glob: has_magic") {
    for (const char32_t* name : {U"*", U"a?b", U"[a]", U"**", U"x[!a]"}) {
        CHECK(has_magic(name));
    }
    for (const char32_t* name : {U"", U"x.dll", U"a[b", U"[]", U"a]b", U"模型"}) {
        CHECK_FALSE(has_magic(name));
    }
}

TEST_CASE("glob: hostile patterns take no exponential time") {
    std::u32string stars;
    std::u32string folders;
    std::u32string path;
    for (int i = 0; i < 500; ++i) {
        stars += U"a*";
        folders += U"**/a*/";
        path += U"a/";
    }
    CHECK_FALSE(Glob(stars + U"b").matches(std::u32string(5000, U'a')));
    CHECK_FALSE(Glob(folders + U"b").matches(path + U"c"));
    CHECK(Glob(std::u32string(100'000, U'[')).matches(std::u32string(100'000, U'[')));
}

#if __has_include(<fnmatch.h>)
TEST_CASE("glob: one name is matched as fnmatch() does it") {
    std::mt19937 random(20240607);
    const auto text = [&](std::string_view alphabet, unsigned longest) {
        std::string result(random() % (longest + 1), ' ');
        for (char& c : result) {
            c = alphabet[random() % alphabet.size()];
        }
        return result;
    };
    for (int i = 0; i < 200'000; ++i) {
        const std::string pattern = text("abc*?[]!-", 8);
        const std::string name = text("abc[]!-", 5);
        // Our patterns leave out "." and empty names, and "**" is for folders.
        // glibc takes an unclosed [ for itself, but not where a "-" ends the pattern.
        if (pattern.empty() || name.empty() || pattern == "**" || pattern.back() == '-') {
            continue;
        }
        const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
        if (matches(pattern, name) != expected) {
            INFO("pattern " << pattern << "  name " << name << "  fnmatch says " << expected);
            CHECK(matches(pattern, name) == expected);
        }
    }
}
#endif

}  // namespace fixnvpe::test
