"""The packages that testdata/real.tsv names."""

import csv
import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Package:
    size: str  # "small", or "large": only with LARGE
    ecosystem: str  # "pypi" or "maven"
    name: str
    version: str
    platform: str  # Maven: the classifier
    python: str  # the version that the wheel is for, or may be; Maven: empty
    archive: str  # the file's name
    bytes: int  # of the archive
    unpacked: int  # bytes
    sha256: str  # of the archive

    @property
    def title(self):
        return f"{self.name} {self.version}"

    @property
    def folder(self):
        """A name for a folder."""
        return f"{self.name}-{self.version}".replace(":", "-")


def read_packages(path: pathlib.Path, large: bool):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        packages = [Package(**{**row, "bytes": int(row["bytes"]), "unpacked": int(row["unpacked"])}) for row in rows]
    return [package for package in packages if large or package.size == "small"]
