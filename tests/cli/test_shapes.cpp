// Files in the shape of real CUDA DLLs (testdata/shapes.jsonl, testdata/real.jsonl): their headers, sizes, fat binaries
// and relocations, and holes for all else. What is expected of them follows from what other programs read in the real
// ones.

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "fixnvpe/base/bytes.hpp"
#include "fixnvpe/os/file.hpp"
#include "support/catch.hpp"
#include "support/print_session.hpp"
#include "support/session.hpp"
#include "support/shapes.hpp"

namespace fixnvpe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uint32_t MEM_WRITE = 0x80000000;
constexpr std::uint32_t DYNAMIC_BASE = 0x40;
constexpr std::size_t WINDOW = 4096;
constexpr std::uint64_t MIB = 1 << 20;

bool is_fatbin(const TestSection& section) {
    return section.name == ".nv_fatb" || section.name == "__nv_rel";
}

/// One shape as a file here.
struct File {
    Shape shape;
    TestFile made;
    fs::path path;
    std::string headers;  ///< its first bytes, as they were made
};

/// All that a shape has between its holes.
std::string parts_of(const TestFile& made) {
    std::string bytes;
    for (const TestFile::Part& part : made.parts) {
        bytes.append(part.bytes.begin(), part.bytes.end());
    }
    return bytes;
}

/// What stands in the file at these places now.
std::string parts_of(const fs::path& path, const TestFile& made) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes;
    for (const TestFile::Part& part : made.parts) {
        std::string piece(part.bytes.size(), '\0');
        in.seekg(static_cast<std::streamoff>(part.offset));
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        bytes += piece;
    }
    REQUIRE(in.good());
    return bytes;
}

std::string window_of(const fs::path& path) {
    std::string bytes(WINDOW, '\0');
    std::ifstream(path, std::ios::binary).read(bytes.data(), WINDOW);
    return bytes;
}

std::vector<File> write_shapes(const Session& session) {
    std::vector<File> files;
    for (Shape& shape : read_shapes()) {
        const fs::path path = session / "lib" / std::to_string(files.size()) / shape.file_name;
        fs::create_directories(path.parent_path());
        TestFile made = shape.file();
        made.write(path);
        files.push_back({std::move(shape), std::move(made), path, window_of(path)});
    }
    return files;
}

/// The JSON of each, in the order of `files`.
std::vector<Json> answers(const Session& session, const std::vector<File>& files,
                          const std::vector<std::string>& arguments, int exit_status) {
    const Json document = session.json(arguments);
    REQUIRE(document.at("exit_status") == exit_status);
    std::map<std::string, Json> by_path;
    for (const Json& file : document.at("files")) {
        by_path[file.at("path").get<std::string>()] = file;
    }
    REQUIRE(by_path.size() == files.size());
    std::vector<Json> result;
    for (const File& file : files) {
        result.push_back(by_path.at(fs::relative(file.path, session.folder()).generic_string()));
    }
    return result;
}

/// What a policy leads to, by the facts alone.
struct Expected {
    std::string status;
    bool changes = false;
    std::uint32_t dll_characteristics = 0;
    std::vector<std::uint32_t> characteristics;  ///< of each section
};

Expected expected(const Shape& shape, const std::string& aslr) {
    Expected result;
    bool any = false;
    bool writable = false;
    for (const TestSection& section : shape.spec.sections) {
        const bool loses_it = is_fatbin(section) && (section.characteristics & MEM_WRITE) != 0;
        any = any || is_fatbin(section);
        writable = writable || loses_it;
        result.characteristics.push_back(section.characteristics & ~(loses_it ? MEM_WRITE : 0));
    }
    const std::uint32_t flags = shape.spec.dll_characteristics;
    const bool loses_aslr = (flags & DYNAMIC_BASE) != 0 && (aslr == "clear" ? any : aslr == "auto" && writable);
    result.changes = writable || loses_aslr;
    result.status = !any                          ? "no-fatbin"
                    : result.changes              ? "unpatched"
                    : (flags & DYNAMIC_BASE) == 0 ? "patched"
                                                  : "not-needed";
    result.dll_characteristics = flags & ~(loses_aslr ? DYNAMIC_BASE : 0);
    return result;
}

