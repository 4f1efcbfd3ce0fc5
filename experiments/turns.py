#!/usr/bin/env python3
"""Is a build of ztp slower than another? Runs the same fits with both by turns and prints, for each case, the median
time of a sweep of the old and of the new program, and the median, smallest and largest ratio new / old. Turns are
short, so that a machine that is busy for a while slows both programs.

    experiments/turns.py OLD/ztp NEW/ztp [--threads 2] [--repeats 7] [--only facebook] [--shorter 4]
    experiments/turns.py OLD/ztp NEW/ztp --cases "facebook R = 20" "facebook R = 100"

Data are simulated in the shapes of docs/performance.md. Fits write to a temporary folder.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

FACEBOOK = "--dims 42390 39986 224 --ones 737498 --rank 20 --seed 1"
SMALL = "--dims 300 200 50 --ones 20000 --rank 8 --seed 2 --edges mode1=2000"
# name: (data, options of fit, sweeps)
CASES = {
    "facebook R = 20": (FACEBOOK, "--rank 20 --sampler plain", 60),
    "facebook R = 100": (FACEBOOK, "--rank 100 --sampler plain", 30),
    "facebook R = 20, a = 0.005": (FACEBOOK, "--rank 20 --sampler plain --dirichlet 0.005", 12),
    "facebook R = 20, learned": (FACEBOOK, "--rank 20 --sampler plain --learn dirichlet,gamma-shape", 40),
    "facebook R = 700": (FACEBOOK, "--rank 700 --sampler plain", 8),
    "facebook R = 20, held-out cells missing": (
        FACEBOOK, "--rank 20 --sampler plain --holdout 0.1 --holdout-as missing", 40),
    "facebook R = 20, online": (FACEBOOK, "--rank 20 --method online", 200),
    "facebook R = 20, online by means": (FACEBOOK, "--rank 20 --method online --latent mean --parameters mean", 200),
    "small R = 25, collapsed": (SMALL, "--rank 25 --sampler collapsed", 60),
    "small R = 25, network": (SMALL, "--rank 25 --sampler plain --labels mode1={data}/labels/mode1.txt "
                              "--network mode1={data}/network-mode1.tsv", 400),
    "small R = 10, plain": (SMALL, "--rank 10 --sampler plain", 1000),
}


def median_sweep(ztp, data, options, sweeps, threads, out):
    """Seconds of a sweep, the median over the second half of a fit."""
    command = [ztp, "fit", f"{data}/tensor.tsv", *options.format(data=data).split(), "--sweeps", str(sweeps)]
    command += ["--threads", str(threads), "--out", str(out), "--force", "--chains", "1", "--draws", "1"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = (out / "trace.tsv").read_text().splitlines()
    column = lines[0].lstrip("#").split("\t").index("seconds")
    seconds = [float(line.split("\t")[column]) for line in lines[1:]]
    return statistics.median(b - a for a, b in zip(seconds[sweeps // 2 :], seconds[sweeps // 2 + 1 :]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES), metavar="NAME")
    parser.add_argument("--shorter", type=int, default=1, help="divides the number of sweeps")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        print(f"{'case':42} {'old, ms':>9} {'new, ms':>9}   new / old")
        for name, (shape, options, sweeps) in CASES.items():
            if given.only not in name or name not in given.cases:
                continue
            sweeps = max(sweeps // given.shorter, 6)
            if shape not in made:
                made[shape] = pathlib.Path(folder) / f"data{len(made)}"
                command = [given.old, "simulate", *shape.split(), "--out", made[shape]]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times = {given.old: [], given.new: []}
            for _ in range(given.repeats):
                for ztp in times:
                    out = pathlib.Path(folder) / "run"
                    times[ztp].append(median_sweep(ztp, made[shape], options, sweeps, given.threads, out))
            ratios = [new / old for old, new in zip(times[given.old], times[given.new])]
            old, new = (1000 * statistics.median(times[ztp]) for ztp in (given.old, given.new))
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"{name:42} {old:9.2f} {new:9.2f}   {spread}", flush=True)


main()
