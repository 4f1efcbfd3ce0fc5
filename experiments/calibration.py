#!/usr/bin/python3
"""Are probabilities calibrated by default? The tables of docs/results.md, "Calibration" and "Popularity".

usage: calibration.py [--data world,kinship] [--splits 2]

Each data set is fitted with the default options and --holdout 0.1. Scores are those of `ztp evaluate`: with --raw (the
mean over all draws), and as they are by default (chains combined by their logits, and a map that is fitted to held-out
cells; each cell is judged by a map that has not seen it). Seeds begin with 31: the form of the map was chosen with
others. Rows go to build/paper/calibration.tsv, one a fit. What is there is not done again.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402
import relational  # noqa: E402

FIRST_SEED = 31
# Data set, and the options besides the defaults.
FITS = {
    "world": ("world memberships", "world", ""),
    "kinship": ("Kinship", "kinship", ""),
    "kinship-tied": ("Kinship, tied", "kinship", "--tie person_i=person_j"),
    "umls": ("UMLS", "umls", ""),
    "umls-tied": ("UMLS, tied", "umls", "--tie concept_i=concept_j"),
    "movielens-100k": ("MovieLens", "movielens-100k", ""),
    "dblp-10k": ("DBLP", "dblp-10k", ""),
    "scholars": ("Scholars", "scholars", ""),
}
RANKED = {"movielens-100k": "movie"}
SCORES = ["log_loss", "skill", "calibration_slope", "calibration_intercept", "misplaced", "auc_roc"]
KEYS = ["data", "seed"]
VALUES = ["ones", *(f"{kind}_{score}" for kind in ("raw", "calibrated", "popularity") for score in SCORES),
          *(f"{kind}_{what}" for kind in ("raw", "calibrated") for what in ("expected", "found")),
          "mrr", "popularity_mrr", "rank", "seconds"]


def measure(work, name, seed):
    _, data, options = FITS[name]
    run = pathlib.Path(work) / f"run-{name}"
    common.ztp("fit", relational.tensor_of(data, work), *options.split(), "--holdout", 0.1, "--seed", seed, "--out",
               run, "--force", schedule=list)
    raw, now = (common.ztp_json("evaluate", run, *flags) for flags in (["--raw"], []))
    info = common.ztp_json("info", run)
    row = {"ones": now["ones"], "mrr": "", "popularity_mrr": "", "rank": info["options"]["rank"],
           "seconds": f"{info['seconds']:.0f}"}
    for kind, found in (("raw", raw), ("calibrated", now), ("popularity", now["popularity"])):
        row |= {f"{kind}_{score}": f"{found[score]:.6g}" for score in SCORES}
    for kind, found in (("raw", raw), ("calibrated", now)):
        row |= {f"{kind}_expected": f"{found['head'][-1]['expected']:.1f}", f"{kind}_found": found["head"][-1]["found"]}
    if name in RANKED:
        ranking = common.ztp_json("evaluate", run, "--ranking", RANKED[name], "--draws", 200)
        row |= {"mrr": f"{ranking['all']['mrr']:.4f}", "popularity_mrr": f"{ranking['popularity']['mrr']:.4f}"}
    return row


def tables(rows):
    first = ["| data | log-loss: raw, calibrated, popularity | skill | slope: raw, calibrated | misplaced ones | "
             "first 1,000 unseen cells: expected and found, raw | calibrated | seeds |", "|---" * 8 + "|"]
    for name, (title, _, _) in FITS.items():
        found = [row for row in rows.all() if row["data"] == name]
        if not found:
            continue
        mean = {value: sum(float(row[value] or "nan") for row in found) / len(found) for value in VALUES}
        three = ("raw", "calibrated", "popularity")
        first.append(
            f"| {title} | " + ", ".join(f"{mean[f'{kind}_log_loss']:.3g}" for kind in three) + " | " +
            ", ".join(f"{mean[f'{kind}_skill']:.3f}" for kind in three) + " | " +
            ", ".join(f"{mean[f'{kind}_calibration_slope']:.2f}" for kind in three[:2]) + " | " +
            ", ".join(f"{100 * mean[f'{kind}_misplaced']:.0f} %" for kind in three[:2]) + " | " +
            " | ".join(f"{mean[f'{kind}_expected']:.0f}, {mean[f'{kind}_found']:.0f}" for kind in three[:2]) +
            f" | {len(found)} |")
    return "\n".join(first)


def main():
    args = common.arguments(__doc__.split("\n")[0], data=("", f"some of {', '.join(FITS)}"),
                            splits=(1, "seeds of each data set; of Scholars one"))
    with common.work_folder() as work:
        rows = common.Rows(common.out_folder(args, work) / "calibration.tsv", KEYS, VALUES)
        for seed in range(FIRST_SEED, FIRST_SEED + args.splits):
            for name in [] if args.report else common.chosen(args.data, FITS, "data"):
                if not rows.has(data=name, seed=seed) and (name != "scholars" or seed == FIRST_SEED):
                    rows.add(data=name, seed=seed, **measure(work, name, seed))
        if not args.quick:
            common.publish("calibration", rows.path, None, tables(rows))


if __name__ == "__main__":
    main()
