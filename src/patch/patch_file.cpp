#include "fixnvpe/patch/patch_file.hpp"

#include "fixnvpe/os/names.hpp"

namespace fixnvpe {
namespace {

class Patch {
public:
    Patch(const Findings& seen, const Decision& decision, const CopyProgress& progress,
          std::vector<std::filesystem::path>& moved)
        : seen_(seen), decision_(decision), transaction_(seen, progress), moved_(moved) {}

    void carry_out() {
        if (!decision_.undo_first) {
            write();
            return;
        }
        // Back to the original first, so that at no moment an undo file is needed that explains three states.
        const std::vector<std::uint8_t>& original = earlier_original(seen_)->original;
        try {
            transaction_.edit(original);
            transaction_.go_on_with(original);
            write();
        } catch (...) {
            patch_as_before(original);
            throw;
        }
    }

private:
    void write() {
        const std::vector<std::uint8_t> headers = seen_.planned_headers();
        switch (decision_.way) {
            case Way::keep_as_backup: transaction_.replace_and_keep(headers, [&] { make_room(); }); break;
            case Way::replace:
                make_room();
                transaction_.replace(headers);
                break;
            case Way::edit_with_undo:
                make_room();
                edit_with_undo(headers);
                break;
            default:
                make_room();
                transaction_.edit(headers);
                break;
        }
    }

    /// A change of policy has failed: the file is to be as patched as it was. Else it is the original, or its undo file
    /// explains it.
    void patch_as_before(const std::vector<std::uint8_t>& original) {
        const Sidecar* undo = of_kind(seen_.sidecars, SidecarKind::undo);
        if (undo->state == SidecarState::half_done) {
            return;  // it was in no state that is worth going back to
        }
        take_back([&] {
            transaction_.go_on_with(original);
            if (!same_file(os::info_of(undo->path), undo->info)) {
                transaction_.write_undo(seen_.dll.headers);
            }
            transaction_.edit(seen_.dll.headers);
        });
    }

    /// Frees the name of the backup that is made.
    void make_room() {
        for (std::size_t i = 0; i < seen_.sidecars.size(); ++i) {
            switch (decision_.sidecars[i].fate) {
                case Fate::move_aside: moved_.push_back(transaction_.move_aside(seen_.sidecars[i])); break;
                case Fate::remove: transaction_.remove(seen_.sidecars[i]); break;
                default: break;
            }
        }
    }

    void edit_with_undo(const std::vector<std::uint8_t>& headers) {
        const os::FileInfo before = transaction_.dll().info;
        try {
            transaction_.write_undo(headers);
            transaction_.edit(headers);
        } catch (...) {
            take_back([&] {
                if (same_file(os::info_of(seen_.query.path), before)) {
                    os::remove(undo_path(seen_.query.path));  // nothing was edited, so there is nothing to undo
                }
            });
            throw;
        }
    }

    const Findings& seen_;
    const Decision& decision_;
    Transaction transaction_;
    std::vector<std::filesystem::path>& moved_;
};

}  // namespace

void patch_file(const Findings& seen, const Decision& decision, const CopyProgress& progress,
                std::vector<std::filesystem::path>& moved) {
    Patch(seen, decision, progress, moved).carry_out();
}

}  // namespace fixnvpe
