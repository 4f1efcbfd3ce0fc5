#!/usr/bin/env python3
"""Run directories of 1.0 stay readable: small ones, one of each kind, with the answers they gave (docs/stability.md).

    stored_runs.py check PROGRAM [NAME...]   asks every question again, then continues the runs
    stored_runs.py make PROGRAM [NAME...]    makes them. Those of a released version are never made again

Each is NAME.tar.xz beside this script: run/, what is needed to ask (data/), and answers.json.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SMALL = "--rank 3 --chains 2 --sweeps 20 --draws 4 --threads 2"
ONLINE = "--method online --rank 3 --chains 2 --sweeps 60 --minibatch 40 --draws 4 --threads 2"

# What is fitted, and what continues the run afterwards.
RUNS = {
    "batch": (f"ones.tsv {SMALL}", ["resume run --sweeps 40", "update run new.tsv"]),
    "online": (f"ones.tsv {ONLINE}", ["update run new.tsv"]),
    "tensor-file": (f"ones.ztpt {ONLINE}", ["update run new.tsv"]),
    "counts": (f"counts.tsv --likelihood count {SMALL}", ["update run new-counts.tsv"]),
    "network": (f"ones.tsv --network user=network-user.tsv --labels user=users.txt {SMALL}", ["update run --network user=new-edges.tsv"]),
    "missing": (
        "ones.tsv --network user=network-user.tsv --missing cells.tsv --missing-slices user=unseen.txt"
        f" --missing-pairs user=pairs.tsv --labels user=users.txt {SMALL}",
        ["update run new.tsv"],
    ),
    "columns": (f"facts.tsv --tie subject=object --self-cells missing --columns 3 {SMALL}", ["resume run --sweeps 40"]),
    "learned": (f"ones.tsv --learn dirichlet,gamma-shape --sampler plain {SMALL}", ["update run new.tsv"]),
    "calibrated": (f"ones.tsv --holdout 0.4 {SMALL}", ["resume run --sweeps 40"]),
    "updated": (f"ones.tsv {SMALL}", ["update run newest.tsv"]),
    # So many users that their factors are packed; the prior makes most of them zero, and the file small.
    "packed": ("ones.tsv --labels user=many-users.txt --dirichlet 0.0001 --rank 3 --chains 1 --sweeps 20 --draws 2",
               ["resume run --sweeps 40"]),
    "logistic": (f"ones.tsv --model logistic {SMALL}", ["resume run --sweeps 40"]),
    "quad": ("ones.tsv --model quad --rank 3 --sweeps 20", []),
    "pwquad": ("ones.tsv --model pwquad --rank 3 --sweeps 20", []),
    # Stopped after its checkpoint, with draws before and to come.
    "interrupted": ("ones.tsv --rank 3 --chains 2 --sweeps 3000 --burn-in 100 --draws 40 --checkpoint 20 --threads 2", ["resume run"]),
}
QUESTIONS = [
    "info run --json",
    "predict run asked.tsv --json",
    "evaluate run tested.tsv --json",
    "evaluate run tested.tsv --ranking all --json",
    "diagnose run --json",
    "components run --top 3 --json",
    "recommend run {entity} --top 3 --json",
]
# Words may change, and what depends on the clock, the machine and the version.
NOT_COMPARED = {"sentences", "seconds", "ess_per_second", "ended", "peak_memory_bytes", "threads", "kernel",
                "ones_file"}  # fmt: skip


class Failed(Exception):
    pass


def run(program: str, words: str, directory: pathlib.Path) -> tuple[int, str]:
    done = subprocess.run(
        [program, *words.split()], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def must(program: str, words: str, directory: pathlib.Path) -> str:
    code, text = run(program, words, directory)
    if code != 0:
        raise Failed(f"exit code {code}: ztp {words}\n{text}")
    return text


def objects(text: str) -> list[object]:
    """One JSON text, or one in each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def answers(program: str, directory: pathlib.Path) -> dict[str, object]:
    """What a run says to each question; a question that is refused has an exit code instead."""
    entity = (directory / "asked.tsv").read_text().splitlines()[:2]
    entity = f"{entity[0].lstrip('#').split()[0]}={entity[1].split()[0]}"
    found: dict[str, object] = {}
    for question in QUESTIONS:
        code, text = run(program, question.format(entity=entity), directory)
        found[question] = objects(text) if code == 0 else code
    return found


