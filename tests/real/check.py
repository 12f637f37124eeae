"""Every PE file of a package: what fixnvpe says of it and does to it, held against what others read in it."""

import dataclasses
import filecmp
import os
import shutil

import oracle
from fetch import sha256

ASLR = ("auto", "keep", "clear")
BACKUP = ("full", "undo", "none")
# Each combination of options that is tried. More options of patch come here.
POLICIES = [["--aslr", aslr, "--backup", backup] for aslr in ASLR for backup in BACKUP]
EXTENSIONS = {".dll", ".pyd", ".node", ".exe", ".mexw64", ".so"}


@dataclasses.dataclass
class Known:
    """A file as it was shipped."""

    path: object
    image: oracle.Image
    digest: str
    modified: int
    check_sum_right: bool


def option(policy, name):
    return policy[policy.index(name) + 1]


def is_pe_file(path):
    """By what it is called and begins with."""
    if path.suffix.lower() not in EXTENSIONS or not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"MZ"


def pe_files(folder):
    return [path for path in sorted(folder.rglob("*")) if is_pe_file(path)]


def learn(talk, folder):
    """@return what is known of each PE file, by path"""
    known = {}
    for path in pe_files(folder):
        image = oracle.read_by_pefile(path)
        if not talk.check(image is not None, f"{path}: pefile can't read it"):
            continue
        sections, dll_characteristics = oracle.readobj_sections(path)
        talk.check(sections == [(s.virtual_size, s.raw_size, s.characteristics) for s in image.sections]
                   and dll_characteristics == image.dll_characteristics, f"{path}: pefile and llvm-readobj disagree")
        right = image.check_sum != 0 and image.check_sum == oracle.check_sum(path, image.check_sum_at)
        known[str(path)] = Known(path, image, sha256(path), path.stat().st_mtime_ns, right)
    return known


def check_words(talk, fixnvpe, folder, known):
    """verify and scan say what the oracles say, and write nothing."""
    for aslr in ASLR:
        for command in ("verify", "scan"):
            status, said = fixnvpe.json(command, "--aslr", aslr, folder)
            files = {file["path"]: file for file in said["files"] if file["status"] != "not-pe"}
            talk.check(set(files) == set(known), f"{command} {folder}: other files than pefile takes for PE files: "
                                                 f"{sorted(set(files) ^ set(known))[:5]}")
            unpatched = False
            for path in sorted(set(files) & set(known)):
                file, image = files[path], known[path].image
                unpatched = unpatched or image.status(aslr) == "unpatched"
                expected = {"status": image.status(aslr), "machine": image.machine, "image_base": image.image_base,
                            "dynamic_base": bool(image.dll_characteristics & oracle.DYNAMIC_BASE),
                            "signed": image.signed, "size": os.path.getsize(path)}
                found = {key: file.get(key) for key in expected}
                talk.check(found == expected, f"{command} --aslr {aslr} {path}: says {found}, and {expected} is so")
                talk.check([(f["virtual_size"], f["writable"]) for f in file["fatbin"]] ==
                           [(s.virtual_size, s.writable) for s in image.fatbins],
                           f"{command} {path}: other fatbin sections than pefile finds")
                commit = {"now": image.commit, "after": image.commit - image.saved, "saved": image.saved}
                talk.check(file["commit"] == commit, f"{command} {path}: commit {file['commit']}, and {commit} is so")
            talk.check(status == (1 if command == "verify" and unpatched else 0),
                       f"{command} --aslr {aslr} {folder}: exit status {status}")


def differences(before, after):
    """Offsets of all bytes that differ. @param before, after paths of files of one size"""
    offsets = []
    at = 0
    with open(before, "rb") as one, open(after, "rb") as other:
        while piece := one.read(1 << 22):
            now = other.read(len(piece))
            if piece != now:
                offsets += [at + i for i, (a, b) in enumerate(zip(piece, now)) if a != b]
            at += len(piece)
    return offsets


