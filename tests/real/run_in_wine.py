"""Real packages under a real python.exe, before and after patching: what loads, what xgboost predicts, and how much
writable image memory the process has."""

import pathlib
import shutil

import check
import install
import oracle
from environment import Environment, told, unpack, unpack_dlls
from say import mib
from wine import Wine, unix_path, windows_path

PYTHON = "org.bytedeco:cpython"
TORCH_STACK = ("org.bytedeco:pytorch", "org.bytedeco:cuda", "org.bytedeco:openblas")
AT_ONCE = 4


def check_memory(talk, what, environment, memory):
    """What each loaded DLL has writable, as it stands there now: what its headers say."""
    for path, count in environment.of_packages(memory).items():
        commit = oracle.read_by_pefile(path).commit
        talk.check(count == commit, f"{what}: {path}: {mib(count)} writable in Wine, {mib(commit)} by its headers")


def compare_loads(talk, name, before, after, environment):
    """What loads before loads after. @param before, after what Environment.load() returned
    @return files, how many load, and writable memory of the packages' DLLs and of the whole process"""
    (errors, memory), (errors_after, memory_after) = before, after
    otherwise = [(path, error, errors_after.get(path)) for path, error in errors.items()
                 if error != errors_after.get(path)]
    talk.check(not otherwise and len(errors) == len(errors_after), f"{name}: loads otherwise patched: {otherwise[:5]}")
    return {"files": len(errors), "loaded": sum(error == 0 for error in errors.values()),
            "memory": [sum(environment.of_packages(m).values()) for m in (memory, memory_after)],
            "process": [sum(m.values()) for m in (memory, memory_after)]}


def check_what_was_patched(talk, said, environment, paths):
    """fixnvpe.exe found all that was to be patched by itself."""
    found = set()
    for file in said["files"]:
        if file["action"] == "patched":
            path = file["path"] if ":" in file["path"] else windows_path(environment.elsewhere) + "\\" + file["path"]
            found.add(unix_path(path).lower())
    expected = set()
    for path in paths:
        backup = pathlib.Path(f"{path}.bak")
        if oracle.read_by_pefile(backup if backup.exists() else path).edits("auto"):
            expected.add(str(path).lower())
    talk.check(found == expected, f"fixnvpe.exe patch: other files than were to be: {sorted(found ^ expected)[:5]}")


def train_at_once(talk, environment, expected):
    """Several at the same time: the same predictions, and the same memory, in each."""
    for process in environment.start(AT_ONCE, "train.py", 5):
        out, err = process.communicate(timeout=900)
        right = process.returncode == 0 and told(out, "predicted") == [expected["predicted"]]
        if talk.check(right, f"xgboost, {AT_ONCE} at once: exit status {process.returncode}: {err[-500:]}"):
            total = sum(told(out, "memory")[0].values())
            talk.check(total == expected["memory"], f"xgboost, {AT_ONCE} at once: {mib(total)} of writable image "
                                                    f"memory, alone {mib(expected['memory'])}")


def load_at_once(talk, environment, paths, listed, expected):
    """All of them in several processes at the same time: the same load as alone."""
    listed.write_text("\n".join(windows_path(path) for path in paths) + "\n", encoding="utf-8")
    for process in environment.start(AT_ONCE, "load.py", windows_path(listed), 10):
        out, err = process.communicate(timeout=900)
        same = {unix_path(path): error for path, error in told(out, "loaded")} == expected
        talk.check(process.returncode == 0 and same,
                   f"torch, {AT_ONCE} at once: exit status {process.returncode}: {err[-500:]}")


def merge(source, target):
    """Moves all files into another tree. pip --target passes over a folder that is there, such as nvidia.
    @return the files in their new places"""
    moved = []
    for path in sorted(source.rglob("*")):
        if not path.is_dir():
            new = target / path.relative_to(source)
            new.parent.mkdir(parents=True, exist_ok=True)
            moved.append(path.rename(new))
    return moved


def install_all(talk, environment, packages, cache, scratch):
    """@return the PE files of each package"""
    files = {}
    for package in packages:
        if package.ecosystem == "pypi" and install.install(talk, package, cache, scratch / "one"):
            moved = merge(scratch / "one", environment.site_packages)
            files[package.name] = [path for path in moved if check.is_pe_file(path)]
            talk.check(files[package.name], f"{package.title}: no PE file in the environment")
            shutil.rmtree(scratch / "one")
    return files


