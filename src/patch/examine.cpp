#include "fixnvpe/patch/examine.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "fixnvpe/os/names.hpp"
#include "fixnvpe/patch/undo_file.hpp"
#include "fixnvpe/pe/reader.hpp"

namespace fixnvpe {
namespace {

/// The one place where a plan is made: from the original, where that is known.
Plan plan_for(const Findings& findings) {
    const Dll& dll = findings.dll;
    const AslrPolicy policy = findings.query.aslr;
    const Sidecar* earlier = earlier_original(findings);
    Plan plan = make_plan(dll.image, dll.info.size, policy);
    const bool half_done = earlier != nullptr && earlier->state == SidecarState::half_done;
    const PeImage begun = half_done ? read_pe(earlier->edited, dll.info.size) : dll.image;
    const Split asked = findings.splits() ? findings.survey->split : Split();
    const bool splits = !is_split(begun) && !asked.pages.empty();
    if (plan.edits.empty() && !half_done && !splits) {
        return plan;
    }
    // The entry of a certificate that was appended since is not the original's, and stays.
    const bool from_original = earlier != nullptr && !earlier->signed_since;
    if (!is_split(begun) && !splits) {
        return from_original
                   ? make_plan_over(read_pe(earlier->original, dll.info.size), begun, dll.image, dll.info.size, policy)
                   : plan;
    }
    const FileHeaders now{dll.headers, dll.info.size, dll.image};
    const PeImage image = from_original ? read_pe(earlier->original, dll.info.size) : dll.image;
    const FileHeaders original = from_original ? FileHeaders{earlier->original, dll.info.size, image} : now;
    const Split split = splits ? asked : split_between(unsplit(original).image, begun);
    return make_split_plan(original, begun, now, split, policy);
}

/// A folder that gave way to a link would lead to files that nobody named.
void must_lie_where_found(const Query& query) {
    const auto parent = query.path.parent_path();
    if (query.folder && os::info_behind(parent.empty() ? "." : parent).identity != *query.folder) {
        throw Error(ErrorCode::changed, "look up: another program replaced the folder meanwhile", Hint::run_again)
            .at(query.path);
    }
}

/// It is no DLL any more; whatever else may have gone wrong, it can be read.
bool is_broken(const Error& error) {
    return error.code() == ErrorCode::not_pe || error.code() == ErrorCode::truncated ||
           error.code() == ErrorCode::malformed;
}

std::optional<os::FileInfo> link_at(const Query& query) {
    const os::FileInfo info = query.is_link ? os::info_of(query.path) : os::FileInfo();
    return info.type == os::FileType::link ? std::optional(info) : std::nullopt;
}

/// A split that was broken off can leave headers that are none, or say what is not so. Its undo file knows them: what
/// is there is then taken for the original.
std::optional<Dll> half_split_dll(const Query& query) {
    for (const SidecarPlace& place : query.candidates) {
        if (place.kind != SidecarKind::undo || os::info_of(place.path).type != os::FileType::regular) {
            continue;
        }
        try {
            const UndoRecord record = read_undo(os::File::open_to_read(place.path));
            const os::File file = os::File::open_to_read(query.path);
            Dll dll{query.path, file.opened_as(), {}, std::vector<std::uint8_t>(record.headers.size()), {}};
            if (record.split.pages.empty() || record.headers.empty() || dll.info.size != record.file_size ||
                file.read_at(0, dll.headers) != dll.headers.size()) {
                return std::nullopt;
            }
            UndoEnds ends = ends_of(record, {dll.headers, dll.info.size, dll.image});
            dll.image = std::move(ends.image);
            return is_between(ends, dll.headers) ? std::optional(dll) : std::nullopt;
        } catch (const Error&) {
            return std::nullopt;  // whoever looks at the undo file itself tells why
        }
    }
    return std::nullopt;
}

void note_broken(Findings& findings, Error& error) {
    const std::filesystem::path& path = findings.query.path;
    findings.dll.path = path;
    findings.dll.info = os::info_of(path);
    const bool missing = findings.dll.info.type == os::FileType::missing;
    findings.presence = missing ? DllFacts::Presence::missing : DllFacts::Presence::damaged;
    findings.why_damaged = std::move(error).at(path);
}

/// Looks for GPU code among its variables, where that is asked for.
std::optional<Survey> survey_of(const Findings& findings) {
    const Dll& dll = findings.dll;
    const bool wanted = findings.query.surveys || findings.query.data == DataPolicy::split;
    if (findings.presence != DllFacts::Presence::there || !wanted || is_split(dll.image) ||
        refusal_of(dll.image, dll.info.size).why == Why::raw_data_past_end) {
        return std::nullopt;
    }
    const os::File file = os::File::open_to_read(dll.path);
    return survey(dll.headers, dll.image, dll.info.size, reader_of(file));
}

void look_beside(Findings& findings) {
    const Query& q = findings.query;
    const Dll* dll = findings.presence == DllFacts::Presence::there ? &findings.dll : nullptr;
    findings.sidecars.clear();
    for (const SidecarPlace& place : q.candidates) {
        // Beside a DLL that we never patched, what is not surely ours is somebody else's.
        const PeImage& image = findings.dll.image;
        const bool only_ours = !q.lenient && !image.has_fatbin() && !is_split(image) && !findings.splits();
        if (only_ours && place.kind == SidecarKind::temporary) {
            continue;
        }
        if (auto sidecar = examine_sidecar(place, q.path, dll, q.deep); sidecar && (sidecar->ours || !only_ours)) {
            findings.sidecars.push_back(std::move(*sidecar));
        }
    }
}

Findings look(Query query) {
    Findings findings;
    findings.query = std::move(query);
    const Query& q = findings.query;
    must_lie_where_found(q);
    try {
        findings.dll = read_dll(q.path);
        findings.dll.link = link_at(q);
    } catch (Error& error) {
        if (!q.lenient && !is_broken(error)) {
            throw;
        }
        note_broken(findings, error);
    }
    findings.survey = survey_of(findings);
    look_beside(findings);
    const Sidecar* undo = of_kind(findings.sidecars, SidecarKind::undo);
    if (std::optional<Dll> half = undo != nullptr ? half_split_dll(q) : std::nullopt) {
        findings.presence = DllFacts::Presence::there;
        findings.dll = std::move(*half);
        findings.dll.link = link_at(q);
        findings.survey.reset();
        look_beside(findings);
    }
    // Without a whole backup beside it, nobody can tell that this was ever a DLL.
    if (findings.presence != DllFacts::Presence::there && !q.lenient &&
        first_that(findings.sidecars, [](const Sidecar& s) { return s.whole; }) == nullptr) {
        throw Error(*findings.why_damaged);
    }
    return findings;
}

}  // namespace

bool Findings::splits() const {
    return query.data == DataPolicy::split && survey && !survey->found.empty();
}

std::vector<std::uint8_t> Findings::planned_headers() const {
    if (!plan.headers.empty()) {
        return plan.headers;
    }
    std::vector<std::uint8_t> headers = dll.headers;
    apply_edits(plan.edits, headers);
    return headers;
}

DllFacts Findings::dll_facts() const {
    DllFacts facts;
    facts.presence = presence;
    facts.named = query.named;
    facts.is_link = dll.link.has_value();
    facts.installed = query.installed;
    if (presence == DllFacts::Presence::there) {
        facts.has_fatbin = dll.image.has_fatbin();
        facts.dynamic_base = dll.image.dynamic_base();
        facts.is_signed = dll.image.is_signed(dll.info.size);
        facts.is_split = is_split(dll.image);
        facts.has_runs = splits();
        facts.plan_is_empty = plan.empty();
        facts.plan_splits = !plan.headers.empty();
        facts.refusal = facts.has_gpu_code() ? refusal_of(dll.image, dll.info.size) : Reason{};
    }
    return facts;
}

std::vector<SidecarFacts> Findings::sidecar_facts() const {
    std::vector<SidecarFacts> facts;
    facts.reserve(sidecars.size());
    for (const Sidecar& sidecar : sidecars) {
        facts.push_back({sidecar.kind, sidecar.state, sidecar.ours, sidecar.proven, sidecar.compared, sidecar.equal,
                         sidecar.shown_to_be_other, sidecar.signed_since, sidecar.bits, sidecar.whole,
                         sidecar.same_headers, sidecar.info.changed});
    }
    return facts;
}

Findings examine(Query query) {
    Findings findings = look(std::move(query));
    if (findings.presence == DllFacts::Presence::there) {
        findings.plan = plan_for(findings);
    }
    return findings;
}

void decide_and_compare(Findings& findings, Decision& decision, const Policy& policy,
                        const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
    for (;;) {
        decision = decide(policy, findings.dll_facts(), findings.sidecar_facts());
        const std::vector<std::size_t> unseen = to_be_compared(policy, decision, findings.sidecar_facts());
        if (unseen.empty()) {
            return;
        }
        for (const std::size_t i : unseen) {
            compare_bytes(findings.sidecars[i], findings.dll,
                          [&](std::uint64_t done) { progress(done, findings.dll.info.size); });
        }
        findings.plan = plan_for(findings);
    }
}

bool same_file(const os::FileInfo& a, const os::FileInfo& b) {
    // To a file of several names, one more or less is a change, too: of another environment, or ours.
    const bool linked = a.hard_links > 1 || b.hard_links > 1;
    return a.type == b.type && a.identity == b.identity && a.size == b.size && a.modified == b.modified &&
           (a.changed == b.changed || linked);
}

bool same(const Findings& a, const Findings& b) {
    const auto backups = [](const Findings& findings) {
        std::vector<const Sidecar*> result;
        for (const Sidecar& sidecar : findings.sidecars) {
            if (sidecar.kind != SidecarKind::temporary) {
                result.push_back(&sidecar);
            }
        }
        return result;
    };
    const auto same_link = [](const std::optional<os::FileInfo>& x, const std::optional<os::FileInfo>& y) {
        return x && y ? same_file(*x, *y) : x.has_value() == y.has_value();
    };
    const auto same_sidecar = [](const Sidecar* s, const Sidecar* t) {
        return s->path == t->path && s->by_headers == t->by_headers && same_file(s->info, t->info) &&
               s->original == t->original;
    };
    const auto of_a = backups(a);
    const auto of_b = backups(b);
    return a.presence == b.presence && same_file(a.dll.info, b.dll.info) && same_link(a.dll.link, b.dll.link) &&
           a.dll.headers == b.dll.headers && a.survey == b.survey &&
           std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same_sidecar);
}

