// What is decided over a DLL and its sidecars: every combination of command, backup mode, flags, DLL and sidecars has
// its row in a table, and the promises are held against all of them.

#include "fixnvpe/patch/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace fixnvpe::test {
namespace {

using Sidecars = std::vector<SidecarFacts>;
using State = SidecarState;
using Kind = SidecarKind;
using Presence = DllFacts::Presence;

constexpr State ABSENT = State::alone;  // no such sidecar, in the tables below

/// One combination.
struct Case {
    Policy policy;
    DllFacts dll;
    State full = ABSENT;
    State undo = ABSENT;
    State legacy = ABSENT;

    [[nodiscard]] Sidecars sidecars() const {
        Sidecars result;
        for (const auto& [kind, state] :
             {std::pair{Kind::full, full}, std::pair{Kind::undo, undo}, std::pair{Kind::legacy, legacy}}) {
            if (state != ABSENT) {
                result.push_back({kind, state, state != State::unusable || kind == Kind::undo});
            }
        }
        return result;
    }
    [[nodiscard]] Decision decision() const { return decide(policy, dll, sidecars()); }
};

std::string word(State state) {
    switch (state) {
        case State::original: return "original";
        case State::half_done: return "half-done";
        case State::copy: return "copy";
        case State::patched_itself: return "patched-itself";
        case State::stale: return "stale";
        case State::unusable: return "unusable";
        case State::alone: return "-";
        case State::free: return "free";
        case State::locked: return "locked";
    }
    return "?";
}

std::string word(Act act) {
    switch (act) {
        case Act::nothing: return "nothing";
        case Act::refuse: return "refuse";
        case Act::patch: return "patch";
        case Act::restore: return "restore";
        case Act::put_back: return "put-back";
    }
    return "?";
}

std::string word(Way way) {
    switch (way) {
        case Way::none: return "";
        case Way::keep_as_backup: return " keep-as-backup";
        case Way::replace: return " replace";
        case Way::edit: return " edit";
        case Way::edit_with_undo: return " edit-with-undo";
        case Way::rename: return " rename";
        case Way::copy_back: return " copy-back";
        case Way::cut_back: return " cut-back";
    }
    return "?";
}

std::string word(Fate fate) {
    switch (fate) {
        case Fate::keep: return "keep";
        case Fate::use: return "use";
        case Fate::use_up: return "use-up";
        case Fate::remove: return "remove";
        case Fate::move_aside: return "move-aside";
    }
    return "?";
}

/// "patch edit undo-first; full move-aside" or "refuse bad-backup".
std::string described(const Decision& decision, const Sidecars& sidecars) {
    std::string text = word(decision.act) + word(decision.way) + (decision.undo_first ? " undo-first" : "");
    if (decision.act == Act::refuse) {
        text += fmt::format(" {}", to_string(decision.reason.why));
    }
    for (std::size_t i = 0; i < sidecars.size(); ++i) {
        if (decision.sidecars[i].fate != Fate::keep) {
            text += fmt::format("; {} {}", to_string(sidecars[i].kind), word(decision.sidecars[i].fate));
        }
    }
    return text;
}

std::string described(const Case& c) {
    return fmt::format("{} --backup {}{}, full {}, undo {}, legacy {}", to_string(c.policy.command),
                       to_string(c.policy.backup), c.dll.plan_is_empty ? ", nothing planned" : "", word(c.full),
                       word(c.undo), word(c.legacy));
}

const std::vector<State> COPY_STATES{ABSENT,       State::original, State::copy, State::patched_itself,
                                     State::stale, State::unusable};
const std::vector<State> UNDO_STATES{ABSENT,      State::original, State::half_done,
                                     State::copy, State::stale,    State::unusable};

/// A DLL with a writable .nv_fatb, or one that is patched.
DllFacts cuda_dll(bool patched) {
    DllFacts dll;
    dll.has_fatbin = true;
    dll.dynamic_base = !patched;
    dll.plan_is_empty = patched;
    return dll;
}

/// Calls `check` for every combination of sidecars, backup mode and plan under this command.
std::size_t for_all(Command command, const std::function<void(const Case&)>& check) {
    std::size_t count = 0;
    for (const auto& [backup, name] : names_of<BackupMode>) {
        for (const bool patched : {false, true}) {
            for (const State full : COPY_STATES) {
                for (const State undo : UNDO_STATES) {
                    for (const State legacy : COPY_STATES) {
                        Case c;
                        c.policy.command = command;
                        c.policy.backup = backup;
                        c.dll = cuda_dll(patched);
                        c.full = full;
                        c.undo = undo;
                        c.legacy = legacy;
                        check(c);
                        ++count;
                    }
                }
            }
        }
    }
    return count;
}

bool holds_original(State state) {
    return state == State::original || state == State::half_done;
}

/// Where a row says nothing, anything goes. The first row that fits a combination decides.
struct Row {
    std::string backup;  ///< "full", "undo" or "none"; empty: any
    std::string full;    ///< the state's word, several parted by "|"; empty: any
    std::string undo;
    std::string legacy;
    std::string expected;
};

bool fits(const std::string& pattern, const std::string& value) {
    return pattern.empty() || ("|" + pattern + "|").find("|" + value + "|") != std::string::npos;
}

void check_rows(const Case& c, const std::vector<Row>& rows) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) {
        return fits(r.backup, std::string(to_string(c.policy.backup))) && fits(r.full, word(c.full)) &&
               fits(r.undo, word(c.undo)) && fits(r.legacy, word(c.legacy));
    });
    INFO(described(c));
    REQUIRE(row != rows.end());
    CHECK(described(c.decision(), c.sidecars()) == row->expected);
}

}  // namespace