def differences(old: object, new: object, where: str) -> list[str]:
    """New keys are no difference. Another processor may round the last digits of a float differently."""
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [f"{where}.{key} is gone" for key in old.keys() - new.keys() - NOT_COMPARED]
        shared = sorted((old.keys() & new.keys()) - NOT_COMPARED)
        return gone + [text for key in shared for text in differences(old[key], new[key], f"{where}.{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [text for i, pair in enumerate(zip(old, new)) for text in differences(*pair, f"{where}[{i}]")]
    if isinstance(old, float) and isinstance(new, (int, float)):
        return [] if math.isclose(old, new, rel_tol=1e-5, abs_tol=1e-7) else [f"{where}: {old} has become {new}"]
    return [] if old == new else [f"{where}: {old} has become {new}"]


def rows(path: pathlib.Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def make_data(program: str, directory: pathlib.Path) -> None:
    """Simulated ones and facts, and parts of them."""
    write = lambda name, lines: (directory / name).write_text("\n".join(lines) + "\n")  # noqa: E731
    simulated = "simulate --dims 12,10,6 --ones 160 --rank 3 --no-truth --seed 7 --out made --mode-names user,item,week"
    must(program, f"{simulated} --edges user=15", directory)
    must(program, "simulate --kind relations --dims 14,4,14 --communities 3 --ones 150 --no-truth --seed 7 --out facts",
         directory)
    ones, edges = rows(directory / "made/tensor.tsv"), rows(directory / "made/network-user.tsv")
    facts = (directory / "facts/tensor.tsv").read_text().splitlines()
    header = "#user\titem\tweek"
    write("ones.tsv", [header, *ones[:150]])
    write("new.tsv", [header, *ones[150:], "someone\t1\t1"])
    write("newest.tsv", [header, "someone\t2\t2"])
    write("counts.tsv", [header, *(f"{one}\t{i % 3 + 1}" for i, one in enumerate(ones[:150]))])
    write("new-counts.tsv", [header, *(f"{one}\t2" for one in ones[150:])])
    write("network-user.tsv", ["#user\tuser", *edges[:-2]])
    write("new-edges.tsv", ["#user\tuser", *edges[-2:]])
    write("cells.tsv", [header, "1\t2\t3", "2\t3\t4"])
    users = sorted({one.split("\t")[0] for one in ones})
    write("users.txt", [*users, "unseen"])
    write("unseen.txt", ["unseen"])
    write("many-users.txt", map(str, range(1, 350001)))
    write("pairs.tsv", ["#user\tuser", f"{users[0]}\tunseen"])
    facts[0] = "#subject\trelation\tobject"
    write("facts.tsv", facts)
    must(program, "convert ones.tsv ones.ztpt", directory)


def make_questions(directory: pathlib.Path, file: str) -> None:
    """Cells to predict, and cells with outcomes: those of the file, and with the last mode moved on by one row."""
    lines = (directory / file.replace(".ztpt", ".tsv")).read_text().splitlines()
    header, cells = lines[0], [line.split("\t")[:3] for line in lines[1:]]
    ones = set(map(tuple, cells))
    moved = [tuple([*cell[:2], cells[(i + 1) % len(cells)][2]]) for i, cell in enumerate(cells)]
    zeros = [cell for cell in dict.fromkeys(moved) if cell not in ones][:20]
    asked = [*cells[:3], *zeros[:3]]
    tested = [[*cell, "1"] for cell in cells[:20]] + [[*cell, "0"] for cell in zeros]
    for name, rows_ in (("asked.tsv", asked), ("tested.tsv", tested)):
        (directory / name).write_text("\n".join([header, *("\t".join(row) for row in rows_)]) + "\n")


def interrupt(program: str, words: str, directory: pathlib.Path) -> None:
    """Ctrl-C between two checkpoints, when there are draws."""
    with subprocess.Popen([program, *words.split()], cwd=directory, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as fit:  # fmt: skip
        trace = directory / "run/trace.tsv"
        while fit.poll() is None and (not trace.exists() or trace.read_text().count("\n") < 500):
            time.sleep(0.001)
        fit.send_signal(signal.SIGINT)
    if fit.returncode != 130:
        raise Failed(f"not interrupted, but exit code {fit.returncode}")


def make(program: str, name: str, directory: pathlib.Path) -> None:
    words, further = RUNS[name]
    make_data(program, directory)
    make_questions(directory, words.split()[0])
    fit = f"fit {words} --out run"
    interrupt(program, fit, directory) if name == "interrupted" else must(program, fit, directory)
    if name == "updated":
        must(program, "update run new.tsv --sweeps 20 --draws 4", directory)
    (directory / "answers.json").write_text(json.dumps(answers(program, directory)))
    needed = {"run", "answers.json", "asked.tsv", "tested.tsv", "ones.ztpt" if name == "tensor-file" else "run"}
    needed |= {word.split("=")[-1] for text in further for word in text.split() if word.endswith(".tsv")}
    with tarfile.open(HERE / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for entry in sorted(needed):
            archive.add(directory / entry, entry, filter=without_owner)
    print(f"{name}: {(HERE / f'{name}.tar.xz').stat().st_size} bytes")


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def check(program: str, name: str, directory: pathlib.Path) -> None:
    with tarfile.open(HERE / f"{name}.tar.xz") as archive:
        archive.extractall(directory)
    if name == "tensor-file":
        move_tensor_file(program, directory)
    old = json.loads((directory / "answers.json").read_text())
    new = answers(program, directory)
    wrong = [text for question in QUESTIONS for text in differences(old[question], new[question], question)]
    if wrong:
        raise Failed("\n".join(wrong[:20]))
    code, text = run(program, "report run -o report.html", directory)
    if code != (4 if name == "interrupted" else 0) and not (code == 0 and (directory / "report.html").stat().st_size):
        raise Failed(f"no report: exit code {code}\n{text}")
    for words in RUNS[name][1]:
        must(program, words, directory)
        after = answers(program, directory)
        if after["predict run asked.tsv --json"] == old["predict run asked.tsv --json"]:
            raise Failed(f"nothing has changed: ztp {words}")
        info = after["info run --json"][0]  # type: ignore[index]
        if info["status"] != "complete":
            raise Failed(f"not complete after ztp {words}")


def move_tensor_file(program: str, directory: pathlib.Path) -> None:
    """A run of a tensor file knows where that is. The manifest has the checksum of what is changed here."""
    path = directory / "run/options.json"
    options = json.loads(path.read_text())
    path.write_text(path.read_text().replace(options["ones_file"], str(directory / "ones.ztpt")))
    mend = pathlib.Path(program).parent / "tests/mend_manifest"
    subprocess.run([mend, "run", "options.json"], cwd=directory, check=True)


def main(task: str, program: str, *names: str) -> None:
    os.environ["SOURCE_DATE_EPOCH"] = "1547683200"
    assert differences({"p": [0.5], "q": 1}, {"p": [0.5001]}, "") == [".q is gone", ".p[0]: 0.5 has become 0.5001"]
    assert not differences({"p": 0.5, "seconds": 1.0}, {"p": 0.5, "q": 1, "seconds": 2.0}, "")
    failed = 0
    for name in names or RUNS:
        with tempfile.TemporaryDirectory() as directory:
            try:
                (make if task == "make" else check)(os.path.abspath(program), name, pathlib.Path(directory))
            except Failed as failure:
                print(f"FAILED: {name}: {failure}")
                failed = 1
    stored = {path.name.removesuffix(".tar.xz") for path in HERE.glob("*.tar.xz")}
    if stored != set(RUNS):
        print(f"FAILED: stored are {sorted(stored)}")
        failed = 1
    sys.exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
