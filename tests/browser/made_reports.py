"""Runs of every kind and their reports, made by the program."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def program(place: str | None, what: str, remedy: str) -> str:
    if place is None or not os.path.exists(place):
        pytest.fail(f"there is no {what}: {remedy}", pytrace=False)
    return place


class Ztp:
    """The program that ZTP_COMMAND names; else it is looked for where make builds it."""

    def __init__(self) -> None:
        places = [os.environ.get("ZTP_COMMAND"), str(ROOT / "build/dev/ztp"), str(ROOT / "build/release/ztp")]
        found = next((place for place in places if place and os.path.exists(place)), None)
        self.path = program(found, "program ztp", "build it (make), or name it by ZTP_COMMAND")

    def __call__(self, *arguments: object) -> str:
        words = [word if isinstance(word, bytes) else str(word) for word in arguments]
        done = subprocess.run([self.path, *words], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="replace")

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "--json"))


# What `ztp fit` is given for each run, beside --out. Draws are a function of the seed: every number is the same every
# time.
FITS = {
    "world": "world/tensor.tsv --labels world/labels --network country=world/network-country.tsv"
    " --rank 12 --sweeps 150 --chains 2 --holdout 0.1",
    "other": "world/tensor.tsv --labels world/labels --rank 8 --sweeps 40 --holdout 0.1 --seed 5 --chains 2",
    "plain": "small/tensor.tsv --labels small/labels --rank 4 --sweeps 60 --chains 2",
    "rival": "small/tensor.tsv --labels small/labels --model logistic --rank 3 --sweeps 40 --holdout 0.2 --chains 2",
    "count": "counts.tsv --likelihood count --rank 4 --sweeps 60 --holdout 0.2 --chains 2",
    "few": "dense.tsv --rank 1 --sweeps 20 --chains 2",  # the report has few of its entities
    "pair": "pair/tensor.tsv --rank 1 --sweeps 60 --holdout 0.1 --chains 2",
    "online": "small/tensor.tsv --labels small/labels --network mode1=small/network-mode1.tsv"
    " --method online --rank 4 --sweeps 80 --holdout 0.2 --chains 2",
    # Components share columns: of people, with relations one by one and with columns of relations.
    "tied": "people.tsv --tie subject=object --self-cells missing --columns subject=8 --columns relation=own"
    " --network subject=friends.tsv --rank 60 --sweeps 100 --chains 2 --holdout 0.1",
    "learned": "people.tsv --tie subject=object --self-cells missing --columns subject=5 --columns relation=3"
    " --rank 30 --sweeps 60 --chains 2",
}
COMPARED = "compared"  # world and other
COMPARED_COLUMNS = "compared-columns"  # tied and learned
COMPARISONS = {COMPARED: ("world", "other"), COMPARED_COLUMNS: ("tied", "learned")}
FILES = ("world/", "small/", "pair/", "counts.tsv", "dense.tsv", "people.tsv", "friends.tsv")


class Made:
    """Runs and reports in a folder that all workers share: whoever needs one first makes it."""

    def __init__(self, folder: Path, ztp: Ztp) -> None:
        self.folder = folder
        self.ztp = ztp
        folder.mkdir(exist_ok=True)

    def once(self, name: str, make: Callable[[Path], object]) -> Path:
        """The file or folder of that name, which make(path) makes."""
        path = self.folder / name
        with open(self.folder / f"{name}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.folder / f"{name}.done"
            if not done.exists():
                make(path)
                done.touch()
        return path

    def data(self, name: str) -> Path:
        generate = ROOT / "data/world/generate.sh"
        makers: dict[str, Callable[[Path], object]] = {
            "world": lambda path: subprocess.run([generate, path], check=True, stdout=subprocess.DEVNULL),
            "small": lambda path: self.ztp(
                "simulate", "--dims", "20,15,8", "--ones", 300, "--rank", 3, "--edges", "mode1=30", "--out", path
            ),
            "pair": lambda path: self.ztp("simulate", "--dims", "12,9", "--ones", 40, "--rank", 2, "--out", path),
            "counts.tsv": self._counts,
            "dense.tsv": self._dense,
            "people.tsv": self._people,
            "friends.tsv": self._friends,
        }
        return self.once(name, makers[name])

    def _counts(self, path: Path) -> None:
        lines = (self.data("small") / "tensor.tsv").read_text().splitlines()
        rows = [f"{line}\t{1 + i % 4}" for i, line in enumerate(lines[1:])]
        path.write_text("\n".join([f"{lines[0]}\tcount", *rows]) + "\n")

    def _dense(self, path: Path) -> None:
        """Everybody has the first hundred things, so unseen cells have others, which have fewer ones."""
        cells = [f"user{i}\tthing{j}" for i in range(30) for j in range(200) if j < 100 or (i + j) % 4]
        path.write_text("\n".join(["#user\tthing", *cells]) + "\n")

    def _people(self, path: Path) -> None:
        """Relation l leads from group g of people to group g + l; a few lead anywhere. Nobody relates to himself."""
        names = [f"{'ABC'[i % 3]} person {i}" for i in range(24)]
        relations = ["likes", "<b>fears</b>", "pays", "a relation with a name that is much longer than there is room"]
        cells = [
            f"{names[i]}\t{relation}\t{names[j]}"
            for i in range(24)
            for k, relation in enumerate(relations)
            for j in range(24)
            if i != j and ((i + k - j) % 3 == 0 and (5 * i + 3 * j + k) % 7 or (7 * i + 11 * j + 5 * k) % 41 == 0)
        ]
        path.write_text("\n".join(["#subject\trelation\tobject", *cells]) + "\n")

    def _friends(self, path: Path) -> None:
        pairs = [(i, j) for i in range(24) for j in range(i + 3, 24, 6)]
        path.write_text("".join(f"{'ABC'[i % 3]} person {i}\t{'ABC'[j % 3]} person {j}\n" for i, j in pairs))

    def run(self, name: str) -> Path:
        words = []
        for word in FITS[name].split():
            before, _, file = word.rpartition("=")
            if file.startswith(FILES):
                self.data(file.split("/")[0])
                word = f"{before}={self.folder / file}" if before else str(self.folder / file)
            words.append(word)
        return self.once(f"{name}-run", lambda path: self.ztp("fit", *words, "--out", path))

    def report(self, name: str) -> Path:
        """The report of a run, or of the two that are compared."""
        if name in COMPARISONS:
            words = ["--compare", *(self.run(side) for side in COMPARISONS[name])]
        elif name == "few":
            words = [self.run("few"), "--entities", 40]
        else:
            words = [self.run(name)]
        return self.once(f"{name}.html", lambda path: self.ztp("report", *words, "-o", path))
