#include "support/pe_builder.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "fixnvpe/base/bytes.hpp"

namespace fixnvpe::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Fields that fixnvpe has no use for, and pe_layout.hpp so no name: offsets from the optional header.
constexpr std::size_t MAJOR_LINKER_VERSION = 2;
constexpr std::size_t SIZE_OF_CODE = 4;
constexpr std::size_t BASE_OF_CODE = 20;
constexpr std::size_t FILE_ALIGNMENT = 36;
constexpr std::size_t MAJOR_OPERATING_SYSTEM_VERSION = 40;
constexpr std::size_t MAJOR_SUBSYSTEM_VERSION = 48;
constexpr std::size_t SIZE_OF_IMAGE = 56;
constexpr std::size_t SIZE_OF_HEADERS = 60;
constexpr std::size_t SUBSYSTEM = 68;
constexpr std::size_t SIZE_OF_STACK_RESERVE = 72;
constexpr std::size_t CHARACTERISTICS_OF_FILE = 22;  // from e_lfanew

constexpr std::uint32_t IMAGE_DIRECTORY_ENTRY_EXPORT = 0;

constexpr std::string_view DOS_STUB_TEXT = "This program cannot be run in DOS mode.\r\r\n$";

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

void put(Bytes& bytes, std::size_t at, std::size_t width, std::uint64_t value) {
    store_le(bytes, at, width, value);
}

void append(Bytes& bytes, std::size_t width, std::uint64_t value) {
    bytes.resize(bytes.size() + width);
    put(bytes, bytes.size() - width, width, value);
}

void append(Bytes& bytes, std::string_view text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
}

/// A section with its place found.
struct Placed {
    const TestSection* spec = nullptr;
    std::uint32_t virtual_address = 0;
    std::uint32_t virtual_size = 0;
    std::uint32_t pointer_to_raw_data = 0;
    std::uint32_t size_of_raw_data = 0;
};

/// Writes the contents of sections, which point at each other, once all have their place.
class Contents {
public:
    Contents(const PeSpec& spec, std::vector<Placed>& sections) : spec_(spec), sections_(sections) {}

    [[nodiscard]] Bytes of(const Placed& section) const {
        switch (section.spec->content) {
            case Content::bytes: return section.spec->data;
            case Content::code: return code();
            case Content::exports: return exports(section.virtual_address);
            case Content::fatbin: return fatbin(*section.spec);
            case Content::wrapper: return wrapper(section);
            case Content::relocations: return relocations();
        }
        return {};
    }

private:
    [[nodiscard]] std::size_t pointer_size() const { return spec_.pe32_plus ? 8 : 4; }

    /// Null if there is none.
    [[nodiscard]] const Placed* first(Content content) const {
        const auto it = std::find_if(sections_.begin(), sections_.end(),
                                     [&](const Placed& s) { return s.spec->content == content; });
        return it == sections_.end() ? nullptr : &*it;
    }

    [[nodiscard]] Bytes code() const {
        if (spec_.machine == IMAGE_FILE_MACHINE_ARM64) {
            return {0x40, 0x05, 0x80, 0x52, 0xC0, 0x03, 0x5F, 0xD6};  // mov w0, #42; ret
        }
        return {0xB8, 0x2A, 0x00, 0x00, 0x00, 0xC3};  // mov eax, 42; ret
    }