def run_packages(talk, environment, packages, cache, scratch):
    """Every wheel in one environment: xgboost trains, and each package's DLLs are loaded."""
    files = install_all(talk, environment, packages, cache, scratch)
    if not files:
        talk.skip("loading packages in Wine", "no wheel is there")
        return {}
    listed = scratch / "listed.txt"

    def load_all():
        loads = {name: environment.load(talk, paths, listed) for name, paths in files.items()}
        for name, (_, memory) in loads.items():
            check_memory(talk, name, environment, memory)
        return loads

    talk.say("loading every DLL as shipped")
    trained = None
    if files.keys() >= {"xgboost", "numpy", "scipy"}:
        trained = environment.train(talk)
    else:
        talk.skip("training xgboost in Wine", "xgboost, numpy or scipy is not there")
    loads = load_all()
    talk.say("fixnvpe.exe patch, and all of it again")
    said = environment.patch(talk)
    if said is None:
        return {}
    check_what_was_patched(talk, said, environment, [path for paths in files.values() for path in paths])
    loads_after = load_all()
    result = {"chosen_by": said["environment"]["chosen_by"],
              "packages": {name: compare_loads(talk, name, loads[name], loads_after[name], environment)
                           for name in files}}
    again = environment.train(talk) if trained else None
    if again:
        talk.check(again["predicted"] == trained["predicted"], "xgboost predicts otherwise after patching")
        talk.say(f"xgboost: {mib(trained['memory'])} -> {mib(again['memory'])}")
        train_at_once(talk, environment, again)
        result["xgboost"] = {"memory": [trained["memory"], again["memory"]], "right": again["predicted"][2]}
    cufft = next((path for paths in files.values() for path in paths if path.name.startswith("cufft64_")), None)
    if cufft:
        result["cufft"] = run_cufft(talk, environment, cufft)
    environment.restore(talk)
    return result


def run_cufft(talk, environment, path):
    """cuFFT answers split as it does whole, and what it commits less is what fixnvpe said."""
    before, walked, measured = environment.cufft(talk, path)
    freed = environment.split(talk, path)
    after, walked_after, measured_after = environment.cufft(talk, path)
    talk.check(before == after and before and before[0] == 0, f"{path.name}: cufftGetVersion: {before}, split {after}")
    talk.check(walked - walked_after == freed, f"{path.name}: {walked} - {walked_after} bytes writable, and not {freed}")
    large = 8 << 20  # below that measure names no image without GPU code
    talk.check(measured == walked and measured_after == (walked_after if walked_after >= large else measured_after),
               f"{path.name}: measure says {measured} and {measured_after}, a walk {walked} and {walked_after}")
    talk.say(f"{path.name}: version {after[1]} before as after, {mib(walked)} -> {mib(walked_after)}")
    return {"version": after[1], "memory": [walked, walked_after]}


def run_torch(talk, environment, packages, cache, scratch):
    """All of torch/lib in one process, as torch loads it."""
    lib = environment.site_packages / "torch" / "lib"
    lib.mkdir(parents=True)
    for package in packages:
        if package.name in TORCH_STACK:
            unpack_dlls(cache / "archives" / package.archive, lib)
    paths = sorted(lib.glob("*.dll"))
    environment.list_package("torch", "1.10.2", [f"torch/lib/{path.name}" for path in paths])
    listed = scratch / "listed.txt"
    talk.say(f"loading {len(paths)} DLLs of torch and CUDA, as shipped and patched")
    before = environment.load(talk, paths, listed)
    check_memory(talk, "torch", environment, before[1])
    said = environment.patch(talk)
    if said is None:
        return {}
    check_what_was_patched(talk, said, environment, paths)
    after = environment.load(talk, paths, listed)
    check_memory(talk, "torch", environment, after[1])
    result = compare_loads(talk, "torch", before, after, environment)
    result["by_dll"] = [{pathlib.Path(path).name: count for path, count in environment.of_packages(memory).items()}
                        for _, memory in (before, after)]
    talk.say(f"torch: {result['loaded']} of {result['files']} load; "
             f"{mib(result['process'][0])} -> {mib(result['process'][1])}")
    load_at_once(talk, environment, paths, scratch / "at-once.txt", after[0])
    environment.restore(talk)
    return result


def run(talk, options, packages, scratch):
    """@return what was seen, for the report"""
    wine = Wine(scratch / "wine")
    python = next((package for package in packages if package.name == PYTHON), None)
    if python is None or not wine.there():
        why = "there is no wine64 (Debian: wine64)" if python else f"{PYTHON} is not there"
        talk.skip("all that runs in Wine", why)
        return {}

    def environment(name):
        unpack(options.cache / "archives" / python.archive, scratch / name,
               pathlib.PurePosixPath("org/bytedeco/cpython") / python.platform)
        return Environment(scratch / name, wine, options.windows_program)

    talk.say("making a Windows for Wine")
    try:
        wine.boot()
        result = {"wine": wine.version()}
        result.update(run_packages(talk, environment("env"), packages, options.cache, scratch))
        shutil.rmtree(scratch / "env", ignore_errors=True)
        if {package.name for package in packages}.issuperset(TORCH_STACK):
            result["torch"] = run_torch(talk, environment("env-torch"), packages, options.cache, scratch)
        elif options.large:
            talk.skip("loading torch/lib in Wine", f"one of {', '.join(TORCH_STACK)} is not there")
        return result
    finally:
        wine.end()
