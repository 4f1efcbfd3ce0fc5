#!/usr/bin/python3
"""Do two fits of the same data agree? Held-out probabilities of fits that differ in their seed alone, "Two fits" in
docs/results.md.

usage: agreement.py [--data world,kinship,umls] [--pairs 3]

A tenth of all cells is held out, as missing, the same for all fits. Of each pair of fits: the mean absolute difference
of the probabilities of held-out cells, over those whose mean is between 0.05 and 0.95. Settings are the defaults; modes
whose entities relate to each other are tied, too. Rows go to build/paper/agreement.tsv, one a pair. What is there with
the same options is not done again. The page is made at the end, or with --report.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402
import relational  # noqa: E402

DATA = {"world": "world memberships", "kinship": "Kinship", "umls": "UMLS"}
# {data: {model: options}}
OPTIONS = {
    "world": {"CP": ""},
    "kinship": {"CP": "", "tied": "--tie person_i=person_j"},
    "umls": {"CP": "", "tied": "--tie concept_i=concept_j"},
}
KEYS = ["data", "model", "options", "pair"]
VALUES = ["difference", "cells", "log_loss", "worst_r_hat", "median_r_hat", "seconds"]


def outcomes(test):
    return [line.rsplit("\t", 1)[1].strip() == "1" for line in test.read_text().splitlines() if line[0] != "#"]


def probabilities(run, test):
    lines = common.ztp("predict", run, test).splitlines()
    place = lines[0].lstrip("#").split("\t").index("probability")
    return [float(line.split("\t")[place]) for line in lines[1:]]


def log_loss(probability, outcome):
    return -sum(math.log(max(1e-12, p if one else 1 - p)) for p, one in zip(probability, outcome)) / len(outcome)


def fit(work, name, options, seed):
    source = common.make_split(work, name, 1, "cells", "--holdout", 0.1, tensor=relational.tensor_of(name, work))
    run = pathlib.Path(work) / f"{name}-{seed}"
    common.ztp("fit", *source, *options.split(), "--seed", seed, "--out", run, "--force")
    test = common.split_folder(work, name, 1, "cells") / "test.tsv"
    found = common.ztp_json("diagnose", run)
    r_hats = sorted(cell["r_hat"] for cell in found["cells"] if isinstance(cell["r_hat"], float))
    seconds = sum(chain["seconds"] for chain in common.ztp_json("info", run)["chains"])
    return probabilities(run, test), outcomes(test), r_hats, seconds


def measure(work, key):
    first, second = (fit(work, key["data"], key["options"], 2 * int(key["pair"]) + i) for i in (1, 2))
    apart = [abs(p - q) for p, q in zip(first[0], second[0]) if 0.05 < (p + q) / 2 < 0.95]
    r_hats = sorted(first[2] + second[2])
    return {"difference": f"{sum(apart) / len(apart):.4f}", "cells": len(apart),
            "log_loss": f"{(log_loss(*first[:2]) + log_loss(*second[:2])) / 2:.5f}",
            "worst_r_hat": f"{r_hats[-1]:.3f}", "median_r_hat": f"{r_hats[len(r_hats) // 2]:.3f}",
            "seconds": f"{(first[3] + second[3]) / 2:.1f}"}


def markdown(rows):
    lines = ["| data | model | difference | cells | log-loss | R-hat, worst | R-hat, median | seconds | pairs |",
             "|---" * 9 + "|"]
    for name, models in OPTIONS.items():
        for model, options in models.items():
            found = [row for row in rows.all()
                     if (row["data"], row["model"], row["options"]) == (name, model, options)]
            if not found:
                continue
            means = {value: sum(float(row[value]) for row in found) / len(found) for value in VALUES}
            lines.append(f"| {DATA[name]} | {model} | {means['difference']:.3f} | {means['cells']:.0f} | "
                         f"{means['log_loss']:.4f} | {means['worst_r_hat']:.2f} | {means['median_r_hat']:.3f} | "
                         f"{means['seconds']:.0f} | {len(found)} |")
    return "\n".join(lines)


def main():
    args = common.arguments(__doc__, data=(",".join(DATA), "some of " + ", ".join(DATA)), pairs=(3, "pairs of fits"))
    with common.work_folder() as work:
        rows = common.Rows(common.out_folder(args, work) / "agreement.tsv", KEYS, VALUES)
        for name in [] if args.report else args.data.split(","):
            for model, options in OPTIONS[name].items():
                for pair in range(args.pairs):
                    key = dict(data=name, model=model, options=options, pair=pair)
                    if not rows.has(**key):
                        rows.add(**key, **measure(work, key))
        if not args.quick:
            common.publish("agreement", rows.path, None, markdown(rows))


if __name__ == "__main__":
    main()