TEST_CASE("decide: patch, for every backup mode and every state of the sidecars") {
    const std::vector<Row> rows{
        // A half-done edit is taken back first; another original stays.
        {"full", "original", "half-done", "", "patch replace undo-first; undo remove"},
        {"undo|none", "original", "half-done", "", "patch edit undo-first; undo remove"},
        {"full", "", "half-done", "original", "patch replace undo-first; undo remove"},
        {"undo|none", "", "half-done", "original", "patch edit undo-first; undo remove"},
        // A backup shows that it was patched before: the true original stays.
        {"full", "original", "", "", "patch replace"},
        {"undo|none", "original", "", "", "patch edit"},
        // The undo file explains the file's state: back to the original first.
        {"", "unusable", "original|half-done", "", "refuse bad-backup"},
        {"full", "stale|patched-itself", "original|half-done", "",
         "patch keep-as-backup undo-first; full move-aside; undo remove"},
        {"full", "copy", "original|half-done", "",
         "patch keep-as-backup undo-first; full move-aside; undo remove"},  // no copy any more by then
        {"full", "-", "original|half-done", "", "patch keep-as-backup undo-first; undo remove"},
        {"undo|none", "stale|patched-itself|copy", "original|half-done", "",
         "patch edit-with-undo undo-first; full move-aside"},
        {"undo|none", "", "original|half-done", "", "patch edit-with-undo undo-first"},
        {"full", "", "", "original", "patch replace"},
        {"undo|none", "", "", "original", "patch edit"},
        // It is an original. What can't be used must not be written over.
        {"full|undo", "unusable", "", "", "refuse bad-backup"},
        {"full|undo", "", "unusable", "", "refuse bad-backup"},
        // What is none of its originals makes room; a copy may go, for the file becomes its own backup.
        {"full", "-", "-", "", "patch keep-as-backup"},
        {"full", "-", "copy", "", "patch keep-as-backup; undo remove"},
        {"full", "-", "stale", "", "patch keep-as-backup; undo move-aside"},
        {"full", "copy", "-", "", "patch keep-as-backup; full remove"},
        {"full", "copy", "copy", "", "patch keep-as-backup; full remove; undo remove"},
        {"full", "copy", "stale", "", "patch keep-as-backup; full remove; undo move-aside"},
        {"full", "stale|patched-itself", "-", "", "patch keep-as-backup; full move-aside"},
        {"full", "stale|patched-itself", "copy", "", "patch keep-as-backup; full move-aside; undo remove"},
        {"full", "stale|patched-itself", "stale", "", "patch keep-as-backup; full move-aside; undo move-aside"},
        {"undo", "stale|patched-itself", "stale", "", "patch edit-with-undo; full move-aside; undo move-aside"},
        {"undo", "stale|patched-itself", "", "", "patch edit-with-undo; full move-aside"},
        {"undo", "", "stale", "", "patch edit-with-undo; undo move-aside"},
        {"undo", "", "", "", "patch edit-with-undo"},
        {"none", "stale|patched-itself", "stale", "", "patch edit; full move-aside; undo move-aside"},
        {"none", "stale|patched-itself", "copy", "", "patch edit; full move-aside; undo remove"},
        {"none", "stale|patched-itself", "", "", "patch edit; full move-aside"},
        {"none", "", "stale", "", "patch edit; undo move-aside"},
        {"none", "", "copy", "", "patch edit; undo remove"},
        {"none", "", "", "", "patch edit"},
    };
    const std::size_t count = for_all(Command::patch, [&](const Case& c) {
        if (!c.dll.plan_is_empty || c.undo == State::half_done) {
            check_rows(c, rows);
        } else {
            INFO(described(c));
            CHECK(described(c.decision(), c.sidecars()) == "nothing");
        }
    });
    CHECK(count == 1296);
}

