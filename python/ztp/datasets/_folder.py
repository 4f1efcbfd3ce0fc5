"""The folder of a fetched data set: complete under its name, or not there."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Mapping, Sequence

import pandas as pd
from sklearn.utils import Bunch

RECORD = "fetch.json"  # by which a folder is known as one that a fetch made
MAKER = "python -m ztp.datasets fetch"
_MAKERS = [MAKER, "ztp data fetch"]  # the second one up to version 0.1


def check_folder(path: str, force: bool) -> None:
    """A FileExistsError if something is there that may not be replaced: anything without `force`; with it, anything but
    a folder that a fetch made and nobody has put other files into."""
    parent = os.path.dirname(os.path.abspath(path))
    if os.path.lexists(parent) and not os.path.isdir(parent):
        raise NotADirectoryError(f"{parent}: is not a folder")
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise FileExistsError(f"{path}: exists and is not a folder; choose another one")
    if not os.listdir(path):
        return
    if not force:
        raise FileExistsError(f"{path}: exists; --force replaces it, if a fetch made it, or choose another one")
    own = _recorded_files(path)
    for entry in os.scandir(path):
        if entry.name not in own or not entry.is_file():
            raise FileExistsError(f"{path}: is not replaced, because {entry.name} in it would be lost; move that away")


def _recorded_files(path: str) -> set[str]:
    try:
        with open(os.path.join(path, RECORD), encoding="utf-8") as file:
            record = json.load(file)
        if record["made_by"] in _MAKERS:
            return {RECORD, *record["files"]}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    raise FileExistsError(f"{path}: exists, and '{MAKER}' did not make it: it is not replaced; choose another one")


def write_folder(path: str, files: Mapping[str, bytes], force: bool) -> None:
    """Writes the files beside, and then gives the folder its name."""
    path = os.path.realpath(path)  # a link to the folder is the folder
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = f"{path}.partial-{os.getpid()}"
    old = f"{path}.old-{os.getpid()}"
    try:
        os.mkdir(partial)
        for name, data in files.items():
            with open(os.path.join(partial, name), "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        check_folder(path, force)  # again: something may have been put there meanwhile
        if not os.path.isdir(path):
            os.rename(partial, path)
            return
        os.rename(path, old)
        try:
            os.rename(partial, path)
        except BaseException:
            os.rename(old, path)
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def read_cells(folder: str) -> pd.DataFrame:
    return _read_table(os.path.join(folder, "tensor.tsv.gz"))


def read_bunch(folder: str) -> Bunch:
    """Everything that the folder has."""
    frame = read_cells(folder)
    bunch = Bunch(frame=frame, network={}, labels={}, splits={}, DESCR="", folder=folder)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        stem = name.partition(".")[0]
        if name.startswith("network-"):
            bunch.network[stem.removeprefix("network-")] = _read_table(path).set_axis(["source", "target"], axis=1)
        elif name.startswith("split-"):
            bunch.splits[stem.removeprefix("split-")] = _read_table(path)
        elif stem.endswith("-labels"):
            kind = stem.removesuffix("-labels")
            bunch.labels[kind] = _read_table(path, text=[kind])
        elif name == "ratings.tsv.gz":
            bunch.ratings = _read_table(path, text=frame.columns)
        elif name == "README.md":
            with open(path, encoding="utf-8") as file:
                bunch.DESCR = file.read()
    return bunch


def _read_table(path: str, text: Sequence[str] | None = None) -> pd.DataFrame:
    """A TSV with a first line "#name TAB name...": all of it text, or these columns."""
    table = pd.read_csv(
        path,
        sep="\t",
        lineterminator="\n",
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        na_values=[""],
        dtype=str if text is None else {name: str for name in [*text, f"#{text[0]}"]},
    )
    return table.rename(columns={table.columns[0]: table.columns[0].removeprefix("#")})