def check_patched(talk, what, was, path, original, aslr):
    """No byte outside the plan, each planned field as it is to be, and a right CheckSum right."""
    edits = was.image.edits(aslr)
    allowed = {at + i for at, width in [*edits, (was.image.check_sum_at, 4)] for i in range(width)}
    if not talk.check(os.path.getsize(path) == os.path.getsize(original), f"{what}: another size"):
        return
    changed = differences(original, path)
    outside = sorted(set(changed) - allowed)
    talk.check(not outside, f"{what}: bytes outside the plan changed: {outside[:8]}")
    with open(path, "rb") as file:
        for (at, width), value in edits.items():
            file.seek(at)
            now = int.from_bytes(file.read(width), "little")
            talk.check(now == value, f"{what}: {now:#x} at {at}, and {value:#x} was to be there")
    now = oracle.read_by_pefile(path)
    if was.check_sum_right:
        talk.check(now.check_sum == oracle.check_sum(path, now.check_sum_at), f"{what}: CheckSum was right, and is not")
    elif was.image.check_sum == 0:
        talk.check(now.check_sum == 0, f"{what}: CheckSum was zero, and is not")


def state(folder):
    """What would show that something was written."""
    return {str(path): (stat.st_ino, stat.st_size, stat.st_mtime_ns)
            for path in folder.rglob("*") if not path.is_dir() for stat in [path.lstat()]}


def check_again(talk, fixnvpe, words, folder):
    """A second run changes nothing, and verify is content."""
    before = state(folder)
    status, said = fixnvpe.json("patch", *words, folder)
    talk.check(status == 0 and all(file["action"] == "none" for file in said["files"]),
               f"patch {words} {folder}: a second run does something")
    talk.check(state(folder) == before, f"patch {words} {folder}: a second run writes something")
    status, _ = fixnvpe.json("verify", "--aslr", option(words, "--aslr"), folder)
    talk.check(status == 0, f"verify {folder} after patch {words}: exit status {status}")


def check_restored(talk, fixnvpe, words, folder, before, known, same):
    """@param same of a path and what was known of it: is every byte the same?"""
    status, _ = fixnvpe.json("restore", folder)
    talk.check(status == 0, f"restore {folder} after patch {words}: exit status {status}")
    talk.check(set(state(folder)) == before, f"restore {folder}: other files than before patch {words}: "
                                             f"{sorted(set(state(folder)) ^ before)[:5]}")
    for path, was in known.items():
        talk.check(same(path, was), f"{path}: restore after patch {words} did not give back every byte")
        talk.check(os.stat(path).st_mtime_ns == was.modified, f"{path}: restore after patch {words}: another mtime")


def check_default(talk, fixnvpe, folder, known):
    """patch without an option, and restore, on all that the package has."""
    words = ["--aslr", "auto", "--backup", "full"]
    before = set(state(folder))
    status, said = fixnvpe.json("patch", folder)
    talk.check(status == 0, f"patch {folder}: exit status {status}")
    done = {file["path"] for file in said["files"] if file["action"] == "patched"}
    expected = {path for path, was in known.items() if was.image.edits("auto")}
    talk.check(done == expected, f"patch {folder}: other files patched than were to be: {sorted(done ^ expected)[:5]}")
    for path in sorted(done & expected):
        check_patched(talk, f"patch {path}", known[path], path, path + ".bak", "auto")
    for path in set(known) - expected:
        talk.check(sha256(path) == known[path].digest, f"patch {path}: it was to be left alone")
    check_again(talk, fixnvpe, words, folder)
    check_restored(talk, fixnvpe, words, folder, before, known, lambda path, was: sha256(path) == was.digest)


def check_policies(talk, fixnvpe, was, work):
    """One DLL under each policy, in a folder of its own."""
    for policy in POLICIES:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        path = work / was.path.name
        shutil.copy2(was.path, path)
        what = f"patch {' '.join(policy)} {was.path.name}"
        aslr = option(policy, "--aslr")
        before = set(state(work))
        status, said = fixnvpe.json("patch", *policy, work)
        talk.check(status == 0, f"{what}: exit status {status}")
        changes = bool(was.image.edits(aslr))
        talk.check((said["files"][0]["action"] == "patched") == changes, f"{what}: {said['files'][0]['action']}")
        check_patched(talk, what, was, path, was.path, aslr)
        check_again(talk, fixnvpe, policy, work)
        if option(policy, "--backup") != "none":
            check_restored(talk, fixnvpe, policy, work, before, {str(path): was},
                           lambda path, was: filecmp.cmp(path, was.path, shallow=False))
    shutil.rmtree(work)