Error changed_meanwhile(const std::filesystem::path& path) {
    return Error(ErrorCode::changed, "check before writing: another program changed the file meanwhile",
                 Hint::run_again)
        .at(path);
}

const Sidecar* earlier_original(const Findings& findings) {
    const auto index = earlier_original(findings.sidecar_facts());
    return index ? &findings.sidecars[*index] : nullptr;
}

bool is_none_of_ours(const std::filesystem::path& path) {
    for (const SidecarPlace& place : sidecars_of(path)) {
        if (os::info_of(place.path).type != os::FileType::missing) {
            return false;
        }
    }
    const os::File file = os::File::open_to_read(path);
    std::vector<std::uint8_t> bytes;
    try {
        bytes = read_headers(file, file.opened_as().size);
    } catch (const Error&) {
        bytes.resize(HEADER_BYTES_MIN);  // they would end nowhere
        bytes.resize(file.read_at(0, bytes));
    }
    // Where fat binaries lie, and what a split calls them.
    constexpr std::array<std::string_view, 3> names{FATBIN_SECTION, RELOCATABLE_FATBIN_SECTION, SPLIT_SECTION};
    return std::none_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) != bytes.end();
    });
}

Findings examine_again(const Findings& seen) {
    Findings now = look(seen.query);
    if (!same(seen, now)) {
        throw changed_meanwhile(seen.query.path);
    }
    return now;
}

}  // namespace fixnvpe
