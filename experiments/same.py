#!/usr/bin/python3
"""Do two builds of ztp do the same? Runs the same commands with both, each in a folder of its own, and compares, byte
for byte, what they print and every file they write: draws, means, traces, predictions, tensor files, splits. What tells
the time is taken out first. Some runs are begun by the old program in both folders, and gone on with by each.

    experiments/same.py OLD/ztp NEW/ztp        prints each command, and exits 1 if one differs
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ["SOURCE_DATE_EPOCH"] = "1547683200"  # draws.nc tells when the fit began
FIT = "--rank 6 --sweeps 40 --threads 2"
STEPS = f"""
simulate --dims 40 30 20 --ones 1500 --rank 4 --edges mode1=120 --edges mode2=60 --seed 3 --out sim
simulate --dims 12 10 8 6 --ones 300 --rank 2 --kind model --seed 5 --out small
split sim/tensor.tsv --labels sim/labels --out ones --seed 2
split sim/tensor.tsv --labels sim/labels --protocol cells --holdout 0.2 --out cells
split sim/tensor.tsv --labels sim/labels --protocol slices --mode mode1 --after 34 --out slices
convert ones/train.tsv ones.ztpt --labels ones/labels
check ones.ztpt --rank 5 --sweeps 10
fit sim/tensor.tsv {FIT} --out plain --sampler plain
fit sim/tensor.tsv {FIT} --out reference --sampler plain --kernel reference --network mode1=sim/network-mode1.tsv
fit ones/train.tsv --labels ones/labels {FIT} --out batch --chains 2 --network mode1=sim/network-mode1.tsv \
  --network mode2=sim/network-mode2.tsv --test ones/test.tsv --learn dirichlet,gamma-shape
fit ones/train.tsv --labels ones/labels {FIT} --out missing --holdout 0.1 --holdout-as missing --dirichlet mode1=0.5
fit slices/train.tsv --labels slices/labels {FIT} --out cold --missing-slices mode1=slices/missing-mode1.txt \
  --network mode1=sim/network-mode1.tsv --test slices/test.tsv
fit ones/train.tsv --labels ones/labels --rank 6 --sweeps 60 --threads 2 --out online --method online \
  --network mode1=sim/network-mode1.tsv --test ones/test.tsv --checkpoint 7
fit ones.ztpt --rank 6 --sweeps 60 --threads 2 --out filed --method online --minibatch 300 \
  --latent sample --parameters mean