    [[nodiscard]] Bytes exports(std::uint32_t at) const {
        std::vector<std::pair<std::string_view, std::uint32_t>> symbols;  // sorted by name
        const std::array<std::pair<std::string_view, Content>, 3> possible{{{"fixnvpe_answer", Content::code},
                                                                            {"fixnvpe_fatbin", Content::fatbin},
                                                                            {"fixnvpe_wrapper", Content::wrapper}}};
        for (const auto& [name, content] : possible) {
            if (const Placed* target = first(content)) {
                symbols.emplace_back(name, target->virtual_address);
            }
        }
        const auto data = std::find_if(sections_.begin(), sections_.end(),
                                       [](const Placed& section) { return section.spec->name == ".data"; });
        if (spec_.exports_data && data != sections_.end()) {
            symbols.emplace_back("fixnvpe_variable", data->virtual_address);
            std::sort(symbols.begin(), symbols.end());
        }
        const std::size_t count = symbols.size();
        constexpr std::uint32_t directory_size = 40;
        const std::uint32_t addresses = at + directory_size;
        const auto pointers_to_names = static_cast<std::uint32_t>(addresses + 4 * count);
        const auto ordinals = static_cast<std::uint32_t>(pointers_to_names + 4 * count);
        const auto dll_name = static_cast<std::uint32_t>(ordinals + 2 * count);
        constexpr std::string_view dll_name_text{"fixnvpe_test.dll\0", 17};

        Bytes bytes;
        append(bytes, 4, 0);  // Characteristics
        append(bytes, 4, spec_.time_date_stamp);
        append(bytes, 4, 0);  // MajorVersion, MinorVersion
        append(bytes, 4, dll_name);
        append(bytes, 4, 1);  // Base
        append(bytes, 4, count);
        append(bytes, 4, count);
        append(bytes, 4, addresses);
        append(bytes, 4, pointers_to_names);
        append(bytes, 4, ordinals);
        for (const auto& [name, address] : symbols) {
            append(bytes, 4, address);
        }
        auto name_address = static_cast<std::uint32_t>(dll_name + dll_name_text.size());
        for (const auto& [name, address] : symbols) {
            append(bytes, 4, name_address);
            name_address += static_cast<std::uint32_t>(name.size() + 1);
        }
        for (std::size_t i = 0; i < count; ++i) {
            append(bytes, 2, i);
        }
        append(bytes, dll_name_text);
        for (const auto& [name, address] : symbols) {
            append(bytes, name);
            append(bytes, 1, 0);
        }
        return bytes;
    }

    [[nodiscard]] static Bytes fatbin(const TestSection& section) {
        Bytes bytes;
        append(bytes, 4, 0xBA55ED50);  // magic of a fat binary
        append(bytes, 2, 1);           // version
        append(bytes, 2, 16);          // bytes of this header
        append(bytes, 8, section.fatbin_size);
        Rng rng(section.fatbin_size);
        const Bytes body = random_bytes(rng, section.fatbin_size);
        bytes.insert(bytes.end(), body.begin(), body.end());
        return bytes;
    }

    [[nodiscard]] Bytes wrapper(const Placed& section) const {
        std::uint32_t target = 0;
        for (const Placed& other : sections_) {
            if (other.virtual_address < section.virtual_address && other.spec->content == Content::fatbin) {
                target = other.virtual_address;
            }
        }
        Bytes bytes;
        append(bytes, 4, 0x466243B1);  // magic of __fatBinC_Wrapper_t
        append(bytes, 4, 1);           // version
        append(bytes, pointer_size(), spec_.image_base + target);
        append(bytes, pointer_size(), 0);
        return bytes;
    }

    [[nodiscard]] Bytes relocations() const {
        constexpr std::uint32_t pointer_in_wrapper = 8;
        constexpr std::uint32_t based_dir64 = 10;
        constexpr std::uint32_t based_highlow = 3;
        const std::uint32_t type = spec_.pe32_plus ? based_dir64 : based_highlow;
        Bytes bytes;
        for (const Placed& section : sections_) {
            if (section.spec->content == Content::wrapper) {
                const std::uint32_t address = section.virtual_address + pointer_in_wrapper;
                append(bytes, 4, address - address % PAGE_SIZE_BYTES);
                append(bytes, 4, 12);  // bytes of this block
                append(bytes, 2, type << 12 | address % PAGE_SIZE_BYTES);
                append(bytes, 2, 0);  // padding: IMAGE_REL_BASED_ABSOLUTE
            }
        }
        if (bytes.empty()) {  // a block that relocates nothing
            append(bytes, 4, PAGE_SIZE_BYTES);
            append(bytes, 4, 12);
            append(bytes, 4, 0);
        }
        return bytes;
    }

    const PeSpec& spec_;
    const std::vector<Placed>& sections_;
};

std::size_t optional_header_size(const PeSpec& spec) {
    return (spec.pe32_plus ? size_of::OptionalHeader64 : size_of::OptionalHeader32) +
           spec.number_of_rva_and_sizes * size_of::DataDirectory + spec.optional_header_padding;
}

std::size_t optional_header_offset(const PeSpec& spec) {
    return spec.e_lfanew + size_of::NtSignatureAndFileHeader;
}