TEST_CASE("decide: restore, for every state of the sidecars") {
    const std::vector<Row> with_original{
        {"", "original", "-|stale|unusable", "", "restore rename; full use-up"},
        {"", "original", "", "", "restore rename; full use-up; undo remove"},
        {"", "", "original|half-done", "", "restore edit; undo use-up"},
        {"", "", "copy", "original", "restore rename; undo remove; legacy use-up"},
        {"", "", "", "original", "restore rename; legacy use-up"},
    };
    const std::vector<Row> of_a_patched_file{
        {"", "stale|unusable", "", "", "refuse bad-backup"},
        {"", "", "stale|unusable", "", "refuse bad-backup"},
        {"", "", "", "stale|unusable", "refuse bad-backup"},
        {"", "", "", "", "refuse no-backup"},
    };
    const std::vector<Row> of_an_original{
        {"", "copy", "-|stale|unusable", "", "restore rename; full use-up"},
        {"", "copy", "copy", "", "restore rename; full use-up; undo remove"},
        {"", "", "copy", "", "restore edit; undo use-up"},
        {"", "", "", "", "nothing"},  // NAME_bak stays where it is
    };
    for_all(Command::restore, [&](const Case& c) {
        const bool has_original = holds_original(c.full) || holds_original(c.undo) || holds_original(c.legacy);
        check_rows(c, has_original ? with_original : c.dll.plan_is_empty ? of_a_patched_file : of_an_original);
    });
}

TEST_CASE("decide: of several originals the one with the most bits is taken") {
    Case c;
    c.policy.command = Command::restore;
    c.dll = cuda_dll(true);
    Sidecars sidecars{{Kind::full, State::original, true}, {Kind::legacy, State::original, true}};
    sidecars[0].bits = 1;
    sidecars[1].bits = 2;
    CHECK(described(decide(c.policy, c.dll, sidecars), sidecars) == "restore rename; legacy use-up");
    sidecars[0].bits = 2;
    CHECK(described(decide(c.policy, c.dll, sidecars), sidecars) == "restore rename; full use-up");
}

TEST_CASE("decide: beside a half-done edit, an original of fewer bits is not all there was") {
    Case c;
    c.policy.command = Command::patch;
    c.policy.backup = BackupMode::undo;
    c.dll = cuda_dll(false);
    Sidecars sidecars{{Kind::undo, State::half_done, true}, {Kind::legacy, State::original, true}};
    sidecars[0].bits = 2;
    sidecars[1].bits = 1;
    CHECK(described(decide(c.policy, c.dll, sidecars), sidecars) == "patch edit-with-undo undo-first");
    sidecars[1].bits = 2;
    CHECK(described(decide(c.policy, c.dll, sidecars), sidecars) == "patch edit undo-first; undo remove");
}

TEST_CASE("decide: an undo file of a DLL that was signed since stays as it is, and leads back by a copy cut short") {
    Case c;
    const Sidecars sidecars{{Kind::undo, State::original, true, true, true, true, false, true}};
    for (const auto& [command, backup, expected] :
         {std::tuple{Command::patch, BackupMode::full, "patch replace"},
          std::tuple{Command::patch, BackupMode::undo, "patch edit"},
          std::tuple{Command::patch, BackupMode::none, "patch edit"},
          std::tuple{Command::restore, BackupMode::full, "restore cut-back; undo use-up"}}) {
        c.policy.command = command;
        c.policy.backup = backup;
        CHECK(described(decide(c.policy, cuda_dll(false), sidecars), sidecars) == expected);
    }
}

TEST_CASE("decide: what headers do not prove is compared before anything rests on it") {
    struct Row {
        Command command;
        Kind kind;
        State state;
        bool proven;
        bool compared_first;
    };
    const Row rows[] = {
        {Command::restore, Kind::full, State::original, false, true},
        {Command::restore, Kind::full, State::original, true, false},
        {Command::restore, Kind::legacy, State::original, false, true},
        {Command::restore, Kind::numbered, State::original, true, true},
        {Command::restore, Kind::undo, State::original, true, true},  // the DLL was signed since
        {Command::patch, Kind::undo, State::original, true, true},
        {Command::clean, Kind::undo, State::original, true, false},
        {Command::restore, Kind::undo, State::copy, true, false},
        {Command::patch, Kind::full, State::original, false, true},
        {Command::patch, Kind::full, State::original, true, false},
        {Command::patch, Kind::full, State::copy, true, true},
        {Command::patch, Kind::full, State::stale, false, false},
        {Command::clean, Kind::full, State::copy, true, true},
        {Command::clean, Kind::numbered, State::copy, true, true},
        {Command::clean, Kind::full, State::original, false, false},
        {Command::verify, Kind::full, State::original, false, false},
        {Command::scan, Kind::full, State::copy, false, false},
    };
    for (const Row& row : rows) {
        INFO(to_string(row.command) << " " << to_string(row.kind) << " " << word(row.state));
        Policy policy;
        policy.command = row.command;
        Sidecars sidecars{{row.kind, row.state, true}};
        sidecars[0].proven = row.proven;
        sidecars[0].compared = false;
        const Decision decision = decide(policy, cuda_dll(row.command == Command::restore), sidecars);
        CHECK(to_be_compared(policy, decision, sidecars).size() == (row.compared_first ? 1U : 0U));
        sidecars[0].compared = true;
        CHECK(to_be_compared(policy, decision, sidecars).empty());
    }
}

