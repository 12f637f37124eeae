#include "fixnvpe/pe/loader_places.hpp"

#include <algorithm>
#include <optional>

namespace fixnvpe {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Offsets in bytes, from winnt.h and delayimp.h; where there are two, of PE32 and of PE32+.
struct ByWidth {
    std::size_t narrow;
    std::size_t wide;
};
constexpr std::size_t EXPORT_DIRECTORY_SIZE = 40;
constexpr std::size_t NUMBER_OF_FUNCTIONS = 20;
constexpr std::size_t ADDRESS_OF_FUNCTIONS = 28;
constexpr std::size_t IMPORT_DESCRIPTOR_SIZE = 20;
constexpr std::size_t FIRST_THUNK = 16;
constexpr std::size_t DELAY_DESCRIPTOR_SIZE = 32;
constexpr std::size_t DELAY_ATTRIBUTES = 0;
constexpr std::size_t DELAY_MODULE_HANDLE = 8;
constexpr std::size_t DELAY_IMPORT_ADDRESS_TABLE = 12;
constexpr std::size_t DEBUG_DIRECTORY_SIZE = 28;
constexpr std::size_t DEBUG_SIZE_OF_DATA = 16;
constexpr std::size_t DEBUG_ADDRESS_OF_RAW_DATA = 20;
constexpr std::size_t DEBUG_POINTER_TO_RAW_DATA = 24;
constexpr ByWidth TLS_DIRECTORY_SIZE{24, 40};
constexpr ByWidth TLS_ADDRESS_OF_INDEX{8, 16};
// IMAGE_LOAD_CONFIG_DIRECTORY: it grew over the years, and says its size first.
constexpr std::size_t LOAD_CONFIG_SIZE_MAX = 4096;
constexpr ByWidth SECURITY_COOKIE{60, 88};
constexpr ByWidth GUARD_CF_CHECK_FUNCTION_POINTER{72, 112};
constexpr ByWidth GUARD_CF_DISPATCH_FUNCTION_POINTER{76, 120};
constexpr ByWidth CHPE_METADATA_POINTER{124, 200};
constexpr ByWidth DYNAMIC_VALUE_RELOC_TABLE_OFFSET{136, 224};
constexpr ByWidth DYNAMIC_VALUE_RELOC_TABLE_SECTION{140, 228};
constexpr ByWidth HOT_PATCH_TABLE_OFFSET{148, 240};
constexpr ByWidth ENCLAVE_CONFIGURATION_POINTER{156, 248};

/// More of anything is no file that a linker made.
constexpr std::size_t ITEMS_MAX = std::size_t{1} << 20;

/// What can't be followed.
struct Unreadable {};

class Follower {
public:
    Follower(ByteView headers, const PeImage& image, const ReadAt& read, LoaderPlaces& found)
        : headers_(headers), image_(image), read_(read), found_(found) {}

    WhyNotSplit follow() {
        const std::uint32_t count = std::min(image_.layout.number_of_rva_and_sizes, IMAGE_NUMBEROF_DIRECTORY_ENTRIES);
        for (std::uint32_t i = 0; i < count; ++i) {
            const DataDirectory directory = directory_at(i);
            if (directory.virtual_address == 0) {
                continue;
            }
            if (directory.virtual_address < end_of_headers()) {
                return WhyNotSplit::into_headers;  // a certificate has a file offset there, which is as long
            }
            if (i != IMAGE_DIRECTORY_ENTRY_SECURITY) {
                add(directory.virtual_address, directory.size);
            }
        }
        if (directory_at(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT).virtual_address != 0) {
            return WhyNotSplit::bound_imports;
        }
        if (directory_at(IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR).virtual_address != 0) {
            return WhyNotSplit::dot_net;
        }
        if (debug_data_in_headers()) {
            return WhyNotSplit::into_headers;
        }
        follow_exports();
        follow_imports();
        follow_delayed_imports();
        follow_tls();
        return load_config();
    }

private:
    [[nodiscard]] DataDirectory directory_at(std::uint32_t index) const {
        if (index >= image_.layout.number_of_rva_and_sizes) {
            return {};
        }
        const std::size_t at = image_.layout.data_directory(index);
        return {load_le<std::uint32_t>(headers_, at + offset::DirectoryAddress),
                load_le<std::uint32_t>(headers_, at + offset::DirectorySize)};
    }

