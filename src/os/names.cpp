#include "fixnvpe/os/names.hpp"

namespace fixnvpe::os {

FileInfo info_behind(const std::filesystem::path& path) {
    FileInfo info = info_of(path);
    return info.type == FileType::link ? info_of(os::canonical(path)) : info;
}

}  // namespace fixnvpe::os
