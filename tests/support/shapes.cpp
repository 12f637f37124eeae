#include "support/shapes.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "fixnvpe/base/bytes.hpp"

namespace fixnvpe::test {
namespace {

std::uint64_t hexadecimal(const nlohmann::json& value) {
    return std::stoull(value.get<std::string>(), nullptr, 16);
}

std::uint16_t machine(const std::string& name) {
    const std::map<std::string, std::uint16_t> machines{{"IMAGE_FILE_MACHINE_AMD64", IMAGE_FILE_MACHINE_AMD64},
                                                        {"IMAGE_FILE_MACHINE_I386", IMAGE_FILE_MACHINE_I386},
                                                        {"IMAGE_FILE_MACHINE_ARM64", IMAGE_FILE_MACHINE_ARM64}};
    return machines.at(name);
}

std::uint32_t directory_index(const std::string& name) {
    const std::map<std::string, std::uint32_t> indexes{
        {"EXPORT", 0}, {"IMPORT", 1}, {"RESOURCE", 2},     {"EXCEPTION", 3}, {"SECURITY", 4},      {"BASERELOC", 5},
        {"DEBUG", 6},  {"TLS", 9},    {"LOAD_CONFIG", 10}, {"IAT", 12},      {"DELAY_IMPORT", 13},
    };
    return indexes.at(name);
}

TestSection test_section(const nlohmann::json& facts) {
    TestSection section;
    const std::string name = facts.at("name_bytes");
    for (std::size_t i = 0; i < name.size(); i += 2) {
        section.name += static_cast<char>(std::stoul(name.substr(i, 2), nullptr, 16));
    }
    section.virtual_size = facts.at("vsize");
    section.virtual_address = facts.at("va").get<std::uint32_t>();
    section.size_of_raw_data = facts.at("rawsize").get<std::uint32_t>();
    section.pointer_to_raw_data = facts.at("rawptr").get<std::uint32_t>();
    section.characteristics = static_cast<std::uint32_t>(hexadecimal(facts.at("ch")));
    return section;
}

ShapeSection shape_section(const nlohmann::json& facts) {
    ShapeSection section;
    section.relocations = facts.value("relocs", 0U);
    for (const nlohmann::json& run : facts.value("fat_binary_runs", nlohmann::json::array())) {
        section.runs.push_back({run.at(0), run.at(1)});
    }
    return section;
}

/// One fat binary of this size, but for the zeros it ends with: its header, and that of its only entry.
std::vector<std::uint8_t> fat_binary(std::uint32_t size) {
    constexpr std::uint32_t header = 16;
    constexpr std::uint32_t entry = 64;
    std::vector<std::uint8_t> bytes(header + entry);
    store_le(bytes, 0, 4, 0xBA55ED50);  // magic
    store_le(bytes, 4, 2, 1);           // version
    store_le(bytes, 6, 2, header);
    store_le(bytes, 8, 8, size - header);
    store_le(bytes, header, 2, 2);  // kind: ELF
    store_le(bytes, header + 2, 2, 0x0101);
    store_le(bytes, header + 4, 4, entry);
    store_le(bytes, header + 8, 8, size - header - entry);
    return bytes;
}

/// Where the relocations of one section lie: 8 bytes each, from its first byte on, but for its runs.
std::vector<std::uint32_t> relocated_places(const ShapeSection& section) {
    std::vector<std::uint32_t> places;
    std::uint32_t at = 0;
    while (places.size() < section.relocations) {
        const auto run =
            std::find_if(section.runs.begin(), section.runs.end(), [&](const ShapeSection::Run& candidate) {
                return at + sizeof(std::uint64_t) > candidate.offset && at < candidate.offset + candidate.size;
            });
        if (run != section.runs.end()) {
            at = run->offset + run->size;
            continue;
        }
        places.push_back(at);
        at += sizeof(std::uint64_t);
    }
    return places;
}

/// A table of base relocations, which are all of 8 bytes.
std::vector<std::uint8_t> relocation_table(const std::vector<std::uint32_t>& places) {
    constexpr std::uint16_t based_dir64 = 10 << 12;
    std::vector<std::uint8_t> table;
    for (std::size_t first = 0; first < places.size();) {
        const std::uint32_t page = places[first] / PAGE_SIZE_BYTES;
        std::size_t end = first;
        while (end < places.size() && places[end] / PAGE_SIZE_BYTES == page) {
            ++end;
        }
        const std::size_t block = table.size();
        table.resize(block + (8 + 2 * (end - first) + 3) / 4 * 4);  // whole words
        store_le(table, block, 4, std::uint64_t{page} * PAGE_SIZE_BYTES);
        store_le(table, block + 4, 4, table.size() - block);
        for (std::size_t i = first; i < end; ++i) {
            store_le(table, block + 8 + 2 * (i - first), 2, based_dir64 | places[i] % PAGE_SIZE_BYTES);
        }
        first = end;
    }
    return table;
}

Shape shape(const nlohmann::json& facts) {
    Shape shape;
    shape.file_name = facts.at("file").get<std::string>();
    shape.name =
        facts.at("package").get<std::string>() + " " + facts.at("version").get<std::string>() + " " + shape.file_name;
    shape.file_size = facts.at("size");
    shape.check_sum = static_cast<std::uint32_t>(hexadecimal(facts.at("checksum_stored")));
    shape.check_sum_right = facts.at("checksum_state") == "right";
    shape.commit_now = facts.at("commit_writable_now");
    shape.commit_saved = facts.at("commit_saved");

    PeSpec& spec = shape.spec;
    spec.machine = machine(facts.at("machine"));
    spec.pe32_plus = facts.at("magic") == "PE32+";
    spec.time_date_stamp = facts.at("timestamp");
    spec.file_characteristics = static_cast<std::uint16_t>(hexadecimal(facts.at("file_characteristics")));
    spec.image_base = hexadecimal(facts.at("imagebase"));
    spec.section_alignment = facts.at("section_align");
    spec.file_alignment = facts.at("file_align");
    spec.e_lfanew = facts.at("e_lfanew");
    spec.dll_characteristics = static_cast<std::uint16_t>(hexadecimal(facts.at("dllchar")));
    spec.number_of_rva_and_sizes = facts.at("nrva");
    for (const auto& [name, place] : facts.at("dirs").items()) {
        spec.directories[directory_index(name)] = {place.at(0), place.at(1)};
    }
    for (const nlohmann::json& section : facts.at("sections")) {
        spec.sections.push_back(test_section(section));
        shape.sections.push_back(shape_section(section));
    }
    return shape;
}

}  // namespace

TestFile Shape::file() const {
    TestFile file = build(spec);
    file.size = file_size;
    store_le(file.parts.front().bytes, spec.e_lfanew + size_of::NtSignatureAndFileHeader + offset::CheckSum,
             sizeof(check_sum), check_sum);
    std::vector<std::uint32_t> relocated;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const std::uint32_t raw = spec.sections[i].pointer_to_raw_data.value();
        for (const ShapeSection::Run& run : sections[i].runs) {
            file.parts.push_back({std::uint64_t{raw} + run.offset, fat_binary(run.size)});
        }
        for (const std::uint32_t place : relocated_places(sections[i])) {
            relocated.push_back(spec.sections[i].virtual_address.value() + place);
        }
    }
    const DataDirectory directory = spec.directories.at(IMAGE_DIRECTORY_ENTRY_BASERELOC);
    for (const TestSection& section : spec.sections) {
        if (!relocated.empty() && section.virtual_address == directory.virtual_address) {
            file.parts.push_back({section.pointer_to_raw_data.value(), relocation_table(relocated)});
            if (file.parts.back().bytes.size() > directory.size) {
                throw std::runtime_error(name + ": its relocations don't fit");
            }
            relocated.clear();
        }
    }
    if (!relocated.empty()) {
        throw std::runtime_error(name + ": no section begins with its relocations");
    }
    std::sort(file.parts.begin(), file.parts.end(),
              [](const TestFile::Part& a, const TestFile::Part& b) { return a.offset < b.offset; });
    return file;
}

std::vector<Shape> read_shapes() {
    std::vector<Shape> shapes;
    for (const char* name : {"shapes.jsonl", "real.jsonl"}) {
        const std::string path = std::string(FIXNVPE_TESTDATA_DIR) + "/" + name;
        std::ifstream in(path);
        const std::size_t before = shapes.size();
        for (std::string line; std::getline(in, line);) {
            shapes.push_back(shape(nlohmann::json::parse(line)));
        }
        if (shapes.size() == before) {
            throw std::runtime_error("no shapes in " + path);
        }
    }
    return shapes;
}

}  // namespace fixnvpe::test