/// CheckSum, which is the sum of all 16-bit words plus the size, after `before` became `after`.
std::uint32_t check_sum_after(const Shape& shape, const std::string& before, const std::string& after) {
    if (shape.check_sum == 0) {
        return 0;
    }
    std::uint64_t sum = (shape.check_sum - shape.file_size) & 0xFFFFFFFF;
    REQUIRE(sum <= 0xFFFF);
    const std::size_t check_sum_at = shape.spec.e_lfanew + 24 + 64;
    for (std::size_t i = 0; i < WINDOW; i += 2) {
        if (i != check_sum_at && i != check_sum_at + 2) {
            const auto word = [&](const std::string& bytes) {
                return static_cast<std::uint8_t>(bytes[i]) + 256U * static_cast<std::uint8_t>(bytes[i + 1]);
            };
            sum += word(after) + (0xFFFFU - word(before));
        }
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint32_t>((sum + shape.file_size) & 0xFFFFFFFF);
}

/// The window as the policy is to make it: each field where the specification has it.
std::string patched_window(const File& file, const Expected& expected) {
    std::vector<std::uint8_t> bytes(file.headers.begin(), file.headers.end());
    const std::size_t optional = file.shape.spec.e_lfanew + 24;
    store_le(bytes, optional + 70, 2, expected.dll_characteristics);
    const std::size_t table =
        optional + (file.shape.spec.pe32_plus ? 112 : 96) + 8 * file.shape.spec.number_of_rva_and_sizes;
    for (std::size_t i = 0; i < expected.characteristics.size(); ++i) {
        store_le(bytes, table + 40 * i + 36, 4, expected.characteristics[i]);
    }
    const std::uint32_t check_sum = check_sum_after(file.shape, file.headers, std::string(bytes.begin(), bytes.end()));
    store_le(bytes, optional + 64, 4, check_sum);
    return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("shapes: verify and scan say of 113 real DLLs what other programs found in them", "[posix]") {
    const Session session;
    const std::vector<File> files = write_shapes(session);
    REQUIRE(files.size() == 24 + 89);
    std::map<std::string, int> counts;
    std::uint64_t now = 0;
    std::uint64_t saved = 0;
    const std::vector<Json> verified = answers(session, files, {"verify", "-v", "lib"}, 1);
    const std::vector<Json> scanned = answers(session, files, {"scan", "-v", "lib"}, 0);
    for (std::size_t i = 0; i < files.size(); ++i) {
        const Shape& shape = files[i].shape;
        INFO(shape.name);
        for (const Json& answer : {verified[i], scanned[i]}) {
            CHECK(answer.at("status") == expected(shape, "auto").status);
            CHECK(answer.at("size") == shape.file_size);
            CHECK(answer.at("signed") == (shape.spec.directories.count(IMAGE_DIRECTORY_ENTRY_SECURITY) != 0));
            CHECK(answer.at("commit").at("now") == shape.commit_now);
            CHECK(answer.at("commit").at("saved") == shape.commit_saved);
            CHECK(answer.at("note_codes") == Json::array());
        }
        ++counts[verified[i].at("status")];
        now += shape.commit_now;
        saved += shape.commit_saved;
        CHECK(os::info_of(files[i].path).allocated < MIB);
    }
    // Counted from the two files by hand, so that a line that is lost is noticed.
    CHECK(counts["unpatched"] == 49);
    CHECK(counts["not-needed"] == 53);
    CHECK(counts["no-fatbin"] == 11);
    CHECK(now == 5'388'357'632);
    CHECK(saved == 3'798'519'808);
}

TEST_CASE("shapes: patch changes of 113 real DLLs the fields that the facts say, and restore gives all back",
          "[posix]") {
    for (const std::string aslr : {"auto", "keep", "clear"}) {
        for (const std::string backup : {"full", "undo", "none"}) {
            const Session session;
            const std::vector<File> files = write_shapes(session);
            const std::vector<std::string> patch{"patch", "-v", "--aslr", aslr, "--backup", backup, "lib"};
            const std::vector<Json> done = answers(session, files, patch, 0);
            std::vector<std::string> restore{"restore"};
            for (std::size_t i = 0; i < files.size(); ++i) {
                const File& file = files[i];
                INFO(file.shape.name << " --aslr " << aslr << " --backup " << backup);
                const Expected is = expected(file.shape, aslr);
                CHECK(done[i].at("action") == (is.changes ? "patched" : "none"));
                CHECK((window_of(file.path) == patched_window(file, is)));
                CHECK(fs::file_size(file.path) == file.shape.file_size);
                CHECK(os::info_of(file.path).allocated < MIB);
                if (is.changes && backup == "full") {
                    const fs::path kept = file.path.string() + ".bak";
                    CHECK((parts_of(kept, file.made) == parts_of(file.made)));
                    CHECK(fs::file_size(kept) == file.shape.file_size);
                }
                // All bytes are compared first where CheckSum is zero, and holes take as long as others.
                if (backup != "full" || file.shape.file_size < 8 * MIB) {
                    restore.push_back(file.path.string());
                }
            }
            const std::string names = session.names();
            for (const Json& again : answers(session, files, patch, 0)) {
                CHECK(again.at("action") == "none");
            }
            CHECK(session.names() == names);
            if (backup == "none") {
                continue;
            }
            REQUIRE(restore.size() > 10);
            REQUIRE(session.fixnvpe(restore).exit_status == 0);
            for (const File& file : files) {
                if (std::find(restore.begin(), restore.end(), file.path.string()) != restore.end()) {
                    INFO(file.shape.name);
                    CHECK((parts_of(file.path, file.made) == parts_of(file.made)));
                    CHECK(fs::file_size(file.path) == file.shape.file_size);
                }
            }
        }
    }
}

}  // namespace fixnvpe::test
