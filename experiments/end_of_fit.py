#!/usr/bin/python3
"""How long does a fit take when its last sweep is done? Runs the same fit with two builds of ztp by turns, on the shape of
the Facebook data, keeping a draw of nearly every sweep, and prints the medians.

    experiments/end_of_fit.py OLD/ztp NEW/ztp [FOLDER]        FOLDER: where the run directories are made; /dev/shm is memory
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

os.environ["SOURCE_DATE_EPOCH"] = "1547683200"  # draws.nc tells when the fit began
SHAPE = "--dims 63731,63730,1837 --ones 737498 --rank 50 --seed 1 --no-truth"


def run(command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


def fit(program, tensor, folder, draws, threads):
    """Seconds of sampling, and of all from the start of sampling to the end of the run directory."""
    run([program, "fit", tensor, "--rank", 100, "--chains", 1, "--sweeps", draws + 2, "--burn-in", 2, "--draws", draws]
        + ["--seed", 1, "--threads", threads, "--out", folder, "--force"])
    sampling = float((folder / "trace.tsv").read_text().splitlines()[-1].split("\t")[2])
    return sampling, json.loads((folder / "status.json").read_text())["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=pathlib.Path("/dev/shm"))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ztp-end-", dir=arguments.folder) as scratch:
        scratch = pathlib.Path(scratch)
        run([arguments.new, "simulate"] + SHAPE.split() + ["--out", scratch / "sim"])
        times = {"old": [], "new": []}
        for _ in range(arguments.repeats):
            for name, program in (("old", arguments.old), ("new", arguments.new)):
                times[name].append(
                    fit(program, scratch / "sim/tensor.tsv", scratch / name, arguments.draws, arguments.threads)
                )
        for name, of_runs in times.items():
            sampling = statistics.median(first for first, _ in of_runs)
            after = statistics.median(both - first for first, both in of_runs)
            print(f"{name}\tsampling {sampling:.2f} s\tafter it {after:.2f} s\tof {arguments.draws} draws, "
                  f"{(scratch / name / 'draws.nc').stat().st_size / 1e9:.2f} GB")
        same = all((scratch / "old" / f).read_bytes() == (scratch / "new" / f).read_bytes()
                   for f in ("draws.nc", "means.nc"))
        print("draws.nc and means.nc:", "the same" if same else "DIFFERENT")


if __name__ == "__main__":
    main()
