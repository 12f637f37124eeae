#include "fixnvpe/find/record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "fixnvpe/base/error.hpp"
#include "fixnvpe/base/text.hpp"
#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/os/file.hpp"
#include "fixnvpe/os/names.hpp"
#include "fixnvpe/os/process.hpp"
#include "fixnvpe/patch/sidecars.hpp"

namespace fixnvpe {
namespace {

using std::filesystem::path;

constexpr std::uint64_t RECORD_MAX = std::uint64_t{32} << 20;  ///< bytes; torch's has 2 MB
constexpr std::size_t NAMES_MAX = 250'000;                     ///< folders and DLLs that are kept, of an environment
constexpr bool FOLDS_CASE = path::preferred_separator == '\\';
constexpr std::string_view SEPARATORS = FOLDS_CASE ? "/\\" : "/";

/// Equal for two spellings that are one name to the system.
path::string_type folded(const path& p) {
    if constexpr (!FOLDS_CASE) {
        return p.native();
    } else {
        std::u32string points = code_points(std::basic_string_view<path::value_type>(p.native()));
        std::transform(points.begin(), points.end(), points.begin(), os::fold_case);
        return path(points).make_preferred().native();
    }
}

path::string_type key_of_folder(const path& folder) {
    const path normal = folder.lexically_normal();
    return folded(normal.has_filename() ? normal : normal.parent_path());
}

/// Name and version of "torch-1.12.1+cu113".
Distribution named_by(std::string_view text) {
    const std::size_t dash = text.rfind('-');
    Distribution result;
    result.name = normalised_name(text.substr(0, dash));
    result.version = dash == std::string_view::npos ? std::string() : std::string(text.substr(dash + 1));
    return result;
}

/// The text without this ending; nothing if it ends otherwise.
std::optional<std::string_view> without(std::string_view text, std::string_view ending) {
    return text.ends_with(ending) ? std::optional(text.substr(0, text.size() - ending.size())) : std::nullopt;
}

/// A regular file, and no link to one: what lies elsewhere is not this environment's.
std::optional<os::File> open_record(const path& file) {
    if (os::info_of(file).type != os::FileType::regular) {
        return std::nullopt;
    }
    return os::File::open_to_read(file);
}

/// The first field of a line of CSV: with quotes where it has a comma or a quote in it, and the quotes doubled.
std::string_view first_field(std::string_view line, std::string& unquoted) {
    if (!line.starts_with('"')) {
        return line.substr(0, line.find(','));
    }
    unquoted.clear();
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '"' && (++i == line.size() || line[i] != '"')) {
            break;
        }
        unquoted += line[i];
    }
    return unquoted;
}

/// Tells each string in the list "files" of a JSON object, and stops behind it: conda sorts the keys, and what follows
/// is several times as long.
template <typename Tell>
class CondaFiles : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit CondaFiles(Tell tell) : tell_(std::move(tell)) {}
    [[nodiscard]] bool done() const { return done_; }

    bool key(std::string& name) override {
        files_is_next_ = depth_ == 1 && name == "files";
        return true;
    }
    bool string(std::string& text) override {
        if (in_files_ && depth_ == 2) {
            tell_(text);
        }
        return true;
    }
    bool start_array(std::size_t /*size*/) override {
        in_files_ = in_files_ || std::exchange(files_is_next_, false);
        ++depth_;
        return true;
    }
    bool end_array() override {
        --depth_;
        done_ = in_files_ && depth_ == 1;
        return !done_;
    }
    bool start_object(std::size_t /*size*/) override {
        ++depth_;
        return true;
    }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(number_integer_t /*value*/) override { return true; }
    bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
    bool number_float(number_float_t /*value*/, const std::string& /*text*/) override { return true; }
    bool binary(nlohmann::json::binary_t& /*value*/) override { return true; }
    bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                     const nlohmann::json::exception& /*error*/) override {
        return false;
    }

private:
    Tell tell_;
    std::size_t depth_ = 0;
    bool files_is_next_ = false;
    bool in_files_ = false;
    bool done_ = false;
};

}  // namespace

std::string normalised_name(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (c != '-' && c != '_' && c != '.') {
            result += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        } else if (!result.ends_with('-')) {
            result += '-';
        }
    }
    return result;
}

/// Fills the tables.
class Records::Reader {
public:
    explicit Reader(Records& records) : records_(records) {}

    void read_site(const path& site) {
        for (const path& name : names_in(site)) {
            const std::string text = os::from_path(name);
            // pip calls what it is about to remove ~orch.
            if (text.starts_with('~')) {
                continue;
            }
            if (const auto wheel = without(text, ".dist-info")) {
                read(named_by(*wheel), site / name / "RECORD", site);
            } else if (const auto egg = without(text, ".egg-info")) {
                read(named_by(egg->substr(0, egg->find("-py"))), site / name / "installed-files.txt", site / name);
            }
        }
    }

