#!/usr/bin/python3
"""Shared columns beside CP and the best rival: held-out scores of docs/results.md, "Relational data".

usage: relational.py [--data kinship,umls] [--methods tied,logistic] [--splits 10] [--jobs 2]

A tenth of all cells is held out, as missing. Every method is fitted with one chain and with four. The rank of CP and
of logistic CP is the best of 20, 50 and 100 on split 101, by AUC-ROC; that split is not reported. Rows go to
build/paper/relational.tsv, one a fit. What is there with the same options is not done again, so the experiment can be
stopped at any time, restarted, and done in parts. The page is made at the end, or with --report.
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402

METHODS = {"tied": "shared columns, tied", "untied": "shared columns", "cp": "ZTP-CP", "logistic": "logistic CP"}
DATA = {"kinship": "Kinship", "umls": "UMLS", "movielens-100k": "MovieLens", "world": "world memberships"}
# What makes a model, before its rank. Tied modes have the columns that `auto` gives them; untied ones the same number.
OPTIONS = {
    "kinship": {"tied": "--tie person_i=person_j", "untied": "--columns 100 --columns term=own"},
    "umls": {"tied": "--tie concept_i=concept_j", "untied": "--columns 100 --columns relation=own"},
    "movielens-100k": {"untied": "--columns 50 --rank 1000 --sweeps 300"},
    "world": {"untied": "--columns country=60,organisation=60 --columns period=own"},
}
RANKED = {"cp": "--dirichlet 0.05", "logistic": "--model logistic --sweeps 300"}
RANKS = [20, 50, 100]
VALIDATION = 101
CHAINS = {"kinship": [1, 4], "umls": [1, 4], "movielens-100k": [1], "world": [1]}
# A logistic fit of all cells of MovieLens takes hours.
LEFT_OUT = {("movielens-100k", "logistic"), ("world", "logistic")}
SPLITS = {"movielens-100k": 3, "world": 3, "logistic": 3}  # "logistic": a fit takes more than a minute

KEYS = ["data", "method", "chains", "split", "options"]
VALUES = ["auc_roc", "auc_pr", "log_loss", "seconds"]


def tensor_of(name, work):
    if name != "world":
        return common.data_file(name)
    made = pathlib.Path(work) / "world"
    if not made.exists():
        subprocess.run(["sh", common.HERE / "data" / "world" / "generate.sh", made], check=True, capture_output=True)
    return made / "tensor.tsv"


class Runner:
    """Makes splits once and fits side by side; rows are written by one thread at a time."""

    def __init__(self, rows, work, jobs, threads):
        self.rows, self.work, self.threads = rows, pathlib.Path(work), threads
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.lock = threading.Lock()

    def split(self, name, split):
        with self.lock:
            tensor = tensor_of(name, self.work)
            return common.make_split(self.work, name, split, "cells", "--holdout", 0.1, tensor=tensor)

    def fit(self, key):
        if self.rows.has(**key):
            return
        source = self.split(key["data"], key["split"])
        run = self.work / "-".join(str(key[part]) for part in ("data", "method", "chains", "split"))
        run = run.with_name(f"{run.name}-{abs(hash(key['options']))}")
        common.ztp("fit", *source, *key["options"].split(), "--holdout-as", "missing", "--chains", key["chains"],
                   "--draws", 100 * key["chains"], "--seed", key["split"], "--threads", self.threads, "--out", run)
        result = common.evaluate(run, "--threads", self.threads)
        result["seconds"] = sum(chain["seconds"] for chain in common.ztp_json("info", run)["chains"])
        shutil.rmtree(run)
        with self.lock:
            self.rows.add(**key, **{name: f"{result[name]:.6f}" for name in VALUES})

    def fit_all(self, keys):
        for done in [self.pool.submit(self.fit, key) for key in keys]:
            done.result()


def keys_of(name, method, chains, splits, options):
    return [dict(data=name, method=method, chains=chains, split=split, options=options) for split in splits]


def ranked(method, rank):
    return f"{RANKED[method]} --rank {rank}"


def best_rank(rows, name, method):
    """The rank of the largest AUC-ROC on the validation split; None, if not all ranks are there."""
    found = {row["options"]: float(row["auc_roc"]) for row in rows.all()
             if (row["data"], row["method"], row["chains"], row["split"]) == (name, method, "1", str(VALIDATION))}
    scores = {rank: found.get(ranked(method, rank)) for rank in RANKS}
    return None if None in scores.values() else max(scores, key=scores.get)


def methods_of(args, name):
    known = [*OPTIONS[name], *(method for method in RANKED if (name, method) not in LEFT_OUT)]
    return [method for method in METHODS if method in known and method in args.methods]


def options_of(rows, name, method):
    if method not in RANKED:
        return OPTIONS[name][method]
    rank = best_rank(rows, name, method)
    return None if rank is None else ranked(method, rank)


def splits_of(args, name, method):
    return range(args.seed, args.seed + min(args.splits, *(SPLITS.get(part, args.splits) for part in (name, method))))


def run(args, rows):
    with common.work_folder() as work:
        runner = Runner(rows, work, args.jobs, args.threads)
        runner.fit_all([key for name in args.data for method in methods_of(args, name) if method in RANKED
                        for rank in RANKS for key in keys_of(name, method, 1, [VALIDATION], ranked(method, rank))])
        runner.fit_all([key for name in args.data for method in methods_of(args, name) for chains in CHAINS[name]
                        for key in keys_of(name, method, chains, splits_of(args, name, method),
                                           options_of(rows, name, method))])
    return 0


def collect(rows):
    """{data: {(method, chains): rows}}, of the options that the tables above have now."""
    found = {}
    for row in rows.all():
        name, method = row["data"], row["method"]
        if int(row["split"]) != VALIDATION and row["options"] == options_of(rows, name, method):
            found.setdefault(name, {}).setdefault((method, int(row["chains"])), []).append(row)
    return found


def line(name, method, chains, rows):
    cells = []
    for value, digits in (("auc_roc", 4), ("auc_pr", 3), ("log_loss", 4)):
        mean, sd = common.mean_sd([float(row[value]) for row in rows])
        cells.append(f"{mean:.{digits}f}" + (f" ({sd:.{digits}f})" if len(rows) > 1 else ""))
    seconds, _ = common.mean_sd([float(row["seconds"]) for row in rows])
    rank = f", R = {rows[0]['options'].split('--rank ')[1]}" if method in RANKED else ""
    return (f"| {DATA[name]} | {METHODS[method]}{rank} | {chains} | " + " | ".join(cells) +
            f" | {len(rows)} | {seconds:.0f} |")


def markdown(found, with_figure=True):
    lines = ["| data | model | chains | AUC-ROC | AUC-PR | log-loss | splits | seconds |", "|---" * 8 + "|"]
    for name in DATA:
        lines += [line(name, method, chains, found[name][method, chains])
                  for method in METHODS for chains in CHAINS[name] if (method, chains) in found.get(name, {})]
    return "\n".join(["Mean over splits (standard deviation). Seconds are those of sampling, summed over "
           "chains, on one "
                      "thread each.", "", *lines])


def main():
    args = common.arguments(
        __doc__.split("\n")[0],
        data=("", f"some of {', '.join(DATA)}"),
        methods=("", f"some of {', '.join(METHODS)}"),
        splits=(10, "splits"),
        jobs=(2, "fits side by side"),
        threads=(1, "threads of a fit"),
    )
    args.data = common.chosen(args.data, DATA, "data")
    args.methods = common.chosen(args.methods, METHODS, "methods")
    common.run_experiment("relational", lambda path: common.Rows(path, KEYS, VALUES), args, run, collect,
                          lambda found: None, markdown)


if __name__ == "__main__":
    main()
