#!/usr/bin/python3
"""What a fit gives by default: the tables "Two fits", "Longer chains" and "Old and new defaults" of docs/results.md.

usage: defaults.py [--parts agreement,length,scores] [--data world,kinship] [--pairs 2] [--splits 3]

agreement: two fits of the same split that differ in their seed alone. A tenth of all cells is held out. The mean
absolute difference of their probabilities is over held-out cells whose mean probability is between 0.05 and 0.95.
length: R-hat of watched cells of Kinship, four chains that go on to more and more sweeps.
scores: held-out scores with the earlier defaults (rank 20, one chain of 1,000 sweeps, held-out cells as zeros)
and with today's. Of world, Kinship, UMLS and MovieLens a tenth of all cells is held out; of DBLP and Scholars a tenth
of the ones, with five zeros each.
Rows go to build/paper, one a pair or a fit. What is there is not done again. The tables are made at the end, or with
--report.
"""
import math
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402
import relational  # noqa: E402

NAMES = {"world": "world memberships", "kinship": "Kinship", "umls": "UMLS", "movielens-100k": "MovieLens",
         "dblp-10k": "DBLP", "scholars": "Scholars"}
TIED = {"kinship": "--tie person_i=person_j", "umls": "--tie concept_i=concept_j"}
BY_ONES = ("dblp-10k", "scholars")
DEFAULTS = {"old": "--rank 20 --chains 1 --sweeps 1000 --draws 100 --holdout-as zero", "new": ""}
FIRST_SPLIT = 1

AGREEMENT = (["data", "model", "options", "pair"],
             ["raw_difference", "difference", "cells", "log_loss", "worst_r_hat", "median_r_hat", "rank", "seconds"])
LENGTH = (["model", "sweeps"], ["worst_r_hat", "median_r_hat", "agree", "log_loss", "seconds"])
SWEEPS = (1000, 2000, 4000, 8000)
SCORES = (["data", "defaults", "split"], ["auc_roc", "auc_pr", "log_loss", "rank", "seconds"])


def split_of(work, name, split):
    protocol = "ones" if name in BY_ONES else "cells"
    tensor = relational.tensor_of(name, work) if name == "world" else None
    source = common.make_split(work, name, split, protocol, "--holdout", 0.1, tensor=tensor)
    return source, common.split_folder(work, name, split, protocol) / "test.tsv"


def fit(work, name, split, seed, options):
    source, test = split_of(work, name, split)
    run = pathlib.Path(work) / f"run-{seed}"
    common.ztp("fit", *source, *options.split(), "--seed", seed, "--out", run, "--force", schedule=list)
    return run, test


def probabilities(run, test, *flags):
    lines = common.ztp("predict", run, test, *flags).splitlines()
    place = lines[0].lstrip("#").split("\t").index("probability")
    return [float(line.split("\t")[place]) for line in lines[1:]]


def r_hats_of(run):
    """Of its watched cells, ascending."""
    found = common.ztp_json("diagnose", run)["cells"]
    return sorted(cell["r_hat"] for cell in found if isinstance(cell["r_hat"], float))


def measure_lengths(work, rows):
    for model, options in {"CP": "--rank 100", "tied": TIED["kinship"]}.items():
        if all(rows.has(model=model, sweeps=sweeps) for sweeps in SWEEPS):
            continue
        run, _ = fit(work, "kinship", FIRST_SPLIT, 1, f"{options} --chains 4 --sweeps {SWEEPS[0]}")
        for sweeps in SWEEPS:
            common.ztp("resume", run, "--sweeps", sweeps)
            r_hats = r_hats_of(run)
            if not rows.has(model=model, sweeps=sweeps):
                rows.add(model=model, sweeps=sweeps, worst_r_hat=f"{r_hats[-1]:.3f}",
                         median_r_hat=f"{r_hats[len(r_hats) // 2]:.3f}", agree=sum(r < 1.05 for r in r_hats),
                         log_loss=f"{common.evaluate(run)['log_loss']:.5f}",
                         seconds=f"{common.ztp_json('info', run)['seconds']:.0f}")


def length_table(rows):
    lines = ["| model | sweeps of each chain | R-hat, worst | median | cells below 1.05, of 64 | log-loss | seconds |",
             "|---" * 7 + "|"]
    for row in rows.all():
        lines.append("| " + " | ".join(row[name] for name in (*LENGTH[0], *LENGTH[1])) + " |")
    return "\n".join(lines)


def measure_pair(work, name, options, pair):
    runs = [fit(work, name, FIRST_SPLIT, seed, options) for seed in (2 * pair + 1, 2 * pair + 2)]

    def apart(*flags):
        first, second = (probabilities(*run, *flags) for run in runs)
        return [abs(p - q) for p, q in zip(first, second) if 0.05 < (p + q) / 2 < 0.95]

    raw, now = apart("--raw"), apart()
    r_hats = sorted(r_hat for run, _ in runs for r_hat in r_hats_of(run))
    infos = [common.ztp_json("info", run) for run, _ in runs]
    losses = [common.ztp_json("evaluate", run, "--head", 0)["log_loss"] for run, _ in runs]
    return {"raw_difference": f"{sum(raw) / len(raw):.4f}", "difference": f"{sum(now) / len(now):.4f}",
            "cells": len(now), "log_loss": f"{sum(losses) / 2:.5f}",
            "worst_r_hat": f"{r_hats[-1]:.3f}", "median_r_hat": f"{r_hats[len(r_hats) // 2]:.3f}",
            "rank": infos[0]["options"]["rank"], "seconds": f"{sum(info['seconds'] for info in infos) / 2:.1f}"}


