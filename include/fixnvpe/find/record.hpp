#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Which distribution lists which file, as pip, uv and conda have recorded it when they installed it.
namespace fixnvpe {

/// One installed package.
struct Distribution {
    std::string name;            ///< normalised: "scikit-learn"
    std::string version;         ///< "1.12.1+cu113"
    std::int64_t installed = 0;  ///< when its record was written, as os::FileInfo::changed
    friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// The name of a distribution, as pip compares it (PEP 503): "Scikit_Learn" is "scikit-learn".
[[nodiscard]] std::string normalised_name(std::string_view name);

/// What the records of an environment list. Nothing that they name is opened, or even looked at: anybody may have
/// written them.
class Records {
public:
    Records() = default;
    /// Reads *.dist-info/RECORD and *.egg-info/installed-files.txt of site-packages folders, and conda-meta/*.json of
    /// prefixes, once. Those of 300 distributions are some MB: it is done only where there is something to attribute.
    Records(const std::vector<std::filesystem::path>& site_packages,
            const std::vector<std::filesystem::path>& prefixes);

    /// Those that list this file: first that which the folder below site-packages is named like, then by name.
    /// @param file need not be there, its folder must; of the kind that is found in a folder (has_dll_extension)
    [[nodiscard]] std::vector<Distribution> owners_of(const std::filesystem::path& file) const;
    /// Those that list any file of this very folder, in the same order.
    [[nodiscard]] std::vector<Distribution> owners_in(const std::filesystem::path& folder) const;
    /// True if one of this name is installed. @param name normalised
    [[nodiscard]] bool has(std::string_view name) const;
    /// False if a record could not be read, or was too long: what it lists is not known.
    [[nodiscard]] bool complete() const { return complete_; }

private:
    using Name = std::filesystem::path::string_type;
    using Owners = std::vector<std::uint32_t>;  ///< indices of distributions, rising
    struct Folder {
        Owners owners;
        std::unordered_map<Name, Owners> files;
    };
    class Reader;
    friend class Reader;

    [[nodiscard]] const Folder* find(const std::filesystem::path& folder) const;
    [[nodiscard]] std::vector<Distribution> sorted(const Owners& owners, const std::filesystem::path& folder) const;

    std::vector<Distribution> distributions_;
    std::vector<std::filesystem::path> sites_;  ///< without links
    std::unordered_map<Name, Folder> folders_;  ///< by their folded paths, without links
    bool complete_ = true;
};

}  // namespace fixnvpe
