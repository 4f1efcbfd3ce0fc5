#!/usr/bin/python3
"""Tensor completion: ZTP-CP, shared columns and three rivals on six data sets (table 1 of the paper).

usage: completion.py [--data kinship,umls] [--methods ztp-batch,logistic] [--protocols equal,paper] [--splits 10]

The equal protocol works through one data set after the other. First, each method is fitted with each of its settings to
all cells but the validation part (split 101), and the setting of the largest AUC-ROC there is chosen. Then the reported
splits follow, all methods of a split before the next split. Cells of the validation part are never test cells. Last,
each method is fitted with twice the sweeps, to see whether it had converged. On the validation part, a fit has a single
chain, with as many sweeps as a chain of the reported fits. completion_settings.py has the settings and the paper's
protocol.

Rows go to build/paper/completion.tsv, one per fit. A row that is there with the same options is not made again, so the
experiment can be stopped at any time, restarted, and done in parts: for example, two data sets at the same time, each
with --threads 1. To continue from the rows of another machine, copy docs/tables/completion.tsv there first. Table,
figure and page are made at the end, or with --report, which also says how many rows are missing.
"""
import math
import pathlib
import resource
import shutil
import sys

import common
import completion_report as report
import completion_settings as settings

VALIDATION = 101
KEYS = ["data", "protocol", "part", "method", "split", "options"]
VALUES = ["sweeps", "auc_roc", "auc_pr", "log_loss", "seconds"]
# Sweeps of two short chains. Their difference in processor time tells how many sweeps the limit allows. Blocks of
# PW-QuadApp have grown to their final number after 30 iterations.
PILOTS = {"logistic": (3, 9), "quad": (10, 30), "pwquad": (40, 60)}
DRAWS = 25  # of a chain


# ---- splits --------------------------------------------------------------------------------------------------------


def simulated(work):
    """A small tensor where there are no data: options for make_split."""
    out = pathlib.Path(work) / "made"
    if not out.exists():
        made = "--dims 40,40,20 --ones 2000 --rank 4 --seed 1 --no-truth"
        common.ztp("simulate", *made.split(), "--out", out)
    return {"tensor": out / "tensor.tsv", "labels": out / "labels"}


def plain_split(work, name, split):
    source = simulated(work) if name == "simulated" else {}
    return common.make_split(work, name, split, settings.HELD_OUT[name], "--holdout", 0.1, **source)


def equal_split(work, name, split):
    """A folder with train.tsv, test.tsv, missing.tsv and labels. Test cells that are in the validation part go back to
    the training cells."""
    plain_split(work, name, split)
    folder = common.split_folder(work, name, split, settings.HELD_OUT[name])
    if (folder / "missing.tsv").exists():
        return folder
    test = (folder / "test.tsv").read_text().splitlines()
    header, test = [line for line in test if line.startswith("#")], [line for line in test if not line.startswith("#")]
    if split != VALIDATION:
        plain_split(work, name, VALIDATION)
        validation = common.split_folder(work, name, VALIDATION, settings.HELD_OUT[name]) / "test.tsv"
        kept = set(validation.read_text().splitlines())
        with (folder / "train.tsv").open("a") as train:
            train.writelines(f"{line[:-2]}\n" for line in test if line in kept and line.endswith("\t1"))
        test = [line for line in test if line not in kept]
    (folder / "test.tsv").write_text("\n".join([*header, *test]) + "\n")
    (folder / "missing.tsv").write_text("".join(line.rpartition("\t")[0] + "\n" for line in [*header, *test]))
    return folder


# ---- fits of the equal protocol ------------------------------------------------------------------------------------


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sample(work, folder, method, options, sweeps, chains, seed, threads):
    """Fits one run of so many chains, or one start of a point estimate. Returns the run and its processor seconds."""
    run = pathlib.Path(work) / "run"
    many = [] if method in settings.POINT_ESTIMATES else ["--chains", chains, "--draws", DRAWS * chains]
    before = processor_seconds()
    common.ztp("fit", folder / "train.tsv", "--labels", folder / "labels", "--missing", folder / "missing.tsv",
               *options.split(), "--sweeps", sweeps, *many, "--seed", seed, "--threads", threads, "--out", run,
               "--force")
    return run, processor_seconds() - before


def affordable(work, folder, method, options, chains, limit, most):
    """How many sweeps each of the chains may make within the limit."""
    few, more = PILOTS.get(method, (20, 60))
    cost = [sample(work, folder, method, options, sweeps, 1, 1, 1)[1] for sweeps in (few, more)]
    per_sweep = max((cost[1] - cost[0]) / (more - few), 1e-6)
    return max(4, min(most, math.floor(limit / chains / per_sweep)))


def predicted(run, folder, threads):
    lines = common.ztp("predict", run, folder / "test.tsv", "--raw", "--json", "--threads", threads).splitlines()
    return [float(line.split('"probability":')[1].split(",")[0]) for line in lines]


def equal_fit(args, work, folder, key, sweeps, chains):
    """Scores of the mean probability over all chains. Starts of a point estimate are separate fits."""
    starts = range(chains) if key["method"] in settings.POINT_ESTIMATES else [0]
    probability, seconds = None, 0
    for start in starts:
        run, taken = sample(work, folder, key["method"], key["options"], sweeps, chains, 1000 * start + key["split"],
                            args.threads)
        here = predicted(run, folder, args.threads)
        probability = [one + other for one, other in zip(probability or [0] * len(here), here)]
        seconds += taken
    lines = (folder / "test.tsv").read_text().splitlines()
    ones = [line.endswith("\t1") for line in lines if not line.startswith("#")]
    scores = common.scores([one / len(starts) for one in probability], ones)
    if args.quick and len(starts) == 1:
        check_scores(scores, common.evaluate(run, folder / "test.tsv"))
    shutil.rmtree(run)
    return {**scores, "seconds": seconds}


