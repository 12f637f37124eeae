// Each enum's words: none forgotten, none twice, each read back.

#include "fixnvpe/base/names.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/cli.hpp"
#include "support/catch.hpp"
#include "support/values.hpp"

namespace fixnvpe::test {
namespace {

template <typename Enum>
void check_table(const char* name) {
    INFO(name);
    const std::vector<Enum> values = values_of<Enum>();
    CHECK(values.size() == names_of<Enum>.size());
    for (const Enum value : values) {
        INFO("value " << static_cast<int>(value));
        const auto entries = std::count_if(names_of<Enum>.begin(), names_of<Enum>.end(),
                                           [&](const auto& entry) { return entry.first == value; });
        CHECK(entries == 1);
        CHECK(from_string<Enum>(to_string(value)) == value);
    }
    std::set<std::string_view> words;
    for (const auto& [value, word] : names_of<Enum>) {
        INFO(word);
        CHECK(words.insert(word).second);
    }
    CHECK(to_string(static_cast<Enum>(-1)).empty());
    CHECK(from_string<Enum>("no such word") == std::nullopt);
}

/// As in JSON and on the command line: "would-patch".
template <typename Enum>
void check_spelling() {
    for (const auto& [value, word] : names_of<Enum>) {
        INFO(word);
        CHECK(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    }
}

enum class Fruit { apple, pear };

}  // namespace
}  // namespace fixnvpe::test

template <>
inline constexpr auto fixnvpe::names_of<fixnvpe::test::Fruit> = fixnvpe::names<fixnvpe::test::Fruit>({
    {fixnvpe::test::Fruit::apple, "an apple"},
});

namespace fixnvpe::test {

TEST_CASE("names: a table is read in both directions, and says of what it does not hold that it does not") {
    CHECK(to_string(Fruit::apple) == "an apple");
    CHECK(to_string(Fruit::pear).empty());
    CHECK(from_string<Fruit>("an apple") == Fruit::apple);
    CHECK(from_string<Fruit>("an appl") == std::nullopt);
    CHECK(from_string<Fruit>("an apples") == std::nullopt);
    CHECK(from_string<Fruit>("") == std::nullopt);
    // What the tests below rest on.
    CHECK(values_of<Fruit>() == std::vector<Fruit>{Fruit::apple, Fruit::pear});
}

TEST_CASE("names: every enum's table holds every value exactly once, and each word is the word of one value") {
    check_table<Action>("Action");
    check_table<AslrPolicy>("AslrPolicy");
    check_table<BackupMode>("BackupMode");
    check_table<BackupState>("BackupState");
    check_table<Color>("Color");
    check_table<Command>("Command");
    check_table<ErrorCode>("ErrorCode");
    check_table<Field>("Field");
    check_table<NoteCode>("NoteCode");
    check_table<SidecarKind>("SidecarKind");
    check_table<SkipReason>("SkipReason");
    check_table<Status>("Status");
    check_table<Warning>("Warning");
    check_table<Why>("Why");
}

TEST_CASE("names: words for programs are small letters and hyphens") {
    check_spelling<Action>();
    check_spelling<AslrPolicy>();
    check_spelling<BackupMode>();
    check_spelling<BackupState>();
    check_spelling<Color>();
    check_spelling<Command>();
    check_spelling<ErrorCode>();
    check_spelling<NoteCode>();
    check_spelling<SidecarKind>();
    check_spelling<SkipReason>();
    check_spelling<Status>();
    check_spelling<Warning>();
    check_spelling<Why>();
}

}  // namespace fixnvpe::test