    [[nodiscard]] std::uint32_t end_of_headers() const {
        return load_le<std::uint32_t>(headers_, image_.layout.optional_header + offset::SizeOfHeaders);
    }

    [[nodiscard]] std::size_t of(const ByWidth& field) const {
        return image_.layout.pe32_plus ? field.wide : field.narrow;
    }
    [[nodiscard]] std::size_t pointer_size() const { return of({sizeof(std::uint32_t), sizeof(std::uint64_t)}); }

    [[nodiscard]] std::uint64_t pointer_in(ByteView bytes, std::size_t at) const {
        return image_.layout.pe32_plus ? load_le<std::uint64_t>(bytes, at) : load_le<std::uint32_t>(bytes, at);
    }

    void add(std::uint64_t address, std::uint64_t size) {
        found_.places.push_back({address, std::max<std::uint64_t>(size, 1)});
    }

    /// What a pointer leads to that is an address in memory, and not an RVA.
    void add_pointed_to(std::uint64_t pointer, std::uint64_t size) {
        if (pointer == 0) {
            return;
        }
        if (pointer < image_.image_base || pointer - image_.image_base > UINT32_MAX) {
            throw Unreadable();
        }
        add(pointer - image_.image_base, size);
    }

    /// As many of these bytes as lie in the raw data of one section.
    [[nodiscard]] Bytes some_at(std::uint64_t address, std::size_t most) const {
        for (const Section& section : image_.sections) {
            if (address >= section.virtual_address && address - section.virtual_address < section.size_of_raw_data) {
                const std::uint64_t into = address - section.virtual_address;
                Bytes bytes(static_cast<std::size_t>(std::min<std::uint64_t>(most, section.size_of_raw_data - into)));
                bytes.resize(read_(section.pointer_to_raw_data + into, bytes));
                return bytes;
            }
        }
        return {};
    }

    [[nodiscard]] Bytes at(std::uint64_t address, std::size_t count) const {
        Bytes bytes = some_at(address, count);
        if (bytes.size() != count) {
            throw Unreadable();
        }
        return bytes;
    }

    [[nodiscard]] bool debug_data_in_headers() const {
        const DataDirectory directory = directory_at(IMAGE_DIRECTORY_ENTRY_DEBUG);
        if (!directory.present()) {
            return false;
        }
        if (directory.size / DEBUG_DIRECTORY_SIZE > ITEMS_MAX) {
            throw Unreadable();
        }
        const Bytes bytes = at(directory.virtual_address, directory.size);
        for (std::size_t i = 0; i + DEBUG_DIRECTORY_SIZE <= bytes.size(); i += DEBUG_DIRECTORY_SIZE) {
            const auto in_headers = [&](std::size_t field) {
                const auto place = load_le<std::uint32_t>(bytes, i + field);
                return place != 0 && place < end_of_headers();
            };
            if (load_le<std::uint32_t>(bytes, i + DEBUG_SIZE_OF_DATA) != 0 &&
                (in_headers(DEBUG_ADDRESS_OF_RAW_DATA) || in_headers(DEBUG_POINTER_TO_RAW_DATA))) {
                return true;
            }
        }
        return false;
    }

    void follow_exports() {
        const DataDirectory directory = directory_at(IMAGE_DIRECTORY_ENTRY_EXPORT);
        if (directory.virtual_address == 0) {
            return;
        }
        const Bytes fields = at(directory.virtual_address, EXPORT_DIRECTORY_SIZE);
        const auto count = load_le<std::uint32_t>(fields, NUMBER_OF_FUNCTIONS);
        if (count > ITEMS_MAX) {
            throw Unreadable();
        }
        const Bytes table =
            count == 0 ? Bytes()
                       : at(load_le<std::uint32_t>(fields, ADDRESS_OF_FUNCTIONS), count * sizeof(std::uint32_t));
        for (std::size_t i = 0; i < count; ++i) {
            found_.exports.push_back(load_le<std::uint32_t>(table, i * sizeof(std::uint32_t)));
        }
        std::sort(found_.exports.begin(), found_.exports.end());
    }

    /// A table of pointers up to a null, which the loader writes to.
    void add_thunks(std::uint64_t address) {
        if (address == 0) {
            return;
        }
        constexpr std::size_t at_once = 4096;
        std::uint64_t size = 0;
        for (bool ends = false; !ends;) {
            const Bytes bytes = some_at(address + size, at_once);
            if (bytes.size() < pointer_size() || size > ITEMS_MAX * pointer_size()) {
                throw Unreadable();
            }
            for (std::size_t i = 0; i + pointer_size() <= bytes.size() && !ends; i += pointer_size()) {
                ends = pointer_in(bytes, i) == 0;
                size += pointer_size();
            }
        }
        add(address, size);
    }