std::uint32_t size_of_headers(const PeSpec& spec) {
    const std::size_t end =
        optional_header_offset(spec) + optional_header_size(spec) + spec.sections.size() * size_of::SectionHeader;
    return static_cast<std::uint32_t>(round_up(end, spec.file_alignment));
}

/// Gives each section its place, behind the one before it.
std::vector<Placed> place(const PeSpec& spec) {
    std::vector<Placed> sections(spec.sections.size());
    for (std::size_t i = 0; i < sections.size(); ++i) {
        sections[i].spec = &spec.sections[i];
    }
    const Contents contents(spec, sections);
    std::uint64_t address = round_up(size_of_headers(spec), spec.section_alignment);
    std::uint64_t offset = size_of_headers(spec);
    // What the contents point to has no place yet, but their lengths don't depend on it.
    for (Placed& section : sections) {
        const TestSection& it = *section.spec;
        const std::uint64_t length = contents.of(section).size();
        const std::uint64_t raw_size = round_up(std::max<std::uint64_t>(it.raw_size, length), spec.file_alignment);
        if (spec.section_alignment < PAGE_SIZE_BYTES) {
            offset = address;  // Windows maps such a file as a whole: addresses are file offsets
        }
        section.virtual_size = it.virtual_size != 0 ? it.virtual_size : static_cast<std::uint32_t>(length);
        section.virtual_address = it.virtual_address.value_or(static_cast<std::uint32_t>(address));
        section.size_of_raw_data = it.size_of_raw_data.value_or(static_cast<std::uint32_t>(raw_size));
        section.pointer_to_raw_data =
            it.pointer_to_raw_data.value_or(section.size_of_raw_data != 0 ? static_cast<std::uint32_t>(offset) : 0);
        address = round_up(section.virtual_address + std::uint64_t{std::max(section.virtual_size, 1U)},
                           spec.section_alignment);
        offset = std::max(offset, std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data);
    }
    return sections;
}