TEST_CASE("decide: restore --keep-backup copies, removes nothing, and leaves alone what is restored") {
    for_all(Command::restore, [&](Case c) {
        c.policy.keep_backup = true;
        INFO(described(c));
        const Decision decision = c.decision();
        for (const SidecarDecision& sidecar : decision.sidecars) {
            CHECK((sidecar.fate == Fate::keep || sidecar.fate == Fate::use));
        }
        CHECK(decision.way != Way::rename);
        const bool has_original = holds_original(c.full) || holds_original(c.undo) || holds_original(c.legacy);
        CHECK((decision.act == Act::restore) == has_original);
    });
}

TEST_CASE("decide: verify and scan do nothing, and verify fails where a patch is needed") {
    for (const Command command : {Command::verify, Command::scan}) {
        for_all(command, [&](const Case& c) {
            INFO(described(c));
            const Decision decision = c.decision();
            const bool half_done = command == Command::verify && c.undo == State::half_done;
            CHECK(described(decision, c.sidecars()) == (half_done ? "refuse half-done" : "nothing"));
            CHECK(decision.needs_patch == (!c.dll.plan_is_empty || c.undo == State::half_done));
            CHECK(decision.fails == (command == Command::verify && decision.needs_patch));
            CHECK(decision.status == (decision.needs_patch ? Status::unpatched : Status::patched));
        });
    }
}

TEST_CASE("decide: with --require-backup a patched file needs one that is valid") {
    for_all(Command::verify, [&](Case c) {
        c.policy.require_backup = true;
        INFO(described(c));
        const Decision decision = c.decision();
        const bool has_original = holds_original(c.full) || holds_original(c.undo) || holds_original(c.legacy);
        const bool lacks = decision.status == Status::patched && !has_original;
        CHECK(decision.fails == (decision.needs_patch || lacks));
        CHECK(decision.reason == (c.undo == State::half_done ? Reason{Why::half_done}
                                  : lacks                    ? Reason{Why::no_valid_backup}
                                                             : Reason{}));
    });
}

TEST_CASE(
    "decide: clean keeps what restore could use, unless it is asked for, and what a half-done edit needs always") {
    for_all(Command::clean, [&](Case c) {
        for (const bool usable_too : {false, true}) {
            c.policy.clean_usable = usable_too;
            INFO(described(c) << (usable_too ? " --all" : ""));
            const Decision decision = c.decision();
            const Sidecars sidecars = c.sidecars();
            CHECK(decision.act == Act::nothing);
            for (std::size_t i = 0; i < sidecars.size(); ++i) {
                const auto& [fate, reason] = decision.sidecars[i];
                INFO(to_string(sidecars[i].kind) << " " << word(sidecars[i].state));
                const bool is_undo = sidecars[i].kind == Kind::undo;
                switch (sidecars[i].state) {
                    case State::original:
                        CHECK(fate == (usable_too ? Fate::remove : Fate::keep));
                        CHECK(reason.why == Why::usable);
                        break;
                    case State::copy:
                        CHECK(fate == Fate::remove);
                        CHECK(reason.why == (is_undo ? Why::nothing_to_undo : Why::equal));
                        break;
                    case State::half_done:
                        CHECK(fate == Fate::keep);
                        CHECK(reason.why == Why::half_done);
                        break;
                    case State::patched_itself:
                        CHECK(fate == (usable_too ? Fate::remove : Fate::keep));
                        CHECK(reason.why == Why::patched_itself);
                        break;
                    case State::stale:
                        CHECK(fate == (usable_too ? Fate::remove : Fate::keep));
                        CHECK(reason.why == Why::maybe_other_build);
                        break;
                    default:
                        CHECK(fate == (usable_too && is_undo ? Fate::remove : Fate::keep));
                        CHECK(reason.why == (is_undo ? Why::bad_undo : Why::not_ours));
                        break;
                }
            }
        }
    });
}

