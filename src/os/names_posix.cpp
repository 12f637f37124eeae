#include "fixnvpe/os/names.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "posix.hpp"

namespace fixnvpe::os {

namespace fs = std::filesystem;

bool can_be_replaced(const fs::path& /*path*/) {
    return true;
}

bool make_hard_link(const fs::path& existing, const fs::path& name) {
    if (::linkat(AT_FDCWD, existing.c_str(), AT_FDCWD, name.c_str(), 0) == 0) {
        return true;
    }
    // EPERM is what Linux says of a file system without hard links (and of files that are not ours to
    // link: renaming works there, too).
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK) {
        return false;
    }
    posix::fail(name, "link the original as the backup");
}

void rename_over(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) == -1) {
        posix::fail(to, "rename", from);
    }
}

void rename_new(const fs::path& from, const fs::path& to) {
#if defined(RENAME_NOREPLACE)
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        posix::fail(to, "rename", from);
    }
#endif
    // A file system that can't do both in one step.
    if (info_of(to).type != FileType::missing) {
        throw posix::system_error(to, "rename", EEXIST);
    }
    rename_over(from, to);
}

bool remove(const fs::path& path) {
    if (::unlink(path.c_str()) == 0) {
        return true;
    }
    if (errno == ENOENT) {
        return false;
    }
    posix::fail(path, "remove");
}

void sync_folder(const fs::path& folder) {
    const Handle handle = posix::open(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY);
    if (!handle) {
        // A folder that may be written to but not read can't be opened, so it can't be flushed either.
        if (errno == EACCES) {
            return;
        }
        posix::fail(folder, "flush the folder");
    }
    if (posix::retry([&] { return ::fsync(posix::descriptor(handle)); }) == -1 &&
        errno != EINVAL) {  // a file system that has no such step
        posix::fail(folder, "flush the folder");
    }
}

std::vector<FolderEntry> list_folder(const fs::path& folder) {
    struct Closer {
        void operator()(DIR* d) const { ::closedir(d); }
    };
    const std::unique_ptr<DIR, Closer> dir(::opendir(folder.c_str()));
    if (!dir) {
        posix::fail(folder, "list");
    }
    std::vector<FolderEntry> entries;
    for (;;) {
        errno = 0;
        const dirent* entry = ::readdir(dir.get());
        if (entry == nullptr) {
            if (errno != 0) {
                posix::fail(folder, "list");
            }
            return entries;
        }
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        FileType type = FileType::other;
        switch (entry->d_type) {
            case DT_REG: type = FileType::regular; break;
            case DT_DIR: type = FileType::folder; break;
            case DT_LNK: type = FileType::link; break;
            case DT_UNKNOWN: type = info_of(folder / name).type; break;
            default: break;
        }
        entries.push_back({fs::path(name), type});
    }
}

Rooted split_root(const fs::path& path) {
    return {path.root_path(), path.relative_path()};
}

fs::path canonical(const fs::path& path) {
    struct Freer {
        void operator()(char* text) const { std::free(text); }
    };
    const std::unique_ptr<char, Freer> real(::realpath(path.c_str(), nullptr));
    if (!real) {
        posix::fail(path, "find what it leads to");
    }
    return real.get();
}

char32_t fold_case(char32_t c) {
    return c;
}

}  // namespace fixnvpe::os
