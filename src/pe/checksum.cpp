#include "fixnvpe/pe/checksum.hpp"

namespace fixnvpe {
namespace {

constexpr std::uint32_t MODULUS = 0xFFFF;

/// CheckSum without the file's size: the folded sum of words, 1 to 0xFFFF for any file that is not all
/// zeros. Unsigned on purpose: the addition wraps for sizes over 4 GiB.
std::uint32_t word_sum(std::uint32_t check_sum, std::uint64_t file_size) {
    return check_sum - static_cast<std::uint32_t>(file_size);
}

/// What `value`, stored little-endian at `offset`, adds to the sum of words, modulo 0xFFFF.
std::uint32_t contribution(std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
        const std::uint32_t byte = (value >> (8 * i)) & 0xFF;
        const bool high_byte_of_its_word = (offset + i) % 2 != 0;
        sum += high_byte_of_its_word ? byte << 8 : byte;
    }
    return sum % MODULUS;
}

}  // namespace

CheckSumState check_sum_state(std::uint32_t check_sum, std::uint64_t file_size) {
    if (check_sum == 0) {
        return CheckSumState::unset;
    }
    const std::uint32_t sum = word_sum(check_sum, file_size);
    return sum >= 1 && sum <= MODULUS ? CheckSumState::plausible : CheckSumState::impossible;
}

std::uint32_t updated_check_sum(std::uint32_t check_sum, std::uint64_t file_size, const std::vector<Edit>& edits) {
    std::uint64_t sum = word_sum(check_sum, file_size);
    for (const Edit& edit : edits) {
        sum += contribution(edit.offset, edit.width(), edit.after);
        sum += MODULUS - contribution(edit.offset, edit.width(), edit.before);
    }
    // A carry never folds to zero: zero and 0xFFFF are the same number here, and the sum shows 0xFFFF.
    const auto folded = static_cast<std::uint32_t>((sum - 1) % MODULUS + 1);
    return folded + static_cast<std::uint32_t>(file_size);
}

std::uint32_t updated_check_sum(std::uint32_t check_sum, std::uint64_t file_size, ByteView before, ByteView after) {
    CheckSummer was;
    CheckSummer is;
    was.add(before);
    is.add(after);
    const std::uint64_t size = before.size();
    const std::uint64_t sum = std::uint64_t{word_sum(check_sum, file_size)} + (is.check_sum() - size) % MODULUS +
                              MODULUS - (was.check_sum() - size) % MODULUS;
    return static_cast<std::uint32_t>((sum - 1) % MODULUS + 1) + static_cast<std::uint32_t>(file_size);
}

void CheckSummer::add(ByteView bytes) {
    for (const std::uint8_t byte : bytes) {
        const bool high_byte_of_its_word = size_++ % 2 != 0;
        sum_ += high_byte_of_its_word ? std::uint64_t{byte} << 8U : byte;
    }
}

std::uint32_t CheckSummer::check_sum() const {
    const std::uint64_t folded = sum_ == 0 ? 0 : (sum_ - 1) % MODULUS + 1;
    return static_cast<std::uint32_t>(folded + size_);
}

}  // namespace fixnvpe
