#!/usr/bin/env python3
"""What Python's fit costs beyond the C++ call, in time and memory (docs/python.md).

  experiments/python_overhead.py                                 a million ones, ten pairs of fits
  experiments/python_overhead.py --ones 20000000 --sweeps 2 --rank 10 --pairs 2    memory of many ones

Run it by a Python that has ztp installed. In turns, so that a machine that is busy for a while slows both: the C++ call
(bench_fit_arrays: make_dataset and fit, of ids that are in memory) and TensorFactorization.fit of the same ids as an
int64 array, each in a process of its own, on one thread. Prints a line for each pair, then the ratio of the medians,
and what copies of the coordinates there were at the peak beyond those of C++. Two fits of the same kind differ by more
than these do, so there is also the time that Python's fit spends outside of the two C++ calls, which is what it costs.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[1]


def memory(what):
    """MiB of this process: VmRSS, what it has now; VmHWM, at its peak."""
    return int(re.search(what + r":\s+(\d+)", pathlib.Path("/proc/self/status").read_text()).group(1)) / 1024


def fit_here(cells, modes, options, run):
    """The same as bench_fit_arrays, in Python."""
    import numpy as np

    import ztp

    from ztp import _core

    inside = []

    def timed(call):
        def run(*arguments):
            begin = time.perf_counter()
            result = call(*arguments)
            inside.append(time.perf_counter() - begin)
            return result

        return run

    _core.make_data, _core.fit = timed(_core.make_data), timed(_core.fit)
    X = np.fromfile(cells, np.uint32).reshape(-1, modes).astype(np.int64)
    model = ztp.TensorFactorization(**options, n_jobs=1, out=run, progress=False)
    before, begin, processors = memory("VmRSS"), time.perf_counter(), time.process_time()
    model.fit(X)
    wall, processors = time.perf_counter() - begin, time.process_time() - processors
    print(f"{wall:.4f} {processors:.4f} {before:.1f} {memory('VmHWM'):.1f} {wall - sum(inside):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ones", type=int, default=1_000_000)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--fit", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    options = {"rank": given.rank, "sweeps": given.sweeps, "draws": 5, "chains": 1, "sampler": "plain"}
    if given.fit:
        return fit_here(given.fit[0], 3, options, given.fit[1])
    import numpy as np

    import ztp

    program = HERE / "build/release/bench_fit_arrays"
    subprocess.run(
        ["cmake", "--build", program.parent, "--target", program.name], check=True, stdout=subprocess.DEVNULL
    )
    with tempfile.TemporaryDirectory() as folder:
        cells = pathlib.Path(folder) / "cells"
        shape = (given.ones // 50, given.ones // 100, 1000)
        X = ztp.simulate(shape, given.ones, rank=10).X
        np.random.default_rng(1).shuffle(X)
        X.astype(np.uint32).tofile(cells)
        coordinates = X.size * 4 / 2**20
        del X
        rows = {"C++": [], "Python": []}
        commands = {
            "C++": [program, cells, "3", json.dumps({**options, "threads": 1})],
            "Python": [sys.executable, __file__, *map(str, sys.argv[1:]), "--fit", cells],
        }
        for pair in range(given.pairs):
            for name in sorted(commands, reverse=pair % 2 == 1):
                run = pathlib.Path(folder) / f"{name}-{pair}"
                out = subprocess.run([*commands[name], run], check=True, capture_output=True, text=True).stdout
                rows[name].append([float(number) for number in out.split()])
            assert (pathlib.Path(folder) / f"C++-{pair}/means.nc").stat().st_size > 0
            print(
                f"pair {pair + 1}:",
                *(f"{name} {r[-1][0]:.2f} s ({r[-1][1]:.2f} s of processor)" for name, r in rows.items()),
                flush=True,
            )
        for column, what in enumerate(["wall", "processor"]):
            medians = [statistics.median(row[column] for row in rows[name]) for name in ("C++", "Python")]
            ratios = sorted(p[column] / c[column] for c, p in zip(rows["C++"], rows["Python"]))
            print(f"{what} time: medians {medians[0]:.3f} and {medians[1]:.3f} s, ratio {medians[1] / medians[0]:.4f}"
                  f" (pairs {ratios[0]:.4f} to {ratios[-1]:.4f}, median {statistics.median(ratios):.4f})")
        outside = sorted(row[4] for row in rows["Python"])
        share = statistics.median(row[4] / row[0] for row in rows["Python"])
        print(
            f"outside of the C++ calls: {outside[0]:.4f} to {outside[-1]:.4f} s, "
            f"median {statistics.median(outside):.4f} s, {share:.2%} of the fit"
        )
        growth = {name: statistics.median(row[3] - row[2] for row in r) for name, r in rows.items()}
        print(
            f"memory: coordinates {coordinates:.1f} MiB; the call adds {growth['C++']:.1f} MiB in C++ (which owns them"
            f" already) and {growth['Python']:.1f} MiB in Python: "
            f"{(growth['Python'] - growth['C++']) / coordinates:.2f} copies more"
        )


if __name__ == "__main__":
    main()