Bytes header_bytes(const PeSpec& spec, const std::vector<Placed>& sections,
                   const std::map<std::uint32_t, DataDirectory>& directories) {
    Bytes bytes(size_of_headers(spec));
    put(bytes, 0, 2, IMAGE_DOS_SIGNATURE);
    put(bytes, offset::e_lfanew, 4, spec.e_lfanew);
    if (spec.e_lfanew >= size_of::DosHeader + DOS_STUB_TEXT.size()) {
        std::copy(DOS_STUB_TEXT.begin(), DOS_STUB_TEXT.end(), bytes.begin() + size_of::DosHeader);
    }

    const std::size_t nt = spec.e_lfanew;
    put(bytes, nt, 4, IMAGE_NT_SIGNATURE);
    put(bytes, nt + offset::Machine, 2, spec.machine);
    put(bytes, nt + offset::NumberOfSections, 2, sections.size());
    put(bytes, nt + offset::TimeDateStamp, 4, spec.time_date_stamp);
    put(bytes, nt + offset::SizeOfOptionalHeader, 2, optional_header_size(spec));
    put(bytes, nt + CHARACTERISTICS_OF_FILE, 2, spec.file_characteristics);

    const std::size_t optional = optional_header_offset(spec);
    put(bytes, optional + offset::Magic, 2,
        spec.pe32_plus ? IMAGE_NT_OPTIONAL_HDR64_MAGIC : IMAGE_NT_OPTIONAL_HDR32_MAGIC);
    put(bytes, optional + MAJOR_LINKER_VERSION, 1, 14);
    std::uint64_t image_end = round_up(size_of_headers(spec), spec.section_alignment);
    for (const Placed& section : sections) {
        if ((section.spec->characteristics & SECTION_CODE) == SECTION_CODE) {
            put(bytes, optional + SIZE_OF_CODE, 4, section.size_of_raw_data);
            put(bytes, optional + BASE_OF_CODE, 4, section.virtual_address);
        }
        image_end = std::max(
            image_end, round_up(std::uint64_t{section.virtual_address} + section.virtual_size, spec.section_alignment));
    }
    if (spec.pe32_plus) {
        put(bytes, optional + offset::ImageBase64, 8, spec.image_base);
    } else {
        put(bytes, optional + offset::ImageBase32, 4, spec.image_base);
    }
    put(bytes, optional + offset::SectionAlignment, 4, spec.section_alignment);
    put(bytes, optional + FILE_ALIGNMENT, 4, spec.file_alignment);
    put(bytes, optional + MAJOR_OPERATING_SYSTEM_VERSION, 2, 6);
    put(bytes, optional + MAJOR_SUBSYSTEM_VERSION, 2, 6);
    put(bytes, optional + SIZE_OF_IMAGE, 4, image_end);
    put(bytes, optional + SIZE_OF_HEADERS, 4, size_of_headers(spec));
    put(bytes, optional + SUBSYSTEM, 2, 2);  // Windows GUI
    put(bytes, optional + offset::DllCharacteristics, 2, spec.dll_characteristics);
    const std::size_t word = spec.pe32_plus ? 8 : 4;
    constexpr std::array<std::uint32_t, 4> reserves{0x100000, 0x1000, 0x100000, 0x1000};  // stack, heap
    for (std::size_t i = 0; i < reserves.size(); ++i) {
        put(bytes, optional + SIZE_OF_STACK_RESERVE + i * word, word, reserves[i]);
    }
    put(bytes, optional + (spec.pe32_plus ? offset::NumberOfRvaAndSizes64 : offset::NumberOfRvaAndSizes32), 4,
        spec.number_of_rva_and_sizes);

    const std::size_t first_directory =
        optional + (spec.pe32_plus ? size_of::OptionalHeader64 : size_of::OptionalHeader32);
    for (const auto& [index, directory] : directories) {
        if (index < spec.number_of_rva_and_sizes) {
            put(bytes, first_directory + index * size_of::DataDirectory, 4, directory.virtual_address);
            put(bytes, first_directory + index * size_of::DataDirectory + 4, 4, directory.size);
        }
    }

    std::size_t header = optional + optional_header_size(spec);
    for (const Placed& section : sections) {
        const std::string& name = section.spec->name;
        if (name.size() > size_of::SectionName) {
            throw std::logic_error("section name too long: " + name);
        }
        std::copy(name.begin(), name.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header + offset::Name));
        put(bytes, header + offset::VirtualSize, 4, section.virtual_size);
        put(bytes, header + offset::VirtualAddress, 4, section.virtual_address);
        put(bytes, header + offset::SizeOfRawData, 4, section.size_of_raw_data);
        put(bytes, header + offset::PointerToRawData, 4, section.pointer_to_raw_data);
        put(bytes, header + offset::Characteristics, 4, section.spec->characteristics);
        header += size_of::SectionHeader;
    }
    return bytes;
}

/// The sum of 16-bit words with end-around carry over the parts of a file: zeros between them add nothing.
std::uint32_t check_sum_of(const TestFile& file) {
    std::uint64_t sum = 0;
    for (const TestFile::Part& part : file.parts) {
        for (std::size_t i = 0; i < part.bytes.size(); ++i) {
            const bool high = (part.offset + i) % 2 != 0;
            sum += std::uint64_t{part.bytes[i]} << (high ? 8 : 0);
        }
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint32_t>(sum + file.size);
}

}  // namespace

std::vector<std::uint8_t> TestFile::first(std::uint64_t count) const {
    Bytes result(static_cast<std::size_t>(std::min(count, size)));
    for (const Part& part : parts) {
        if (part.offset < result.size()) {
            const std::size_t length =
                std::min(part.bytes.size(), result.size() - static_cast<std::size_t>(part.offset));
            std::copy_n(part.bytes.begin(), length, result.begin() + static_cast<std::ptrdiff_t>(part.offset));
        }
    }
    return result;
}

void TestFile::write(const std::filesystem::path& path) const {
    {
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        for (const Part& part : parts) {
            out.seekp(static_cast<std::streamoff>(part.offset));
            out.write(reinterpret_cast<const char*>(part.bytes.data()),
                      static_cast<std::streamsize>(part.bytes.size()));
        }
        if (!out.flush()) {
            throw std::runtime_error("cannot write " + path.string());
        }
    }
    std::filesystem::resize_file(path, size);
}

