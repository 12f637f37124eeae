#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fixnvpe/commands/outcome.hpp"
#include "fixnvpe/ui/style.hpp"

/// A summary as one JSON document, of the same values as the text. Always valid UTF-8.
namespace fixnvpe {

/// Takes the document piece by piece: a file's object at a time, so that memory does not grow with their number.
using Sink = std::function<void(std::string_view)>;

void report_json(const Summary& summary, const ReportStyle& style, const Sink& sink);

/// The document where there is no summary, because the whole request failed.
/// @param command what was asked for; empty: not known
[[nodiscard]] std::string json_of_failure(std::string_view command, const Error& error, ExitStatus exit_status);

}  // namespace fixnvpe
