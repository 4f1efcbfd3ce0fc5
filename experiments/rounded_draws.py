#!/usr/bin/env python3
"""What it costs that draws of large matrices are rounded to eight binary digits (src/store/packed.hpp): scores of the
held-out cells of a run, from its draws and from the same draws rounded.

    ztp fit $ZTP_DATA/scholars/tensor.tsv.gz --rank 50 --sweeps 100 --holdout 0.1 --out run
    build/venv/bin/python experiments/rounded_draws.py run

The run must have no matrix of a million factors or more, since those are rounded already. Needs netCDF4 and scikit-learn:
build/venv, made by `make test`, has them."""
import argparse
import pathlib
import re

import netCDF4
import numpy as np
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

packed_from = 1 << 20


def rounded(values):
    """float32 to eight significant binary digits, ties to even: the upper two of four bytes."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def test_cells(run, modes):
    """Rows of each mode, and what was held out: 1 or 0."""
    lines = [line.split("\t") for line in (run / "test.tsv").read_text().splitlines() if not line.startswith("#")]
    ids = []
    for k, mode in enumerate(modes):
        labels = {label: row for row, label in enumerate((run / "labels" / f"{mode}.txt").read_text().splitlines())}
        ids.append(np.array([labels[line[k]] for line in lines]))
    return ids, np.array([int(line[-1]) for line in lines])


def probabilities(posterior, names, ids, change):
    """Means over draws of 1 - exp(-z)."""
    chains, draws, _ = posterior["lambda"].shape
    sum_of_draws = np.zeros(len(ids[0]))
    for c in range(chains):
        for d in range(draws):
            weights = np.asarray(posterior["lambda"][c, d], dtype=np.float64)
            factors = [change(np.asarray(posterior[name][c, d], dtype=np.float32)) for name in names]
            for first in range(0, len(ids[0]), 100_000):
                part = slice(first, first + 100_000)
                product = np.ones(1)
                for factor, rows in zip(factors, ids):
                    product = product * factor[rows[part]].astype(np.float64)
                sum_of_draws[part] += -np.expm1(-product @ weights)
    return np.clip(sum_of_draws / (chains * draws), 1e-12, 1 - 1e-12)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    run = parser.parse_args().run
    with netCDF4.Dataset(run / "draws.nc") as file:
        posterior = file["posterior"].variables
        modes = [str(name) for name in file["constant_data"]["mode_name"][:]]
        names = ["u_" + re.sub(r"[^A-Za-z0-9]", "_", mode) for mode in modes]
        for name in names:
            if np.prod(posterior[name].shape[2:]) >= packed_from:
                parser.error(f"{name} is rounded already: give a run with a smaller --rank")
        ids, truth = test_cells(run, modes)
        print("draws\tAUC-ROC\tAUC-PR\tlog-loss")
        both = []
        for title, change in (("as drawn", lambda u: u), ("rounded", rounded)):
            p = probabilities(posterior, names, ids, change)
            both.append(p)
            print(f"{title}\t{roc_auc_score(truth, p):.6f}\t{average_precision_score(truth, p):.6f}\t"
                  f"{log_loss(truth, p):.6f}")
    change = np.abs(both[1] - both[0])
    print(f"a probability changes by {change.mean():.1e} on average, by {change.max():.1e} at most")


if __name__ == "__main__":
    main()
