#pragma once

#include <string>

#include "fixnvpe/commands/measured.hpp"
#include "fixnvpe/ui/style.hpp"

/// A measurement, as text and as JSON, of the same values.
namespace fixnvpe {

/// For standard output; with style.verbose each DLL of each process.
[[nodiscard]] std::string report_measure(const Measurement& measurement, const ReportStyle& style);

/// @param exit_status of the program
[[nodiscard]] std::string measure_json(const Measurement& measurement, int exit_status);

}  // namespace fixnvpe