TEST_CASE("decide: clean beside a DLL that is missing or damaged") {
    struct Row {
        Presence presence;
        Sidecars sidecars;
        bool usable_too;
        std::vector<SidecarDecision> expected;
    };
    const SidecarFacts full{Kind::full, State::alone, true};
    const SidecarFacts foreign{Kind::full, State::unusable, false};
    const SidecarFacts undo{Kind::undo, State::alone, true};
    const SidecarFacts temporary{Kind::temporary, State::free, true};
    const SidecarFacts locked{Kind::temporary, State::locked, true};
    const Row rows[] = {
        {Presence::missing, {full}, false, {{Fate::keep, {Why::dll_gone}}}},
        {Presence::missing, {full}, true, {{Fate::remove, {Why::dll_gone}}}},
        {Presence::missing, {foreign}, true, {{Fate::keep, {Why::not_ours}}}},
        {Presence::missing, {undo}, false, {{Fate::keep, {Why::dll_gone}}}},
        {Presence::missing, {undo}, true, {{Fate::remove, {Why::dll_gone}}}},
        {Presence::missing, {temporary}, false, {{Fate::remove, {Why::left_by_crash}}}},
        {Presence::missing,
         {full, temporary},
         true,
         {{Fate::keep, {Why::dll_left_by_crash}}, {Fate::keep, {Why::dll_left_by_crash}}}},
        {Presence::damaged, {full}, false, {{Fate::keep, {Why::dll_damaged}}}},
        {Presence::damaged, {full}, true, {{Fate::remove, {Why::dll_damaged}}}},
        {Presence::damaged, {undo}, false, {{Fate::keep, {Why::dll_damaged}}}},
        {Presence::damaged, {undo}, true, {{Fate::remove, {Why::dll_damaged}}}},
        {Presence::damaged,
         {full, temporary},
         false,
         {{Fate::keep, {Why::dll_damaged}}, {Fate::remove, {Why::left_by_crash}}}},
        {Presence::there, {{Kind::numbered, State::original, true}}, false, {{Fate::keep, {Why::usable}}}},
        {Presence::there, {{Kind::numbered, State::copy, true}}, false, {{Fate::remove, {Why::equal}}}},
        {Presence::there, {{Kind::numbered, State::stale, true}}, false, {{Fate::keep, {Why::maybe_other_build}}}},
        {Presence::there, {{Kind::numbered, State::stale, true}}, true, {{Fate::remove, {Why::maybe_other_build}}}},
        {Presence::there, {{Kind::numbered, State::unusable, false}}, true, {{Fate::keep, {Why::not_ours}}}},
        {Presence::missing,
         {foreign, temporary},
         true,
         {{Fate::keep, {Why::not_ours}}, {Fate::keep, {Why::dll_left_by_crash}}}},
        {Presence::missing,
         {undo, temporary},
         false,
         {{Fate::keep, {Why::dll_gone}}, {Fate::remove, {Why::left_by_crash}}}},
        {Presence::there, {temporary}, false, {{Fate::remove, {Why::left_by_crash}}}},
        {Presence::there, {locked}, true, {{Fate::keep, {Why::in_use}}}},
    };
    for (const Row& row : rows) {
        Policy policy;
        policy.command = Command::clean;
        policy.clean_usable = row.usable_too;
        DllFacts dll = cuda_dll(false);
        dll.presence = row.presence;
        INFO("row " << &row - rows);
        CHECK(decide(policy, dll, row.sidecars).sidecars == row.expected);
    }
}

TEST_CASE("decide: a stale backup goes by itself only if it is surely another build's, and the DLL is whole") {
    Policy policy;
    policy.command = Command::clean;
    SidecarFacts stale{Kind::full, State::stale, true};
    DllFacts dll = cuda_dll(false);
    const auto fate = [&] { return decide(policy, dll, {stale}).sidecars[0]; };
    CHECK(fate() == SidecarDecision{Fate::keep, {Why::maybe_other_build}});
    stale.shown_to_be_other = true;
    CHECK(fate() == SidecarDecision{Fate::remove, {Why::other_build}});
    dll.refusal = {Why::raw_data_past_end, 2, 1};
    CHECK(fate() == SidecarDecision{Fate::keep, {Why::dll_damaged}});
    dll.refusal = {Why::force_integrity};
    CHECK(fate() == SidecarDecision{Fate::remove, {Why::other_build}});
}

