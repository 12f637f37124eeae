#pragma once

#include <cstdint>
#include <filesystem>

/// What the loader tests ask of Windows itself; <windows.h> does not go together with pe_layout.hpp.
namespace fixnvpe::test {

[[nodiscard]] bool is_wine();
[[nodiscard]] std::uint32_t own_process_id();

/// A DLL that this process has loaded.
class InUse {
public:
    /// @throws std::system_error
    explicit InUse(const std::filesystem::path& path);
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    ~InUse();
    /// What its fixnvpe_answer() returns; 0 if there is none.
    [[nodiscard]] int answer() const;

private:
    void* module_;
};

}  // namespace fixnvpe::test
