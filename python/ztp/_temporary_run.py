"""The temporary run directory of a model without run_dir."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Mapping


class TemporaryRun:
    """A temporary directory, removed with this object, but not by a forked child of the process that made it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="ztp-")
        self.run_dir = os.path.join(self.name, "run")
        weakref.finalize(self, _remove, self.name, os.getpid())


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


def read_files(directory: str) -> dict[str, bytes]:
    """The files by name, compressed but for netCDF: its factors are random bits, nearly."""
    files = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                contents = file.read()
            files[os.path.relpath(path, directory)] = contents if name.endswith(".nc") else zlib.compress(contents, 1)
    return files


def write_files(directory: str, files: Mapping[str, bytes]) -> None:
    for name, contents in files.items():
        path = os.path.join(directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents if name.endswith(".nc") else zlib.decompress(contents))
