#include "fixnvpe/patch/sidecars.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "fixnvpe/os/lock.hpp"

namespace fixnvpe {
namespace {

using std::filesystem::path;
using NativeView = std::basic_string_view<path::value_type>;

constexpr std::string_view BACKUP = ".bak";
constexpr std::string_view LEGACY_BACKUP = "_bak";
constexpr std::string_view UNDO = ".fixnvpe-undo";

path with_suffix(path dll, std::string_view suffix) {
    dll += suffix;
    return dll;
}

bool is_digit(path::value_type c) {
    return c >= '0' && c <= '9';
}

/// @param suffix in lower case
bool has_suffix(NativeView name, std::string_view suffix) {
    const auto same = [](path::value_type a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; };
    return name.size() >= suffix.size() && std::equal(suffix.begin(), suffix.end(), name.end() - suffix.size(),
                                                      [&](char b, path::value_type a) { return same(a, b); });
}

}  // namespace

path backup_path(const path& dll) {
    return with_suffix(dll, BACKUP);
}
path legacy_backup_path(const path& dll) {
    return with_suffix(dll, LEGACY_BACKUP);
}
path undo_path(const path& dll) {
    return with_suffix(dll, UNDO);
}
path temporary_path(const path& dll) {
    return with_suffix(dll, os::TEMPORARY_SUFFIX);
}
path numbered_path(const path& sidecar, unsigned n) {
    return with_suffix(sidecar, "." + std::to_string(n));
}

std::vector<SidecarPlace> sidecars_of(const path& dll) {
    return {{SidecarKind::full, backup_path(dll)},
            {SidecarKind::undo, undo_path(dll)},
            {SidecarKind::legacy, legacy_backup_path(dll)},
            {SidecarKind::temporary, temporary_path(dll)}};
}

std::optional<SidecarName> sidecar_name(const path& name) {
    const auto without = [](NativeView text, std::string_view suffix, SidecarKind kind) -> std::optional<SidecarName> {
        if (!has_suffix(text, suffix)) {
            return std::nullopt;
        }
        path dll{path::string_type(text.substr(0, text.size() - suffix.size()))};
        if (!dll.has_filename()) {
            return std::nullopt;
        }
        return SidecarName{std::move(dll), kind};
    };
    const NativeView text = name.native();
    // While an undo file is written, it has a temporary of its own.
    if (auto temporary = without(text, std::string(UNDO) + os::TEMPORARY_SUFFIX, SidecarKind::temporary)) {
        return temporary;
    }
    for (const auto& [suffix, kind] : {std::pair{BACKUP, SidecarKind::full},
                                       {LEGACY_BACKUP, SidecarKind::legacy},
                                       {UNDO, SidecarKind::undo},
                                       {std::string_view(os::TEMPORARY_SUFFIX), SidecarKind::temporary}}) {
        if (auto result = without(text, suffix, kind)) {
            return result;
        }
    }
    NativeView without_number = text;
    while (!without_number.empty() && is_digit(without_number.back())) {
        without_number.remove_suffix(1);
    }
    if (without_number.size() == text.size()) {
        return std::nullopt;
    }
    if (auto undo = without(without_number, std::string(UNDO) + ".", SidecarKind::numbered_undo)) {
        return undo;
    }
    return without(without_number, std::string(BACKUP) + ".", SidecarKind::numbered);
}

bool is_sidecar(const path& name) {
    return sidecar_name(name).has_value();
}

std::optional<path> dll_of(const path& sidecar) {
    auto name = sidecar_name(sidecar);
    return name ? std::optional(std::move(name->dll)) : std::nullopt;
}

bool has_dll_extension(const path& name) {
    constexpr std::array<std::string_view, 6> extensions{".dll", ".pyd", ".node", ".exe", ".mexw64", ".so"};
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](std::string_view extension) { return has_suffix(name.native(), extension); });
}

}  // namespace fixnvpe
