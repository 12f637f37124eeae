#include "fixnvpe/commands/packages.hpp"

namespace fixnvpe {
namespace {

bool is_worth_a_line(const FileOutcome& file) {
    const bool plain = file.status == Status::no_fatbin || file.status == Status::not_pe;
    return !plain || file.failed() || file.action != Action::none || file.commit.now >= LARGE_COMMIT || file.split;
}

std::string package_of(const std::filesystem::path& dll, Environments& environments) {
    try {
        const std::vector<Distribution> owners = environments.records_around(dll.parent_path()).owners_of(dll);
        return owners.empty() ? std::string() : owners.front().name + " " + owners.front().version;
    } catch (const Error&) {
        return {};  // the folder is not there, or no longer
    }
}

}  // namespace

void attribute(Summary& summary, Environments& environments) {
    for (FileOutcome& file : summary.files) {
        if (is_worth_a_line(file)) {
            file.package = package_of(file.path, environments);
        }
    }
    for (CleanOutcome& file : summary.cleaned) {
        if (file.is_ours()) {
            file.package = package_of(dll_of(file.path).value_or(file.path), environments);
        }
    }
}

}  // namespace fixnvpe