TEST_CASE("decide: a DLL that is missing is put back by restore, and by patch where it was a crash") {
    struct Row {
        Command command;
        bool crashed;
        Act expected;
    };
    const Row rows[] = {
        {Command::patch, false, Act::refuse},     {Command::patch, true, Act::put_back},
        {Command::restore, false, Act::put_back}, {Command::restore, true, Act::put_back},
        {Command::verify, false, Act::refuse},    {Command::verify, true, Act::refuse},
        {Command::scan, false, Act::refuse},      {Command::scan, true, Act::refuse},
    };
    DllFacts found;
    found.presence = Presence::missing;
    DllFacts named = found;
    named.named = true;
    DllFacts listed = found;
    listed.installed.listed = true;
    for (const Row& row : rows) {
        INFO(to_string(row.command) << (row.crashed ? ", after a crash" : ""));
        Policy policy;
        policy.command = row.command;
        Sidecars sidecars{{Kind::full, State::alone, true}};
        if (row.crashed) {
            sidecars.push_back({Kind::temporary, State::free, true});
        }
        for (const DllFacts& dll : {named, listed}) {
            const Decision decision = decide(policy, dll, sidecars);
            CHECK(decision.status == Status::error);
            CHECK(decision.act == row.expected);
            CHECK(decision.reason.why == (row.expected == Act::refuse ? Why::missing : Why::nothing));
        }
        // Nobody asks for it: it was uninstalled, and must stay so.
        const Decision decision = decide(policy, found, sidecars);
        CHECK(decision.act == (row.crashed ? row.expected : Act::nothing));
        CHECK_FALSE(decision.fails);
        if (!row.crashed) {
            CHECK(decision.reason.why == Why::dll_gone);
        }

        sidecars[0].ours = false;  // somebody's notes.dll.bak
        CHECK(decide(policy, named, sidecars).act == Act::refuse);
        CHECK(decide(policy, named, sidecars).reason.why == Why::missing_for_good);
        CHECK(decide(policy, found, sidecars).act == (row.crashed ? Act::refuse : Act::nothing));
        CHECK(decide(policy, found, sidecars).reason.why == (row.crashed ? Why::missing_for_good : Why::not_ours));
    }
}

TEST_CASE("decide: the backup of a DLL that is gone goes by itself only if all packages beside it came later") {
    struct Row {
        Installed installed;
        bool usable_too;
        SidecarDecision expected;
    };
    constexpr std::int64_t made = 100;
    const Row rows[] = {
        {{false, made + 1}, false, {Fate::remove, {Why::dll_dropped}}},
        {{false, made + 1}, true, {Fate::remove, {Why::dll_dropped}}},
        {{false, made}, false, {Fate::keep, {Why::dll_gone}}},  // at the same tick: who knows
        {{false, made - 1}, false, {Fate::keep, {Why::dll_gone}}},
        {{false, made - 1}, true, {Fate::remove, {Why::dll_gone}}},
        {{false, {}}, false, {Fate::keep, {Why::dll_gone}}},  // its package is gone, or was never known
        {{false, {}}, true, {Fate::remove, {Why::dll_gone}}},
        {{true, made + 1}, false, {Fate::keep, {Why::dll_gone}}},
        {{true, made + 1}, true, {Fate::remove, {Why::dll_gone}}},
    };
    for (const Row& row : rows) {
        INFO("row " << &row - rows);
        DllFacts dll;
        dll.presence = Presence::missing;
        dll.installed = row.installed;
        Policy policy;
        policy.command = Command::clean;
        policy.clean_usable = row.usable_too;
        for (const Kind kind : {Kind::full, Kind::undo, Kind::legacy, Kind::numbered, Kind::numbered_undo}) {
            SidecarFacts sidecar{kind, State::alone, true};
            sidecar.since = made;
            CHECK(decide(policy, dll, {sidecar}).sidecars[0] == row.expected);
            sidecar.ours = false;
            CHECK(decide(policy, dll, {sidecar}).sidecars[0] == SidecarDecision{Fate::keep, {Why::not_ours}});
        }
        // While a crash's temporary is there, its backup is the DLL.
        const Sidecars crashed{{Kind::full, State::alone, true}, {Kind::temporary, State::free, true}};
        CHECK(decide(policy, dll, crashed).sidecars[0] == SidecarDecision{Fate::keep, {Why::dll_left_by_crash}});
        // verify says the same of it.
        policy.command = Command::verify;
        SidecarFacts sidecar{Kind::full, State::alone, true};
        sidecar.since = made;
        const Decision verified = decide(policy, dll, {sidecar});
        CHECK(verified.act == (row.installed.listed ? Act::refuse : Act::nothing));
        CHECK(verified.reason.why == (row.installed.listed ? Why::missing : row.expected.reason.why));
    }
}

TEST_CASE("decide: one that was missing, and is there by now but can't be read, is refused by all but clean") {
    DllFacts dll;
    dll.presence = Presence::damaged;
    for (const Command command : {Command::patch, Command::verify, Command::restore, Command::scan}) {
        for (const Sidecars& sidecars : {Sidecars{}, Sidecars{{Kind::full, State::alone, true}}}) {
            Policy policy;
            policy.command = command;
            const Decision decision = decide(policy, dll, sidecars);
            INFO(to_string(command));
            CHECK(decision.status == Status::error);
            CHECK(described(decision, sidecars) == "refuse dll-damaged");
        }
    }
}