TestFile build(const PeSpec& spec) {
    std::vector<Placed> sections = place(spec);
    const Contents contents(spec, sections);
    TestFile file;
    file.parts.emplace_back();  // the headers, once all is known that stands in them
    file.size = size_of_headers(spec);

    std::map<std::uint32_t, DataDirectory> directories;
    for (const Placed& section : sections) {
        Bytes bytes = contents.of(section);
        const auto length = static_cast<std::uint32_t>(bytes.size());
        if (section.spec->content == Content::exports) {
            directories[IMAGE_DIRECTORY_ENTRY_EXPORT] = {section.virtual_address, length};
        } else if (section.spec->content == Content::relocations) {
            directories[IMAGE_DIRECTORY_ENTRY_BASERELOC] = {section.virtual_address, length};
        }
        if (!bytes.empty()) {
            file.parts.push_back({section.pointer_to_raw_data, std::move(bytes)});
        }
        if (section.size_of_raw_data != 0) {
            file.size = std::max(file.size, std::uint64_t{section.pointer_to_raw_data} + section.size_of_raw_data);
        }
    }
    if (!spec.overlay.empty()) {
        file.parts.push_back({file.size, spec.overlay});
        file.size += spec.overlay.size();
    }
    if (!spec.signature.empty()) {
        constexpr std::uint32_t certificate_header = 8;
        const std::uint64_t at = round_up(file.size, 8);
        Bytes bytes;
        const std::uint64_t length = round_up(certificate_header + spec.signature.size(), 8);
        append(bytes, 4, length);
        append(bytes, 2, 0x0200);  // WIN_CERT_REVISION_2_0
        append(bytes, 2, 0x0002);  // WIN_CERT_TYPE_PKCS_SIGNED_DATA
        bytes.insert(bytes.end(), spec.signature.begin(), spec.signature.end());
        bytes.resize(static_cast<std::size_t>(length));
        directories[IMAGE_DIRECTORY_ENTRY_SECURITY] = {static_cast<std::uint32_t>(at),
                                                       static_cast<std::uint32_t>(length)};
        file.parts.push_back({at, std::move(bytes)});
        file.size = at + length;
    }
    for (const auto& [index, directory] : spec.directories) {
        directories[index] = directory;
    }

    file.parts.front().bytes = header_bytes(spec, sections, directories);
    std::sort(file.parts.begin(), file.parts.end(),
              [](const TestFile::Part& a, const TestFile::Part& b) { return a.offset < b.offset; });
    std::uint32_t check_sum = check_sum_of(file);
    switch (spec.check_sum) {
        case CheckSum::zero: check_sum = 0; break;
        case CheckSum::right: break;
        case CheckSum::wrong:
            check_sum += check_sum - static_cast<std::uint32_t>(file.size) == 0xFFFF ? -1U : 1U;
            break;
        case CheckSum::impossible: check_sum = static_cast<std::uint32_t>(file.size) + 0x10000; break;
    }
    put(file.parts.front().bytes, optional_header_offset(spec) + offset::CheckSum, 4, check_sum);
    return file;
}

PeSpec plain_dll(std::uint16_t machine) {
    PeSpec spec;
    spec.machine = machine;
    if (machine == IMAGE_FILE_MACHINE_I386) {
        spec.pe32_plus = false;
        spec.image_base = 0x10000000;
        spec.file_characteristics = 0x2102;  // DLL, 32 bits, executable
        spec.dll_characteristics = IMAGE_DLLCHARACTERISTICS_NX_COMPAT | IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE;
    }
    spec.sections = {
        {.name = ".text", .characteristics = SECTION_CODE, .content = Content::code},
        {.name = ".rdata", .characteristics = SECTION_READ_ONLY, .content = Content::exports},
        {.name = ".data", .characteristics = SECTION_WRITABLE, .data = Bytes(16, 0xDA), .virtual_size = 6000},
        {.name = ".reloc", .characteristics = SECTION_RELOC, .content = Content::relocations},
    };
    return spec;
}

PeSpec cuda_dll(std::uint16_t machine, std::uint32_t fatbin_characteristics) {
    PeSpec spec = plain_dll(machine);
    const TestSection fatbin{.name = ".nv_fatb", .characteristics = fatbin_characteristics, .content = Content::fatbin};
    const TestSection wrapper{.name = ".nvFatBi", .characteristics = SECTION_WRITABLE, .content = Content::wrapper};
    spec.sections.insert(spec.sections.end() - 1, {fatbin, wrapper});
    return spec;
}