fit small/tensor.tsv --rank 700 --sweeps 12 --threads 2 --out wide --sampler plain
fit small/tensor.tsv --rank 5 --sweeps 30 --out prior --start prior --keep-every 2
fit counts.tsv --likelihood count {FIT} --out counts --holdout 0.1
fit sim/tensor.tsv --model logistic --rank 4 --sweeps 20 --threads 2 --out logistic --holdout 0.1
fit sim/tensor.tsv --model quad --rank 4 --sweeps 20 --threads 2 --out quad --holdout 0.1
fit sim/tensor.tsv --model pwquad --blocks 64 --rank 4 --sweeps 20 --threads 2 --out pwquad --holdout 0.1
resume plain --sweeps 55
resume online --sweeps 70
old: fit sim/tensor.tsv {FIT} --chains 2 --network mode1=sim/network-mode1.tsv --learn dirichlet --out before
resume before --sweeps 50
old: fit sim/tensor.tsv --rank 6 --sweeps 60 --threads 2 --method online --out before-online
update before-online news.tsv --sweeps 9
update online news.tsv --sweeps 9 --out updated
update batch --network mode1=news-edges.tsv --sweeps 9 --out updated-batch
info batch
info logistic --json
predict batch ones/test.tsv
predict online ones/test.tsv
predict updated ones/test.tsv --json
predict cold slices/test.tsv
predict counts ones/train.tsv
predict logistic logistic/test.tsv
predict pwquad pwquad/test.tsv
predict wide small/tensor.tsv
evaluate batch
evaluate batch --ranking all --filter ones/train.tsv --json
evaluate online ones/test.tsv --json
evaluate pwquad
components batch --top 3
components wide --all --json
recommend batch mode1=1 --top 5
recommend online mode2=3 mode3=4 --json
diagnose batch --json
diagnose online
fit --options-markdown
fit sim/tensor.tsv --out plain
fit sim/tensor.tsv --rank 0 --out never
fit absent.tsv --out never
predict batch absent.tsv
""".strip().splitlines()

# What tells the time or the memory, in text of any kind.
TIMES = [
    (r'"(\w*seconds\w*|\w*_per_second|created|\w*memory\w*)": ?("[^"\n]*"|[^,}\n]*)', r'"\1": -'),
    (r"\d+(\.\d+)?(e-?\d+)? ?(s|us|ms|min|h|seconds|minutes|hours|days|KiB|MiB|GiB|KB|MB|GB|kB)\b", "- s"),
    (r"\d{4}-\d\d-\d\dT[\d:]+Z", "-"),
    # ESS/s of diagnose.
    (r"(?m)^((?:log-likelihood|occupied rank|total weight|cell, \w+ [\w-]+|learned).*?) +\S+$", r"\1 -"),
]


def plain(text):
    for pattern, replacement in TIMES:
        text = re.sub(pattern, replacement, text)
    return text


def contents(path):
    """The bytes of a file, but for the time; None where a file is nothing but that."""
    if path.suffix in (".json", ".tsv", ".txt"):
        text = path.read_text(errors="surrogateescape")
        if path.name == "manifest.json":
            return None  # the hash of options.json, which has the time
        if path.name == "trace.tsv":
            return "\n".join(
                "\t".join(c for i, c in enumerate(line.split("\t")) if i != 2) for line in text.splitlines()
            )
        if path.suffix == ".json":
            return json.dumps(without_time(json.loads(text)), sort_keys=True)
        return text
    if path.name.startswith("chain-") or path.name.startswith("checkpoint-"):
        return path.stat().st_size  # has the seconds
    return path.read_bytes()


def without_time(value):
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if not re.search("seconds|created|memory|command|_at$", k)}
    if isinstance(value, list):
        return [without_time(v) for v in value]
    return value


def run(program, folder, step):
    done = subprocess.run(
        [program] + step.split(), cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    out = plain(done.stdout)
    # What 'check' says is times; that it says the same words is enough.
    return done.returncode, re.sub(r"[\d.]+", "-", out) if step.startswith("check") else out, plain(done.stderr)


def run_all(program, old, scratch, name):
    """Everything with one program; both see the same paths. What each command said, and the folder."""
    work = scratch / "work"
    work.mkdir()
    said = []
    for step in STEPS:
        if step.startswith("split") and not (work / "counts.tsv").exists():
            prepare(work)
        begun = step.removeprefix("old: ")
        said.append(run(program if begun == step else old, work, begun))
    return said, work.rename(scratch / name)


def prepare(folder):
    """Files that no command makes, from those that one has made."""
    ones = (folder / "sim" / "tensor.tsv").read_text().splitlines()
    (folder / "counts.tsv").write_text(
        ones[0] + "\tcount\n" + "".join(f"{line}\t{1 + i % 3}\n" for i, line in enumerate(ones[1:]))
    )
    news = [f"{1 + i}\t{1 + i % 30}\t{1 + i * 7 % 20}" for i in range(40)] + ["new\t1\t2", "new\t3\t4"]
    (folder / "news.tsv").write_text("\n".join([ones[0]] + news) + "\n")
    (folder / "news-edges.tsv").write_text("1\tnew\n2\tnew\n3\t9\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    arguments = parser.parse_args()
    differing = files = 0
    with tempfile.TemporaryDirectory(prefix="ztp-same-") as scratch:
        old, new = [run_all(program.resolve(), arguments.old.resolve(), pathlib.Path(scratch), name)
                    for program, name in ((arguments.old, "old"), (arguments.new, "new"))]
        folders = [old[1], new[1]]
        for step, before, after in zip(STEPS, old[0], new[0]):
            print(f"{'same' if before == after else 'DIFFERENT'}  exit {after[0]}  ztp {step}")
            if before != after:
                differing += 1
                lines = [f"exit {said[0]}\n{said[1]}{said[2]}".splitlines() for said in (before, after)]
                print("\n".join(list(difflib.unified_diff(*lines, "old", "new", lineterm="", n=0))[:20]))
        names = [sorted(str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()) for f in folders]
        if names[0] != names[1]:
            differing += 1
            print("DIFFERENT  names of files:", sorted(set(names[0]) ^ set(names[1])))
        for name in sorted(set(names[0]) & set(names[1])):
            files += 1
            if contents(folders[0] / name) != contents(folders[1] / name):
                differing += 1
                print("DIFFERENT ", name)
    print(f"{len(STEPS)} commands, {files} files: {'all the same' if differing == 0 else f'{differing} differ'}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
