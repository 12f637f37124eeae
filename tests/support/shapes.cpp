#include "support/shapes.hpp"

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

Shape shape(const nlohmann::json& facts) {
    Shape shape;
    shape.name = facts.at("package").get<std::string>() + " " + facts.at("version").get<std::string>() + " " +
                 facts.at("file").get<std::string>();
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
    }
    return shape;
}

}  // namespace

TestFile Shape::file() const {
    TestFile file = build(spec);
    file.size = file_size;
    store_le(file.parts.front().bytes, spec.e_lfanew + size_of::NtSignatureAndFileHeader + offset::CheckSum,
             sizeof(check_sum), check_sum);
    return file;
}

std::vector<Shape> read_shapes() {
    const std::string path = FIXNVPE_TESTDATA_DIR "/shapes.jsonl";
    std::ifstream in(path);
    std::vector<Shape> shapes;
    for (std::string line; std::getline(in, line);) {
        shapes.push_back(shape(nlohmann::json::parse(line)));
    }
    if (shapes.empty()) {
        throw std::runtime_error("no shapes in " + path);
    }
    return shapes;
}

}  // namespace fixnvpe::test