TestSection& section(PeSpec& spec, const std::string& name) {
    for (TestSection& it : spec.sections) {
        if (it.name == name) {
            return it;
        }
    }
    throw std::out_of_range("no section " + name);
}

std::uint32_t compute_check_sum(const std::vector<std::uint8_t>& file) {
    const std::size_t field =
        load_le<std::uint32_t>(file, offset::e_lfanew) + size_of::NtSignatureAndFileHeader + offset::CheckSum;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < file.size(); i += 2) {
        const auto byte = [&](std::size_t at) -> std::uint32_t {
            return at >= file.size() || (at >= field && at < field + 4) ? 0 : file[at];
        };
        sum += byte(i) | byte(i + 1) << 8;
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum + static_cast<std::uint32_t>(file.size());
}

std::uint64_t below(Rng& rng, std::uint64_t count) {
    return rng() % count;
}

bool chance(Rng& rng, unsigned percent) {
    return below(rng, 100) < percent;
}

std::vector<std::uint8_t> random_bytes(Rng& rng, std::size_t count) {
    Bytes bytes(count);
    for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(rng());
    }
    return bytes;
}

PeSpec random_pe(std::uint64_t seed) {
    Rng rng(seed);
    constexpr std::array<std::uint16_t, 3> machines{IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_I386,
                                                    IMAGE_FILE_MACHINE_ARM64};
    PeSpec spec = plain_dll(machines[below(rng, machines.size())]);
    spec.e_lfanew = static_cast<std::uint32_t>(64 + 4 * below(rng, 100));
    spec.time_date_stamp = static_cast<std::uint32_t>(rng());
    spec.dll_characteristics =
        static_cast<std::uint16_t>(rng() & ~std::uint64_t{IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY});
    spec.section_alignment = static_cast<std::uint32_t>(PAGE_SIZE_BYTES << below(rng, 3));
    spec.file_alignment = static_cast<std::uint32_t>(512U << below(rng, 4));
    if (chance(rng, 20)) {
        spec.number_of_rva_and_sizes = static_cast<std::uint32_t>(below(rng, 17));
    }
    if (chance(rng, 20)) {
        spec.optional_header_padding = static_cast<std::uint16_t>(8 * below(rng, 8));
    }
    spec.check_sum = static_cast<CheckSum>(below(rng, 4));

    constexpr std::array<const char*, 8> names{".nv_fat", ".nvFatBi", ".NV_FATB", ".bss",
                                               "",        ".nv_fatc", "_RDATA",   "\xFF\xFE"};
    for (std::uint64_t i = below(rng, 5); i > 0; --i) {
        TestSection extra;
        extra.name = names[below(rng, names.size())];
        extra.characteristics = chance(rng, 50) ? SECTION_WRITABLE : SECTION_READ_ONLY;
        extra.data = random_bytes(rng, below(rng, 700));
        extra.virtual_size = static_cast<std::uint32_t>(below(rng, 20000));
        spec.sections.insert(spec.sections.begin() + static_cast<std::ptrdiff_t>(below(rng, spec.sections.size() + 1)),
                             extra);
    }
    for (std::uint64_t i = below(rng, 4); i > 0; --i) {
        TestSection fatbin;
        fatbin.name = chance(rng, 30) ? RELOCATABLE_FATBIN_SECTION : FATBIN_SECTION;
        fatbin.characteristics =
            (chance(rng, 60) ? SECTION_WRITABLE : SECTION_READ_ONLY) | (chance(rng, 10) ? IMAGE_SCN_MEM_SHARED : 0);
        fatbin.content = Content::fatbin;
        fatbin.fatbin_size = below(rng, 3000);
        const TestSection wrapper{.name = ".nvFatBi", .characteristics = SECTION_WRITABLE, .content = Content::wrapper};
        spec.sections.insert(spec.sections.begin() + static_cast<std::ptrdiff_t>(below(rng, spec.sections.size() + 1)),
                             {fatbin, wrapper});
    }
    if (chance(rng, 30)) {
        spec.overlay = random_bytes(rng, 1 + below(rng, 900));
    }
    if (chance(rng, 30) && spec.number_of_rva_and_sizes > IMAGE_DIRECTORY_ENTRY_SECURITY) {
        spec.signature = random_bytes(rng, 1 + below(rng, 900));
    }
    return spec;
}

