"""A Python for Windows with packages, and fixnvpe.exe where pip would put it: what can be done in it."""

import json
import pathlib
import shutil
import zipfile

from wine import unix_path, windows_path

INSIDE = pathlib.Path(__file__).resolve().parent / "inside"


def unpack(archive, folder, inside):
    """What lies in one folder of an archive."""
    with zipfile.ZipFile(archive) as jar:
        for entry in jar.infolist():
            name = pathlib.PurePosixPath(entry.filename)
            if not entry.is_dir() and name.is_relative_to(inside):
                target = folder / name.relative_to(inside)
                target.parent.mkdir(parents=True, exist_ok=True)
                with jar.open(entry) as source, open(target, "wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)


def unpack_dlls(archive, folder):
    """All DLLs of an archive, into one folder."""
    with zipfile.ZipFile(archive) as jar:
        for entry in jar.infolist():
            name = pathlib.PurePosixPath(entry.filename).name
            if name.endswith(".dll"):
                with jar.open(entry) as source, open(folder / name, "wb") as copy:
                    shutil.copyfileobj(source, copy, 1 << 20)


def told(out, key):
    """The values that a script printed behind a word."""
    return [json.loads(line.split(" ", 1)[1]) for line in out.splitlines() if line.startswith(key + " ")]


class Environment:
    def __init__(self, folder, wine, fixnvpe):
        self.folder = folder
        self.elsewhere = folder.parent / "elsewhere"
        self.elsewhere.mkdir(exist_ok=True)
        self.wine = wine
        self.site_packages = folder / "lib" / "site-packages"
        self.python = folder / "python.exe"
        self.fixnvpe = folder / "Scripts" / "fixnvpe.exe"
        self.fixnvpe.parent.mkdir(parents=True)
        shutil.copy2(fixnvpe, self.fixnvpe)
        self.list_package("fixnvpe", "1", ["../../Scripts/fixnvpe.exe"])

    def list_package(self, name, version, files):
        """What pip writes of a package, as far as fixnvpe asks for it."""
        metadata = self.site_packages / f"{name}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (metadata / "RECORD").write_text("".join(f"{file},,\n" for file in files))

    def words_of(self, script, *words):
        return [self.python, windows_path(INSIDE / script), *words]

    def run(self, script, *words):
        return self.wine.run(self.words_of(script, *words), self.folder)

    def start(self, count, script, *words):
        """Several processes at once."""
        return [self.wine.start(self.words_of(script, *words), self.folder) for _ in range(count)]

    def patch(self, talk):
        """Without a target, and not in the environment: it is the one that fixnvpe.exe is installed in.
        @return its document"""
        status, out, err = self.wine.run([self.fixnvpe, "patch", "--json"], self.elsewhere)
        why = f"exit status {status}: {(err + out)[-800:]}"
        if not talk.check(status == 0, f"fixnvpe.exe patch of {self.folder}: {why}"):
            return None
        said = json.loads(out)
        chosen = unix_path(said["environment"]["prefix"]).rstrip("/").lower()
        talk.check(chosen == str(self.folder).lower(), f"fixnvpe.exe in {self.folder} chose the environment {chosen}")
        return said

    def split(self, talk, path):
        """@return what a split of this file frees, in bytes"""
        status, out, err = self.wine.run([self.fixnvpe, "patch", "--data", "split", "--json", windows_path(path)],
                                         self.elsewhere)
        if not talk.check(status == 0, f"fixnvpe.exe patch --data split {path.name}: exit status {status}: {err[-500:]}"):
            return 0
        return json.loads(out)["files"][0]["split"]["freed"]

    def cufft(self, talk, path):
        """@return what cufftGetVersion answers, and the writable memory of the DLL's image: by a walk with ctypes in the
        process itself, and by fixnvpe.exe measure from outside"""
        process = self.wine.start(self.words_of("cufft.py", windows_path(path), 15), self.folder)
        answer = {}
        for line in process.stdout:
            word, _, value = line.partition(" ")
            if word in ("cufft", "memory", "process"):
                answer[word] = json.loads(value)
            if word == "process":
                break
        if not talk.check("process" in answer, f"{path.name}: cufft.py says nothing"):
            return None, 0, 0
        status, out, err = self.wine.run([self.fixnvpe, "measure", "--json", str(answer["process"])], self.elsewhere)
        process.kill()
        process.wait()
        talk.check(status == 0, f"fixnvpe.exe measure: exit status {status}: {err[-500:]}")
        images = json.loads(out)["processes"][0]["images"] if status == 0 else []
        seen = sum(image["writable"] for image in images if image["path"].lower().endswith(path.name.lower()))
        return answer["cufft"], self.of_packages(answer["memory"]).get(str(path), 0), seen

    def restore(self, talk):
        status, _, err = self.wine.run([self.fixnvpe, "restore"], self.elsewhere)
        talk.check(status == 0, f"fixnvpe.exe restore in {self.folder}: exit status {status}: {err[-500:]}")

    def of_packages(self, memory):
        """Of writable_image_memory(), what belongs to modules of the packages: bytes by file."""
        root = str(self.site_packages).lower() + "/"
        return {unix_path(name): count for name, count in memory.items() if unix_path(name).lower().startswith(root)}

    def train(self, talk):
        """@return what xgboost predicts, and the process's writable image memory; or None"""
        status, out, err = self.run("train.py")
        if not talk.check(status == 0 and told(out, "memory"), f"xgboost in Wine: exit status {status}: {err[-800:]}"):
            return None
        memory = told(out, "memory")[0]
        return {"predicted": told(out, "predicted")[0], "memory": sum(memory.values()),
                "by_dll": self.of_packages(memory)}

    def load(self, talk, paths, listed):
        """Loads them one after the other in one process; in a new one where one of them ends it.
        @param listed a file that this makes
        @return the error of each (0: loaded; "ends the process"), and the process's writable image memory by module"""
        errors = {}
        left = list(paths)
        while left:
            listed.write_text("\n".join(windows_path(path) for path in left) + "\n", encoding="utf-8")
            status, out, err = self.run("load.py", windows_path(listed))
            done = {unix_path(path): error for path, error in told(out, "loaded")}
            if status == 0:
                errors.update(done)
                return errors, told(out, "memory")[0]
            begun = [unix_path(path) for path in told(out, "loading") if unix_path(path) not in done]
            if not talk.check(begun, f"loading in Wine: exit status {status}: {err[-800:]}"):
                return errors, {}
            errors[begun[0]] = "ends the process"
            left = [path for path in left if str(path) != begun[0]]
        return errors, {}