    /// Calls `visit` with each descriptor of a list that ends with one of zeros.
    template <typename Visit>
    void each_descriptor(std::uint32_t directory, std::size_t size, Visit visit) {
        const DataDirectory list = directory_at(directory);
        if (list.virtual_address == 0) {
            return;
        }
        for (std::size_t i = 0;; ++i) {
            const Bytes descriptor = at(list.virtual_address + std::uint64_t{i} * size, size);
            if (std::all_of(descriptor.begin(), descriptor.end(), [](std::uint8_t byte) { return byte == 0; })) {
                return;
            }
            if (i == ITEMS_MAX) {
                throw Unreadable();
            }
            visit(descriptor);
        }
    }

    void follow_imports() {
        each_descriptor(IMAGE_DIRECTORY_ENTRY_IMPORT, IMPORT_DESCRIPTOR_SIZE,
                        [&](ByteView descriptor) { add_thunks(load_le<std::uint32_t>(descriptor, FIRST_THUNK)); });
    }

    void follow_delayed_imports() {
        each_descriptor(IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, DELAY_DESCRIPTOR_SIZE, [&](ByteView descriptor) {
            if ((load_le<std::uint32_t>(descriptor, DELAY_ATTRIBUTES) & 1U) == 0) {
                throw Unreadable();  // of Visual C++ 6, with addresses for RVAs
            }
            add(load_le<std::uint32_t>(descriptor, DELAY_MODULE_HANDLE), pointer_size());
            add_thunks(load_le<std::uint32_t>(descriptor, DELAY_IMPORT_ADDRESS_TABLE));
        });
    }

    void follow_tls() {
        const DataDirectory directory = directory_at(IMAGE_DIRECTORY_ENTRY_TLS);
        if (directory.virtual_address != 0) {
            const Bytes fields = at(directory.virtual_address, of(TLS_DIRECTORY_SIZE));
            add_pointed_to(pointer_in(fields, of(TLS_ADDRESS_OF_INDEX)), sizeof(std::uint32_t));
        }
    }

    WhyNotSplit load_config() {
        const DataDirectory directory = directory_at(IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG);
        if (directory.virtual_address == 0) {
            return WhyNotSplit::nothing;
        }
        const auto size = load_le<std::uint32_t>(at(directory.virtual_address, sizeof(std::uint32_t)), 0);
        if (size < sizeof(std::uint32_t) || size > LOAD_CONFIG_SIZE_MAX) {
            throw Unreadable();
        }
        Bytes fields = at(directory.virtual_address, size);
        fields.resize(LOAD_CONFIG_SIZE_MAX + sizeof(std::uint64_t));  // what is not there is not set
        if (load_le<std::uint32_t>(fields, of(DYNAMIC_VALUE_RELOC_TABLE_OFFSET)) != 0 ||
            load_le<std::uint16_t>(fields, of(DYNAMIC_VALUE_RELOC_TABLE_SECTION)) != 0 ||
            load_le<std::uint32_t>(fields, of(HOT_PATCH_TABLE_OFFSET)) != 0 ||
            pointer_in(fields, of(CHPE_METADATA_POINTER)) != 0 ||
            pointer_in(fields, of(ENCLAVE_CONFIGURATION_POINTER)) != 0) {
            return WhyNotSplit::load_config;
        }
        for (const ByWidth& field :
             {SECURITY_COOKIE, GUARD_CF_CHECK_FUNCTION_POINTER, GUARD_CF_DISPATCH_FUNCTION_POINTER}) {
            add_pointed_to(pointer_in(fields, of(field)), pointer_size());
        }
        return WhyNotSplit::nothing;
    }

    ByteView headers_;
    const PeImage& image_;
    const ReadAt& read_;
    LoaderPlaces& found_;
};

}  // namespace

LoaderPlaces loader_places(ByteView headers, const PeImage& image, const ReadAt& read) {
    LoaderPlaces found;
    try {
        found.why = Follower(headers, image, read, found).follow();
    } catch (const Unreadable&) {
        found.why = WhyNotSplit::unreadable;
    }
    return found;
}

}  // namespace fixnvpe