void mutate(std::vector<std::uint8_t>& bytes, Rng& rng) {
    struct Place {
        std::size_t offset;
        std::size_t width;
    };
    const std::size_t nt = bytes.size() >= size_of::DosHeader ? load_le<std::uint32_t>(bytes, offset::e_lfanew) : 0;
    const std::size_t optional = nt + size_of::NtSignatureAndFileHeader;
    const auto any_section_field = [&]() -> Place {
        constexpr std::array<std::size_t, 6> fields{
            offset::Name,          offset::VirtualSize,      offset::VirtualAddress,
            offset::SizeOfRawData, offset::PointerToRawData, offset::Characteristics};
        const std::size_t at = nt + offset::SizeOfOptionalHeader;
        const std::size_t size = at + 2 <= bytes.size() ? load_le<std::uint16_t>(bytes, at) : 0;
        return {optional + size + size_of::SectionHeader * below(rng, 12) + fields[below(rng, fields.size())], 4};
    };
    const auto any_field = [&]() -> Place {
        const std::array<Place, 20> fields{{
            {0, 2},
            {offset::e_lfanew, 4},
            {nt, 4},
            {nt + offset::Machine, 2},
            {nt + offset::NumberOfSections, 2},
            {nt + offset::TimeDateStamp, 4},
            {nt + offset::PointerToSymbolTable, 4},
            {nt + offset::NumberOfSymbols, 4},
            {nt + offset::SizeOfOptionalHeader, 2},
            {optional + offset::Magic, 2},
            {optional + offset::ImageBase64, 8},
            {optional + offset::ImageBase32, 4},
            {optional + offset::SectionAlignment, 4},
            {optional + offset::CheckSum, 4},
            {optional + offset::DllCharacteristics, 2},
            {optional + offset::NumberOfRvaAndSizes32, 4},
            {optional + offset::NumberOfRvaAndSizes64, 4},
            {optional + size_of::OptionalHeader32 + 4 * below(rng, 32), 4},
            {optional + size_of::OptionalHeader64 + 4 * below(rng, 32), 4},
            {optional + FILE_ALIGNMENT, 4},
        }};
        return chance(rng, 35) ? any_section_field() : fields[below(rng, fields.size())];
    };
    const auto breaking_value = [&](std::size_t width, std::uint64_t old) -> std::uint64_t {
        const std::uint64_t all_ones = ~std::uint64_t{0} >> (64 - 8 * width);
        switch (below(rng, 9)) {
            case 0: return 0;
            case 1: return below(rng, 8);
            case 2: return all_ones;
            case 3: return all_ones >> 1;
            case 4: return old + 1;
            case 5: return old - 1;
            case 6: return old ^ (std::uint64_t{1} << below(rng, 8 * width));
            case 7: return 4 * below(rng, 128);  // a small multiple: offsets that overlap other fields
            default: return rng();
        }
    };

    constexpr std::array<unsigned, 8> counts{1, 1, 1, 1, 1, 2, 3, 4};
    for (unsigned n = counts[below(rng, counts.size())]; n > 0 && !bytes.empty(); --n) {
        const std::size_t headers = std::min<std::size_t>(bytes.size(), 1024);
        switch (below(rng, 16)) {
            case 0: bytes[below(rng, headers)] ^= static_cast<std::uint8_t>(1U << below(rng, 8)); break;
            case 1: bytes[below(rng, headers)] = static_cast<std::uint8_t>(rng()); break;
            case 2: bytes.resize(below(rng, headers)); break;
            default:
                const Place place = any_field();
                if (place.offset <= bytes.size() && bytes.size() - place.offset >= place.width) {
                    std::uint64_t old = 0;
                    for (std::size_t i = 0; i < place.width; ++i) {
                        old |= std::uint64_t{bytes[place.offset + i]} << (8 * i);
                    }
                    store_le(bytes, place.offset, place.width, breaking_value(place.width, old));
                }
        }
    }
}

}  // namespace fixnvpe::test