def check_scores(scores, told):
    """The program's own scores of the same run."""
    for name, value in scores.items():
        if abs(value - told[name]) > 1e-6:
            sys.exit(f"{name}: ztp evaluate says {told[name]}, and its predictions give {value}")


def equal_row(args, rows, work, folder, key, sweeps=None):
    """A setting that fails while one is chosen gets a row without scores, so that it is not tried again."""
    if rows.has(**key):
        return
    method = key["method"]
    chains, limit, most = (1, 1, 60) if args.quick else (
        settings.CHAINS[key["data"]], settings.LIMIT,
        settings.MOST_ITERATIONS if method in settings.POINT_ESTIMATES else settings.MOST_SWEEPS)
    try:
        sweeps = sweeps or affordable(work, folder, method, key["options"], chains, limit, most)
        result = equal_fit(args, work, folder, key, sweeps, chains if key["part"] == "test" else 1)
    except SystemExit as problem:
        if problem.code == 143 or key["part"] != "choose":
            raise
        print(problem, file=sys.stderr, flush=True)
        sweeps, result = 0, {name: math.nan for name in VALUES[1:]}
    rows.add(**key, sweeps=sweeps, **{name: f"{value:.6f}" for name, value in result.items()})


def equal_key(name, part, method, split, options):
    return dict(data=name, protocol="equal", part=part, method=method, split=split, options=options)


def equal(args, rows, work, name):
    folder = equal_split(work, name, VALIDATION)
    options = {method: settings.equal_settings(name, method) for method in args.methods}
    for method in args.methods:
        for one in options[method][:1] if args.quick else options[method]:
            equal_row(args, rows, work, folder, equal_key(name, "choose", method, VALIDATION, one))
    chosen = {method: report.chosen(rows.all(), name, method) for method in args.methods}
    without = [method for method in chosen if chosen[method] is None]
    if without:
        sys.exit(f"{name}: no setting can be fitted: {', '.join(without)}")
    for split in range(args.seed, args.seed + min(args.splits, settings.SPLITS[name])):
        keys = [equal_key(name, "test", method, split, chosen[method]["options"]) for method in args.methods]
        if not all(rows.has(**key) for key in keys):
            for key in keys:
                equal_row(args, rows, work, equal_split(work, name, split), key, int(chosen[key["method"]]["sweeps"]))
            shutil.rmtree(common.split_folder(work, name, split, settings.HELD_OUT[name]))
    for method in [] if args.quick else args.methods:
        key = equal_key(name, "twice", method, VALIDATION, chosen[method]["options"])
        equal_row(args, rows, work, folder, key, 2 * int(chosen[method]["sweeps"]))


# ---- fits of the paper's protocol ------------------------------------------------------------------------------------


def paper(args, rows, work, name):
    for split in range(args.seed, args.seed + args.splits):
        for method in args.methods:
            options = settings.paper_options(name, method)
            key = dict(data=name, protocol="paper", part="test", method=method, split=split, options=options)
            if (options is None or split - args.seed >= settings.PAPER_SPLITS.get((name, method), args.splits) or
                    rows.has(**key)):
                continue
            result = common.fit(work, plain_split(work, name, split), *options.split(), "--seed", split, "--threads",
                                args.threads)
            sweeps = options.split("--sweeps ")[1].split()[0]
            rows.add(**key, sweeps=sweeps,
                     **{value: f"{result[value]:.6f}" for value in ("auc_roc", "auc_pr", "log_loss", "seconds")})


def run(args, rows):
    """A fit that fails ends its data set and protocol, and does not stop the others."""
    failed = 0
    with common.work_folder() as work:
        for name, protocol in [(name, protocol) for name in args.data for protocol in args.protocols]:
            if name != "simulated" and not common.has_data(name):
                print(f"{common.DATA / name}: not there, left out", file=sys.stderr)
                failed += 1
                continue
            folder = pathlib.Path(work) / protocol
            folder.mkdir(exist_ok=True)
            try:
                (equal if protocol == "equal" else paper)(args, rows, folder, name)
            except SystemExit as problem:
                if problem.code == 143:  # told to stop
                    raise
                print(problem, file=sys.stderr, flush=True)
                failed += 1
    return failed


# ---- command line --------------------------------------------------------------------------------------------------


def read_arguments():
    args = common.arguments(
        __doc__.split("\n")[0],
        data=("", f"some of {', '.join(settings.DATA)}"),
        methods=("", f"some of {', '.join(settings.METHODS)}"),
        protocols=("", "equal, paper or both"),
        splits=(10, "splits; the large data sets have five at most in the equal protocol"),
        threads=(2, "threads of a fit"),
    )
    args.methods = common.chosen(args.methods, settings.METHODS, "methods")
    args.protocols = common.chosen(args.protocols, ["equal", "paper"], "protocols")
    if args.quick:
        args.data, args.splits = ["simulated"], 2
    else:
        args.data = common.chosen(args.data, settings.DATA, "data")
    return args


def main():
    common.run_experiment("completion", lambda path: common.Rows(path, KEYS, VALUES), read_arguments(), run,
                          report.collect, report.draw, report.markdown)


if __name__ == "__main__":
    main()
