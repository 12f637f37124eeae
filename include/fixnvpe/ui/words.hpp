#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixnvpe/commands/outcome.hpp"

/// The words for what the other rooms say as values: the one place where they stand.
namespace fixnvpe {

[[nodiscard]] std::string words(const Reason& reason);
[[nodiscard]] std::string words(const Note& note);
[[nodiscard]] std::string words(SkipReason reason);
[[nodiscard]] std::string words(WhyNotSplit why);
/// For the file's line.
[[nodiscard]] std::string words(Warning warning);
/// What else there is to say of a file, in few words each: its warnings and notes.
[[nodiscard]] std::vector<std::string> remarks(const FileOutcome& file);
/// Why a file of ours goes or stays.
[[nodiscard]] std::string words_for_clean(const CleanOutcome& outcome);
/// "C:\venv (VIRTUAL_ENV)".
[[nodiscard]] std::string words(const PythonEnvironment& environment);

/// What went wrong with a file, be it thrown or decided.
[[nodiscard]] std::optional<Error> error_of(const FileOutcome& outcome, Command command);

/// The hint in words, with what the command line has to offer.
[[nodiscard]] std::string hint_of(const Error& error, const Policy& policy);

}  // namespace fixnvpe