    void read_conda(const path& prefix) {
        const path folder = prefix / "conda-meta";
        for (const path& name : names_in(folder)) {
            const std::string text = os::from_path(name);
            if (const auto package = without(text, ".json")) {
                read(named_by(package->substr(0, package->rfind('-'))), folder / name, prefix);
            }
        }
    }

private:
    /// @param base what the names in it are relative to; without links
    void read(Distribution distribution, const path& record, const path& base) {
        owner_ = static_cast<std::uint32_t>(records_.distributions_.size());
        base_ = base;
        last_ = nullptr;
        try {
            if (const auto file = open_record(record)) {
                distribution.installed = file->opened_as().changed;
                take_all(text_of(*file), record.extension() == ".json");
            }
        } catch (const Error&) {
            records_.complete_ = false;
        }
        records_.distributions_.push_back(std::move(distribution));
    }

    static std::string text_of(const os::File& file) {
        const std::uint64_t size = file.opened_as().size;
        if (size > RECORD_MAX) {
            throw Error(ErrorCode::malformed, "read the record: it is too long for one");
        }
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
        bytes.resize(file.read_at(0, bytes));
        return {bytes.begin(), bytes.end()};
    }

    void take_all(const std::string& text, bool json) {
        if (json) {
            CondaFiles files([&](std::string_view name) { take(name); });
            nlohmann::json::sax_parse(text, &files);
            if (!files.done()) {
                throw Error(ErrorCode::malformed, "read the record: it has no list of files");
            }
            return;
        }
        std::string unquoted;
        for (std::string_view rest = text; !rest.empty();) {
            const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            take(first_field(line, unquoted));
        }
    }

    void take(std::string_view file) {
        const std::size_t slash = file.find_last_of(SEPARATORS);
        const std::string_view folder = slash == std::string_view::npos ? std::string_view() : file.substr(0, slash);
        const std::string_view name = slash == std::string_view::npos ? file : file.substr(slash + 1);
        if (name.empty()) {
            return;
        }
        // Neighbours mostly lie in one folder.
        if (last_ == nullptr || folder != last_folder_) {
            last_ = &records_.folders_[key_of_folder(base_ / os::to_path(std::string(folder)))];
            last_folder_ = folder;
            add(last_->owners);
        }
        if (const path own = has_dll_extension(name) ? os::to_path(std::string(name)) : path(); !own.empty()) {
            add(last_->files[folded(own)]);
        }
    }

    void add(Owners& owners) {
        if (!owners.empty() && owners.back() == owner_) {
            return;
        }
        if (++names_ > NAMES_MAX) {
            throw Error(ErrorCode::malformed, "read the record: too many names");
        }
        owners.push_back(owner_);
    }

    Records& records_;
    std::uint32_t owner_ = 0;
    path base_;
    std::string last_folder_;
    Folder* last_ = nullptr;
    std::size_t names_ = 0;
};

Records::Records(const std::vector<path>& site_packages, const std::vector<path>& prefixes) {
    Reader reader(*this);
    for (const path& site : site_packages) {
        sites_.push_back(os::canonical(site));
        reader.read_site(sites_.back());
    }
    for (const path& prefix : prefixes) {
        if (is_folder(prefix / "conda-meta")) {
            reader.read_conda(os::canonical(prefix));
        }
    }
}

const Records::Folder* Records::find(const path& folder) const {
    const auto found = folders_.find(key_of_folder(folder));
    return found == folders_.end() ? nullptr : &found->second;
}

/// @param folder without links
std::vector<Distribution> Records::sorted(const Owners& owners, const path& folder) const {
    std::string first;
    for (const path& site : sites_) {
        const path below = folder.lexically_relative(site);
        if (!below.empty() && *below.begin() != ".." && *below.begin() != ".") {
            first = normalised_name(os::from_path(*below.begin()));
        }
    }
    std::vector<Distribution> result;
    result.reserve(owners.size());
    for (const std::uint32_t owner : owners) {
        result.push_back(distributions_[owner]);
    }
    std::stable_sort(result.begin(), result.end(), [&](const Distribution& a, const Distribution& b) {
        return std::tuple(a.name != first, std::string_view(a.name)) <
               std::tuple(b.name != first, std::string_view(b.name));
    });
    return result;
}

std::vector<Distribution> Records::owners_of(const path& file) const {
    if (folders_.empty()) {
        return {};
    }
    const path parent = file.parent_path();
    const path real = os::canonical(parent.empty() ? path(".") : parent);
    const Folder* folder = find(real);
    if (folder == nullptr) {
        return {};
    }
    const auto owners = folder->files.find(folded(file.filename()));
    return owners == folder->files.end() ? std::vector<Distribution>() : sorted(owners->second, real);
}

std::vector<Distribution> Records::owners_in(const path& folder) const {
    if (folders_.empty()) {
        return {};
    }
    const path real = os::canonical(folder.empty() ? path(".") : folder);
    const Folder* found = find(real);
    return found == nullptr ? std::vector<Distribution>() : sorted(found->owners, real);
}

bool Records::has(std::string_view name) const {
    return std::any_of(distributions_.begin(), distributions_.end(),
                       [&](const Distribution& distribution) { return distribution.name == name; });
}

}  // namespace fixnvpe
