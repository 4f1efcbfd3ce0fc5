#!/usr/bin/env python3
"""How large a run directory and a pickle of a fit are (docs/python.md).

  experiments/pickle_size.py
  experiments/pickle_size.py --dims 20000 6000 100 --ones 200000 --draws 20    factors that are stored in half the room

Run it by a Python that has ztp installed. Fits a simulated tensor, and prints the size of its run directory: all files,
those that answers need (all but the checkpoints of chains, which only resume and partial_fit read), and the draws. Then
that of a pickle of the model, which has all of it, and the seconds to pickle and to load it.
"""
import argparse
import os
import pickle
import time

import ztp


def size_of(folder, wanted):
    return sum(
        os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names if wanted(name)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=[2000, 1500, 50])
    parser.add_argument("--ones", type=int, default=100_000)
    parser.add_argument("--rank", type=int, default=200)
    parser.add_argument("--sweeps", type=int, default=40)
    parser.add_argument("--draws", type=int, default=None)
    given = parser.parse_args()
    X = ztp.simulate(given.dims, given.ones, rank=50).X
    model = ztp.TensorFactorization(given.rank, sweeps=given.sweeps, draws=given.draws, holdout=0.1).fit(X)
    run = model.run_dir_
    begin = time.perf_counter()
    text = pickle.dumps(model, protocol=5)
    pickled = time.perf_counter()
    pickle.loads(text)
    loaded = time.perf_counter()
    parts = [
        ("run directory", size_of(run, lambda name: True)),
        ("what answers need", size_of(run, lambda name: not name.startswith("chain-"))),
        (f"draws.nc, {model.posterior_.draws} draws", size_of(run, lambda name: name == "draws.nc")),
        ("pickle", len(text)),
    ]
    for what, size in parts:
        print(f"{what:<24} {size / 1e6:9.1f} MB")
    print(f"pickled in {pickled - begin:.2f} s, loaded in {loaded - pickled:.2f} s")


if __name__ == "__main__":
    main()
