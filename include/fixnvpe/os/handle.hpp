#pragma once

#include <cstdint>
#include <utility>

namespace fixnvpe::os {

/// What the system calls something open: a file descriptor, or a HANDLE. Closes itself.
class Handle {
public:
    Handle() = default;
    explicit Handle(std::intptr_t native) : native_(native) {}
    Handle(Handle&& other) noexcept : native_(std::exchange(other.native_, NONE)) {}
    Handle& operator=(Handle&& other) noexcept {
        Handle taken(std::move(other));
        std::swap(native_, taken.native_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { close(); }

    explicit operator bool() const { return native_ != NONE; }
    [[nodiscard]] std::intptr_t native() const { return native_; }
    void close() noexcept;

private:
    static constexpr std::intptr_t NONE = -1;  // INVALID_HANDLE_VALUE, too
    std::intptr_t native_ = NONE;
};

}  // namespace fixnvpe::os
