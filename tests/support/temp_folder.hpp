#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fixnvpe::test {

/// A new, empty folder with an unguessable name; it goes with all that is in it.
class TempFolder {
public:
    TempFolder() {
        std::random_device random;
        const std::string name = "fixnvpe-test-" + std::to_string(random()) + "-" + std::to_string(random());
        path_ = std::filesystem::canonical(std::filesystem::temp_directory_path()) / name;
        if (!std::filesystem::create_directory(path_)) {
            throw std::runtime_error("temp_folder: " + path_.string() + " was there before");
        }
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

    /// Makes a file, and the folders that it lies in.
    std::filesystem::path file(const std::filesystem::path& name, std::string_view content = "x") const {
        const std::filesystem::path path = path_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream stream(path, std::ios::binary);
        if (!(stream << content << std::flush)) {
            throw std::runtime_error("temp_folder: can't write " + path.string());
        }
        return path;
    }
    /// Makes a folder, and those that it lies in.
    std::filesystem::path folder(const std::filesystem::path& name) const {
        std::filesystem::create_directories(path_ / name);
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

}  // namespace fixnvpe::test