def check_split(talk, fixnvpe, was, work):
    """patch --data split of one DLL: only headers change, and only pages of fat binaries become read-only."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    path = work / was.path.name
    shutil.copy2(was.path, path)
    what = f"patch --data split {path.name}"
    before = set(state(work))
    status, said = fixnvpe.json("patch", "--aslr", "keep", "--data", "split", work)
    file = said["files"][0]
    talk.check(status == 0, f"{what}: exit status {status}")
    outside = [at for at in differences(was.path, path) if at >= oracle.end_of_headers(was.path)]
    talk.check(not outside, f"{what}: bytes outside the headers changed: {outside[:8]}")
    now = oracle.read_by_pefile(path)
    sections, _ = oracle.readobj_sections(path)
    talk.check(sections == [(s.virtual_size, s.raw_size, s.characteristics) for s in now.sections],
               f"{what}: pefile and llvm-readobj disagree")
    pages = {(p["address"] + i) // oracle.PAGE for p in file["split"]["pages"] for i in range(0, p["size"], oracle.PAGE)}
    fatbins = was.image.fatbins
    expected = {page: place for page, place in oracle.pages_of(was.path).items()}
    for page, (place, characteristics) in expected.items():
        if page in pages or any(page * oracle.PAGE - s.virtual_address in range(s.virtual_size) for s in fatbins):
            expected[page] = (place, characteristics & ~oracle.MEM_WRITE)
    talk.check(oracle.pages_of(path) == expected, f"{what}: other pages lie elsewhere, or are protected otherwise")
    raw = was.path.read_bytes()
    talk.check(all(oracle.in_fat_binaries(raw, *oracle.raw_of_page(was.path, page)) for page in pages),
               f"{what}: a page that is split holds something else than fat binaries")
    talk.check(now.commit == file["commit"]["after"], f"{what}: pefile counts {now.commit} bytes of commit, and not "
                                                      f"{file['commit']['after']}")
    if was.check_sum_right:
        talk.check(now.check_sum == oracle.check_sum(path, now.check_sum_at), f"{what}: CheckSum was right, and is not")
    again = state(work)
    talk.check(fixnvpe.json("verify", "--aslr", "keep", "--data", "split", "--require-backup", work)[0] == 0,
               f"verify after {what}")
    talk.check(fixnvpe.json("patch", "--aslr", "keep", "--data", "split", work)[0] == 0 and state(work) == again,
               f"{what}: a second run writes something")
    check_restored(talk, fixnvpe, ["--data", "split"], work, before, {str(path): was},
                   lambda path, was: filecmp.cmp(path, was.path, shallow=False))
    shutil.rmtree(work)
    return file["split"]["freed"]


def split_files(fixnvpe, folder, known):
    """Those that a split would free something of."""
    _, said = fixnvpe.json("scan", folder)
    return [known[file["path"]] for file in said["files"] if file.get("split", {}).get("freed", 0) != 0]


def most_telling(known):
    """The file that has most to lose: writable GPU code, then any, then its size."""
    return max(known.values(), key=lambda was: (was.image.saved, len(was.image.fatbins), was.path.stat().st_size))


def check_package(talk, fixnvpe, folder, work, everything):
    """@return what the package is found to be, for the report"""
    known = learn(talk, folder)
    if not talk.check(known, f"{folder}: no PE file in it"):
        return {}
    check_words(talk, fixnvpe, folder, known)
    check_default(talk, fixnvpe, folder, known)
    chosen = [was for was in known.values() if was.image.fatbins] if everything else []
    for was in chosen or [most_telling(known)]:
        check_policies(talk, fixnvpe, was, work)
    freed = sum(check_split(talk, fixnvpe, was, work) for was in split_files(fixnvpe, folder, known))
    images = [was.image for was in known.values()]
    return {"split_frees": freed, "files": len(images), "with_gpu_code": sum(bool(image.fatbins) for image in images),
            "signed": sum(image.signed for image in images), "patched": sum(bool(i.edits("auto")) for i in images),
            "gpu_code": sum(s.virtual_size for i in images for s in i.fatbins),
            "writable_gpu_code": sum(s.virtual_size for i in images for s in i.fatbins if s.writable),
            "commit_now": sum(image.commit for image in images),
            "commit_after": sum(image.commit - image.saved for image in images)}
