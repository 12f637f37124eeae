#include "fixnvpe/find/environment.hpp"

#include "fixnvpe/find/site_packages.hpp"
#include "fixnvpe/os/names.hpp"

namespace fixnvpe {

using std::filesystem::path;

const path& Environments::look_upwards(const path& folder) {
    const auto [entry, is_new] = prefixes_.try_emplace(folder);
    if (is_new && !os::split_root(folder).rest.empty()) {
        if (is_site_packages(folder)) {
            entry->second = prefix_of_site(folder);
        } else if (is_environment(folder)) {
            entry->second = folder;
        }
        if (entry->second.empty()) {
            entry->second = look_upwards(folder.parent_path());
        }
    }
    return entry->second;
}

path Environments::around(const path& folder) {
    return chosen_ ? chosen_->prefix : look_upwards(os::canonical(folder.empty() ? path(".") : folder));
}

const Records& Environments::records_around(const path& folder) {
    const path prefix = around(folder);
    const auto [entry, is_new] = records_.try_emplace(prefix);
    if (is_new && chosen_) {
        entry->second = Records(chosen_->folders, chosen_->prefixes);
    } else if (is_new && !prefix.empty()) {
        const EnvironmentPlaces places = places_of(prefix);
        entry->second = Records(places.folders, places.prefixes);
    }
    return entry->second;
}

}  // namespace fixnvpe
