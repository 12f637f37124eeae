#pragma once

#include <optional>
#include <string>

#include "fixnvpe/commands/outcome.hpp"

/// The words for what the other rooms say as values: the one place where they stand.
namespace fixnvpe {

[[nodiscard]] std::string words(const Reason& reason);
[[nodiscard]] std::string words(const Note& note);
[[nodiscard]] std::string words(SkipReason reason);
/// For the file's line.
[[nodiscard]] std::string words(Warning warning);
/// Why a file of ours goes or stays.
[[nodiscard]] std::string words_for_clean(const CleanOutcome& outcome);
/// "environment: C:\venv (VIRTUAL_ENV), torch 1.12.1+cu113".
[[nodiscard]] std::string words(const PythonEnvironment& environment);

/// What went wrong with a file, be it thrown or decided.
[[nodiscard]] std::optional<Error> error_of(const FileOutcome& outcome, Command command);

/// The hint in words, with what the command line has to offer.
[[nodiscard]] std::string hint_of(const Error& error, const Policy& policy);
/// As describe(), with that hint.
[[nodiscard]] std::string words(const Error& error, const Policy& policy);

}  // namespace fixnvpe
