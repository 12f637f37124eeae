#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "support/catch.hpp"
#include "support/session.hpp"

/// How a program's output and a folder's files look in the message of a test that failed.
namespace Catch {

template <>
struct StringMaker<fixnvpe::test::Output> {
    static std::string convert(const fixnvpe::test::Output& output) {
        return fmt::format("exit status {}, out:\n{}\nerr:\n{}\n", output.exit_status, output.out, output.err);
    }
};

template <>
struct StringMaker<fixnvpe::test::FileState> {
    static std::string convert(const fixnvpe::test::FileState& state) {
        return fmt::format("{} bytes ({:016x}), mode {:o}, inode {}, {} links, written at {}", state.bytes.size(),
                           std::hash<std::string_view>()(state.bytes), static_cast<unsigned>(state.mode),
                           state.identity, state.hard_links, state.modified);
    }
};

template <>
struct StringMaker<fixnvpe::test::Snapshot> {
    static std::string convert(const fixnvpe::test::Snapshot& snapshot) {
        std::string text;
        for (const auto& [name, state] : snapshot) {
            text += fmt::format("\n  {}: {}", name, StringMaker<fixnvpe::test::FileState>::convert(state));
        }
        return text + "\n";
    }
};

}  // namespace Catch