def measure_scores(work, name, split, options):
    run, _ = fit(work, name, split, split, options)
    result, info = common.evaluate(run), common.ztp_json("info", run)
    shutil.rmtree(run)
    return {**{value: f"{result[value]:.6f}" for value in ("auc_roc", "auc_pr", "log_loss")},
            "rank": info["options"]["rank"], "seconds": f"{info['seconds']:.1f}"}


def models_of(name):
    return {"CP": "", **({"tied": TIED[name]} if name in TIED else {})}


def agreement_table(rows):
    lines = ["| data | model | rank | difference: raw | calibrated | cells | log-loss | R-hat, worst | median | "
             "seconds | pairs |", "|---" * 11 + "|"]
    for name in NAMES:
        for model in ("CP", "tied"):
            found = [row for row in rows.all() if (row["data"], row["model"]) == (name, model)]
            if not found:
                continue
            mean = {value: sum(float(row[value]) for row in found) / len(found) for value in AGREEMENT[1]}
            lines.append(f"| {NAMES[name]} | {model} | {mean['rank']:.0f} | {mean['raw_difference']:.3f} | "
                         f"{mean['difference']:.3f} | "
                         f"{mean['cells']:.0f} | {mean['log_loss']:.4f} | {mean['worst_r_hat']:.2f} | "
                         f"{mean['median_r_hat']:.3f} | {mean['seconds']:.0f} | {len(found)} |")
    return "\n".join(lines)


def scores_table(rows):
    """Means over splits, and of the difference of new and old its mean and standard error."""
    lines = ["| data | rank | AUC-ROC: old, new, difference | AUC-PR | log-loss | seconds | splits |", "|---" * 7 + "|"]
    found = {(row["data"], row["split"], row["defaults"]): row for row in rows.all()}
    for name in NAMES:
        splits = [split for data, split, which in found if data == name and which == "new"
                  and (name, split, "old") in found]
        if not splits:
            continue
        pairs = [(found[name, split, "old"], found[name, split, "new"]) for split in splits]
        cells = []
        for value, digits in (("auc_roc", 4), ("auc_pr", 3), ("log_loss", 4)):
            old, new = ([float(pair[i][value]) for pair in pairs] for i in (0, 1))
            mean, sd = common.mean_sd([n - o for o, n in zip(old, new)])
            error = "" if math.isnan(sd) else f" ({sd / math.sqrt(len(pairs)):.{digits}f})"
            cells.append(f"{sum(old) / len(old):.{digits}f}, {sum(new) / len(new):.{digits}f}, {mean:+.{digits}f}{error}")
        ranks = sorted({pair[1]["rank"] for pair in pairs}, key=int)
        seconds = (sum(float(pair[i]["seconds"]) for pair in pairs) / len(pairs) for i in (0, 1))
        lines.append(f"| {NAMES[name]} | 20, {' or '.join(ranks)} | {' | '.join(cells)} | "
                     f"{', '.join(f'{s:.0f}' for s in seconds)} | {len(pairs)} |")
    return "\n".join(lines)


def main():
    args = common.arguments(
        __doc__.split("\n")[0],
        parts=("", "some of agreement, length, scores"),
        data=("", f"some of {', '.join(NAMES)}"),
        pairs=(2, "pairs of fits"),
        splits=(3, "splits of the data; of Scholars one"),
    )
    parts = common.chosen(args.parts, ("agreement", "length", "scores"), "parts")
    names = common.chosen(args.data, NAMES, "data")
    with common.work_folder() as work:
        folder = common.out_folder(args, work)
        agreement = common.Rows(folder / "agreement.tsv", *AGREEMENT)
        length = common.Rows(folder / "length.tsv", *LENGTH)
        scores = common.Rows(folder / "defaults.tsv", *SCORES)
        for name in [] if args.report or "agreement" not in parts else names:
            for model, options in models_of(name).items() if name not in (*BY_ONES, "movielens-100k") else ():
                for pair in range(args.pairs):
                    key = dict(data=name, model=model, options=options, pair=pair)
                    if not agreement.has(**key):
                        agreement.add(**key, **measure_pair(work, name, options, pair))
        if not args.report and "length" in parts:
            measure_lengths(work, length)
        for name in [] if args.report or "scores" not in parts else names:
            for split in range(args.seed, args.seed + (1 if name == "scholars" else args.splits)):
                for which, options in DEFAULTS.items():
                    key = dict(data=name, defaults=which, split=split)
                    if not scores.has(**key):
                        scores.add(**key, **measure_scores(work, name, split, options))
        if not args.quick:
            common.publish("agreement", agreement.path, None, agreement_table(agreement))
            common.publish("length", length.path, None, length_table(length))
            common.publish("defaults", scores.path, None, scores_table(scores))


if __name__ == "__main__":
    main()