TEST_CASE("decide: a broken DLL gives way to a whole backup where it is named or recognised, and to no other build") {
    struct Row {
        bool readable;      // its headers
        bool same_headers;  // as the backup's
        bool named;
        std::string restore;
        Why otherwise;
    };
    const Row rows[] = {
        {false, false, true, "restore rename; full use-up", Why::broken},
        {false, false, false, "refuse broken", Why::broken},
        {true, true, true, "restore rename; full use-up", Why::broken},
        {true, true, false, "restore rename; full use-up", Why::broken},
        {true, false, true, "refuse broken-upgrade", Why::broken_upgrade},
        {true, false, false, "refuse broken-upgrade", Why::broken_upgrade},
    };
    for (const Row& row : rows) {
        INFO("row " << &row - rows);
        DllFacts dll = cuda_dll(false);
        dll.presence = row.readable ? Presence::there : Presence::damaged;
        dll.refusal = row.readable ? Reason{Why::raw_data_past_end, 2, 1} : Reason{};
        dll.named = row.named;
        SidecarFacts full{Kind::full, row.readable ? State::stale : State::alone, true};
        full.whole = true;
        full.same_headers = row.same_headers;
        for (const Command command : {Command::verify, Command::scan, Command::patch, Command::restore}) {
            INFO(to_string(command));
            Policy policy;
            policy.command = command;
            const Decision decision = decide(policy, dll, {full});
            CHECK(decision.status == Status::error);
            CHECK_FALSE(decision.needs_patch);
            if (command == Command::restore) {
                CHECK(described(decision, {full}) == row.restore);
                CHECK(decision.gives_way == (decision.act == Act::restore));
            } else {
                CHECK(decision.act == Act::refuse);
                CHECK(decision.reason == Reason{row.otherwise});
            }
        }
        Policy keeps;
        keeps.command = Command::restore;
        keeps.keep_backup = true;
        if (decide(keeps, dll, {full}).act == Act::restore) {
            CHECK(described(decide(keeps, dll, {full}), {full}) == "restore copy-back; full use");
        }
        for (const auto& [whole, ours, kind] :
             {std::tuple{false, true, Kind::full}, std::tuple{true, false, Kind::full},
              std::tuple{true, true, Kind::numbered}}) {
            SidecarFacts none = full;
            none.whole = whole;
            none.ours = ours;
            none.kind = kind;
            CHECK(decide(keeps, dll, {none}).gives_way == false);
        }
    }
}

TEST_CASE("decide: of two whole backups of a broken DLL, the one that is recognised is taken") {
    DllFacts dll = cuda_dll(false);
    dll.refusal = {Why::raw_data_past_end, 2, 1};
    Sidecars sidecars{{Kind::full, State::stale, true}, {Kind::legacy, State::stale, true}};
    sidecars[0].whole = sidecars[1].whole = sidecars[1].same_headers = true;
    Policy policy;
    policy.command = Command::restore;
    CHECK(described(decide(policy, dll, sidecars), sidecars) == "restore rename; legacy use-up");
}

TEST_CASE("decide: refused, signed, linked: what keeps patch from a file that needs it, in this order") {
    struct Row {
        const char* what;
        bool refused, is_signed, skip_signed, is_link;
        std::string expected;
    };
    const Row rows[] = {
        {"an ordinary file", false, false, false, false, "patch keep-as-backup"},
        {"a signed file", false, true, false, false, "patch keep-as-backup"},
        {"a signed file, --skip-signed", false, true, true, false, "nothing"},
        {"an unsigned file, --skip-signed", false, false, true, false, "patch keep-as-backup"},
        {"a link", false, false, false, true, "patch keep-as-backup"},
        {"a link to a signed file, --skip-signed", false, true, true, true, "nothing"},
        {"a refused file", true, false, false, false, "refuse force-integrity"},
        {"a refused, signed link, --skip-signed", true, true, true, true, "refuse force-integrity"},
    };
    for (const Row& row : rows) {
        Case c;
        c.policy.command = Command::patch;
        c.policy.skip_signed = row.skip_signed;
        c.dll = cuda_dll(false);
        c.dll.is_signed = row.is_signed;
        c.dll.is_link = row.is_link;
        c.dll.refusal = row.refused ? Reason{Why::force_integrity} : Reason{};
        INFO(row.what);
        CHECK(described(c.decision(), {}) == row.expected);
        CHECK(c.decision().skipped_signed == (row.expected == "nothing"));

        c.policy.command = Command::verify;
        CHECK(c.decision().fails == !(row.is_signed && row.skip_signed));
        CHECK(c.decision().status == (row.refused ? Status::refused : Status::unpatched));

        c.dll.plan_is_empty = true;
        c.policy.command = Command::patch;
        CHECK(described(c.decision(), {}) == "nothing");
    }
}

