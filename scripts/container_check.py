#!/usr/bin/env python3
"""Runs the steps of the Containerfile in bare systems made by debootstrap, where there is no container engine.

    scripts/container_check.py [--keep]    --keep: goes on with the systems of the last time

The images debian:12 and debian:12-slim are a bare Debian 12 (scripts/chroot.sh) to it, and the clone is its last commit.
Then the program that results fits the demo's data. Everything is in build/chroots/container-*. Needs root.
"""

from __future__ import annotations

import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHROOTS = ROOT / "build/chroots"


def steps() -> list[tuple[str, str]]:
    """Instruction and arguments of each step; a line that ends with a backslash goes on in the next."""
    lines = [line for line in (ROOT / "Containerfile").read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


class Stage:
    def __init__(self, image: str, name: str) -> None:
        if not image.startswith("debian:12"):
            sys.exit(f"{image}: only Debian 12 is known here")
        self.name, self.folder = f"container-{name}", "/"
        self.root = CHROOTS / self.name
        if "--keep" not in sys.argv:
            shutil.rmtree(self.root, ignore_errors=True)
        subprocess.run([ROOT / "scripts/chroot.sh", "make", "bookworm", self.name], check=True)

    def run(self, command: str, **more: str) -> None:
        inside = f"cd {self.folder} && {command}"
        words = [ROOT / "scripts/chroot.sh", "run", self.name, "sh", "-c", inside]
        subprocess.run(words, check=True, env=os.environ | more)

    def copy(self, source: str, to: str, stages: dict[str, Stage]) -> None:
        target = self.root / to.lstrip("/")
        if source == ".":
            if not target.exists():
                subprocess.run(["git", "clone", "-q", "--no-hardlinks", ROOT, target], check=True)
            subprocess.run(["git", "-C", target, "fetch", "-q", ROOT, "HEAD"], check=True)
            subprocess.run(["git", "-C", target, "checkout", "-q", "FETCH_HEAD"], check=True)
            return
        stage, _, path = source.removeprefix("--from=").partition(" ")
        for file in glob.glob(str(stages[stage].root) + path):
            shutil.copy(file, target)


def main() -> None:
    stages: dict[str, Stage] = {}
    entry: list[str] = []
    stage = None
    for word, rest in steps():
        print(f"-- {word} {rest}", flush=True)
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            stage = stages[name or "last"] = Stage(image, name or "last")
        elif word == "RUN" and stage:
            stage.run(rest)
        elif word == "WORKDIR" and stage:
            stage.folder = rest
            (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY" and stage:
            source, _, to = rest.rpartition(" ")
            stage.copy(source, to, stages)
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        elif word != "CMD":
            sys.exit(f"this script knows nothing of {word}")
    last = stages["last"]
    world = CHROOTS / "world"
    subprocess.run(["sh", ROOT / "data/world/generate.sh", world], check=True)
    program = " ".join(entry)
    last.run(f"{program} fit /files/tensor.tsv --rank 10 --sweeps 100 --chains 2 --holdout 0.1 --out run", FILES=str(world))
    last.run(f"{program} evaluate run && {program} --version")
    scores = subprocess.run(
        [ROOT / "scripts/chroot.sh", "run", last.name, *entry, "evaluate", "/data/run", "--json"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert json.loads(scores)["auc_roc"] > 0.9, scores
    print("All steps of the Containerfile work, and the program fits.")
    (here,), (there,) = (list(root.glob("build/deb/*.deb")) for root in (ROOT, stages["build"].root / "src"))
    if here.read_bytes() != there.read_bytes():
        sys.exit(f"{here} and {there} of the same commit differ")
    print(f"{here.name} is the same as in the clone, byte for byte.")


if __name__ == "__main__":
    main()