TEST_CASE("decide: a half-done edit of a signed file is an error and is finished, --skip-signed or not") {
    Case c;
    c.policy.skip_signed = true;
    c.dll = cuda_dll(false);
    c.dll.is_signed = true;
    c.undo = State::half_done;
    for (const auto& [command, expected] : {std::pair{Command::patch, "patch keep-as-backup undo-first; undo remove"},
                                            std::pair{Command::verify, "refuse half-done"}}) {
        c.policy.command = command;
        CHECK(described(c.decision(), c.sidecars()) == expected);
        CHECK_FALSE(c.decision().skipped_signed);
    }
}

TEST_CASE("decide: a link is its own backup, whatever is asked for, and costs nothing") {
    for (const auto& [backup, full, expected] :
         {std::tuple{BackupMode::full, ABSENT, "patch keep-as-backup"},
          std::tuple{BackupMode::undo, ABSENT, "patch keep-as-backup"},
          std::tuple{BackupMode::none, ABSENT, "patch edit"},
          std::tuple{BackupMode::undo, State::original, "patch replace"},
          std::tuple{BackupMode::undo, State::stale, "patch keep-as-backup; full move-aside"}}) {
        Case c;
        c.policy.command = Command::patch;
        c.policy.backup = backup;
        c.dll = cuda_dll(false);
        c.dll.is_link = true;
        c.full = full;
        CHECK(described(c.decision(), c.sidecars()) == expected);
    }
}

TEST_CASE("decide: no command but clean --backups lets an original go that was not put back") {
    for (const Command command : {Command::patch, Command::verify, Command::scan, Command::clean}) {
        for_all(command, [&](const Case& c) {
            const Decision decision = c.decision();
            const Sidecars sidecars = c.sidecars();
            for (std::size_t i = 0; i < sidecars.size(); ++i) {
                INFO(described(c) << ": " << described(decision, sidecars));
                const bool spent_first = decision.undo_first && sidecars[i].kind == Kind::undo;
                CHECK((!holds_original(sidecars[i].state) || decision.sidecars[i].fate == Fate::keep || spent_first));
            }
        });
    }
}

TEST_CASE("decide: what is split is patched, and what could be is not, whatever else is there") {
    struct Row {
        const char* what;
        bool fatbin;
        bool dynamic_base;
        bool is_split;
        bool has_runs;
        bool planned;
        Status status;
    };
    const Row rows[] = {
        {"neither", false, true, false, false, false, Status::no_fatbin},
        {"neither, and no ASLR", false, false, false, false, false, Status::no_fatbin},
        {"runs that are to be split", false, true, false, true, true, Status::unpatched},
        {"runs that can't be", false, true, false, true, false, Status::not_needed},
        {"runs that can't be, and no ASLR from the beginning", false, false, false, true, false, Status::not_needed},
        {"split", false, true, true, false, false, Status::patched},
        {"split, with a section that is read-only as shipped", true, true, true, false, false, Status::patched},
        {"split, with a section that is writable", true, true, true, false, true, Status::unpatched},
        {"a read-only section, and runs", true, true, false, true, true, Status::unpatched},
        {"a read-only section, and runs that can't be", true, true, false, true, false, Status::not_needed},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        DllFacts dll;
        dll.has_fatbin = row.fatbin;
        dll.dynamic_base = row.dynamic_base;
        dll.is_split = row.is_split;
        dll.has_runs = row.has_runs;
        dll.plan_is_empty = !row.planned;
        const StatusDecision state = decide_status(dll, {});
        CHECK(to_string(state.status) == to_string(row.status));
        CHECK(state.needs_patch == row.planned);
        dll.refusal = {Why::force_integrity};
        CHECK((decide_status(dll, {}).status == Status::refused) == dll.has_gpu_code());
    }
}

TEST_CASE("decide: a split is written in place only where an undo file explains it, and else as a plain patch is") {
    for (const auto& [backup, name] : names_of<BackupMode>) {
        for (const State full : COPY_STATES) {
            for (const State undo : UNDO_STATES) {
                for (const State legacy : COPY_STATES) {
                    Case c;
                    c.policy.command = Command::patch;
                    c.policy.backup = backup;
                    c.dll = cuda_dll(false);
                    c.full = full;
                    c.undo = undo;
                    c.legacy = legacy;
                    Decision plain = c.decision();
                    c.dll.plan_splits = true;
                    const Decision split = c.decision();
                    INFO(described(c));
                    CHECK(split.way != Way::edit);
                    plain.way = plain.way == Way::edit ? Way::replace : plain.way;
                    CHECK(split == plain);
                }
            }
        }
    }
}

}  // namespace fixnvpe::test
