#!/usr/bin/python3
"""Time against AUC of ZTP-CP, batch and online, and of logistic CP (the paper's figure of running times).

usage: time_auc.py [--data kinship,umls] [--methods ztp-batch,logistic] [--threads 2]

Each point is an independent fit with the default burn-in, half of it: what they get who stop there. The seconds are
those of sampling, so the machine must have nothing else to do, and all fits of a data set belong into one run.
Rows go to build/paper/time-auc.tsv, one a fit; what is there is not done again.
"""
import pathlib
import sys

import common

# ---- settings ------------------------------------------------------------------------------------------------------

DATA = {"kinship": "Kinship", "umls": "UMLS", "scholars": "Scholars", "facebook-shape": "Facebook shape (simulated)"}
METHODS = {"ztp-batch": "ZTP-CP, batch", "ztp-online": "ZTP-CP, online", "logistic": "Bayesian logistic CP"}
PROTOCOL = {"kinship": "cells", "umls": "cells", "scholars": "ones", "facebook-shape": "ones", "simulated": "cells"}
MODEL = {"ztp-batch": "", "ztp-online": "--method online", "logistic": "--model logistic"}

# Tensors that are made and not read: options of `ztp simulate`.
MADE = {"facebook-shape": "--dims 63731,63730,1837 --ones 737498 --rank 20 --seed 1",
        "simulated": "--dims 40,40,20 --ones 2000 --rank 4 --seed 1"}


def doubled(first, last):
    """first, twice that, ... up to last."""
    return [first << i for i in range(64) if first << i <= last]


# (data, method, options, sweeps of the fits). The paper's R = 20 for all three, and our best for ZTP-CP in addition.
# The seconds of several chains are added up.
SERIES = [
    ("kinship", "ztp-batch", "--rank 20 --sampler plain", doubled(4, 512)),
    ("kinship", "ztp-online", "--rank 20", doubled(8, 4096)),
    ("kinship", "ztp-batch", "--rank 100 --dirichlet 0.05 --chains 16 --draws 800", doubled(4, 128)),
    ("kinship", "ztp-batch", "--rank 100 --dirichlet 0.05 --chains 16 --draws 800 --sampler plain", doubled(16, 256)),
    ("kinship", "logistic", "--rank 20", doubled(4, 256)),
    ("umls", "ztp-batch", "--rank 20 --sampler plain", doubled(4, 512)),
    ("umls", "ztp-online", "--rank 20", doubled(8, 4096)),
    ("umls", "ztp-batch", "--rank 50 --dirichlet 0.05 --sampler plain", doubled(4, 512)),
    ("umls", "ztp-online", "--rank 50 --dirichlet 0.05", doubled(8, 4096)),
    ("umls", "logistic", "--rank 20", doubled(4, 256)),
    ("scholars", "ztp-batch", "--rank 100", doubled(4, 64)),
    ("scholars", "ztp-online", "--rank 100 --minibatch 63000", doubled(16, 256)),
    ("scholars", "logistic", "--rank 20 --zeros 2", doubled(4, 32)),
    ("facebook-shape", "ztp-batch", "--rank 20", doubled(4, 256)),
    ("facebook-shape", "ztp-online", "--rank 20", doubled(16, 512)),
    ("facebook-shape", "logistic", "--rank 20 --zeros 5", doubled(4, 16)),
]


def quick_series(name):
    return [(name, "ztp-batch", "--rank 10", doubled(4, 64)), (name, "ztp-online", "--rank 10", doubled(16, 256)),
            (name, "logistic", "--rank 5", doubled(4, 16))]


SHARE = 0.99  # of the logistic baseline's final AUC

# What the figures mean, in words: added at the end of the section.
NOTES = """
On UMLS ZTP-CP reaches the goal in hundredths of a second. The logistic model takes longer, because each of its sweeps
visits all cells. Kinship has only 281,216 cells. There the logistic model passes 0.98 within 32 sweeps. No fit of
ZTP-CP passes it on this split (on others they reach 0.983), with any rank (up to 200), number of chains, sampler or
Dirichlet parameter. On Scholars and the Facebook shape the logistic model is fitted to a sample of the zeros. On the
Facebook shape it was stopped after 16 sweeps, far from convergence, so the goal there is only what it had reached by
then.
"""

KEYS = ["data", "method", "rank", "sweeps", "options"]
VALUES = ["seconds", "auc_roc"]


# ---- runs ----------------------------------------------------------------------------------------------------------


def options_of(series):
    """The options of a series, as in the rows. The rival sees the held-out cells of `cells` as unknown, not as
    zeros."""
    name, method, options, _ = series
    masked = "--holdout-as missing" if method == "logistic" and PROTOCOL[name] == "cells" else ""
    return " ".join(f"{MODEL[method]} {options} {masked}".split())


def keys_of(series):
    name, method, options, sweeps = series
    words = options.split()
    rank = words[words.index("--rank") + 1]
    return [dict(data=name, method=method, rank=rank, sweeps=count, options=options_of(series)) for count in sweeps]


def rank_of(series):
    """R, and the number of chains where there are several."""
    words = series[2].split()
    rank = words[words.index("--rank") + 1]
    sampler = ", plain" if "--chains" in words and "plain" in words else ""
    return f"{rank}, {words[words.index('--chains') + 1]} chains{sampler}" if "--chains" in words else rank


def made(work, name):
    """A simulated tensor, as options for make_split; nothing for a data set, which is read."""
    if name not in MADE:
        return {}
    out = pathlib.Path(work) / f"made-{name}"
    common.ztp("simulate", *MADE[name].split(), "--no-truth", "--out", out, "--force")
    return {"tensor": out / "tensor.tsv", "labels": out / "labels"}


def run_data(rows, name, keys, seed, threads):
    """The fits of a data set that are not there, all on one split. Where one fails, the rest of its series is left
    out."""
    failed = set()
    with common.work_folder() as work:
        split = common.make_split(work, name, seed, PROTOCOL[name], "--holdout", 0.1, **made(work, name))
        for key in keys:
            if key["options"] in failed:
                continue
            try:
                result = common.fit(work, split, *key["options"].split(), "--sweeps", key["sweeps"], "--seed", seed,
                                    "--threads", threads)
            except SystemExit as problem:
                if problem.code == 143:  # told to stop
                    raise
                print(problem, file=sys.stderr, flush=True)
                failed.add(key["options"])
                continue
            rows.add(**key, seconds=f"{result['seconds']:.6f}", auc_roc=f"{result['auc_roc']:.6f}")
    return len(failed)


def run(args, rows):
    failed = 0
    for name in args.data:
        if name not in MADE and not common.has_data(name):
            print(f"{common.DATA / name}: not there, left out", file=sys.stderr)
            failed += 1
            continue
        series = [one for one in args.series if one[0] == name and one[1] in args.methods]
        keys = [key for one in series for key in keys_of(one) if not rows.has(**key)]
        if keys:
            failed += run_data(rows, name, keys, args.seed, args.threads)
    return failed


# ---- report --------------------------------------------------------------------------------------------------------


def collect(rows, all_series):
    """[(data, method, rank, [(seconds, AUC, sweeps), ...])] of the series in the table above, points by sweeps."""
    found = []
    for series in all_series:
        wanted = {tuple(str(value) for value in key.values()) for key in keys_of(series)}
        points = sorted((int(row["sweeps"]), float(row["seconds"]), float(row["auc_roc"])) for row in rows.all()
                        if tuple(row[name] for name in KEYS) in wanted)
        if points:
            points = [(seconds, auc, sweeps) for sweeps, seconds, auc in points]
            found.append((series[0], series[1], rank_of(series), points))
    return found


def first_at(points, auc):
    """The first fit, in the order of their seconds, that reaches an AUC: nothing is interpolated. None: no fit does."""
    return next((point for point in sorted(points) if point[1] >= auc), None)


def of_data(found, name):
    return [one for one in found if one[0] == name]


def goal_of(found, name):
    """99 % of what the longest logistic fit reaches; None where there is none."""
    for _, method, _, points in of_data(found, name):
        if method == "logistic":
            return SHARE * points[-1][1]
    return None


def shown(seconds):
    return f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"


def soonest(series, goal):
    """Of several series of a method, the one that reaches the goal first; where none does, the one that comes
    nearest."""
    reached = [one for one in series if goal is not None and first_at(one[3], goal)]
    return (
        min(reached, key=lambda one: first_at(one[3], goal)) if reached else max(series, key=lambda one: one[3][-1][1])
    )


def table(found):
    """A line a data set, a column a method: when its soonest series first reaches the goal, and its longest fit."""
    lines = [
        "| data, goal | " + " | ".join(METHODS.values()) + " | logistic / soonest |",
        "|---" * (len(METHODS) + 2) + "|",
    ]
    for name in DATA | {"simulated": ""}:
        goal, times, cells = goal_of(found, name), {}, []
        for method in METHODS:
            series = [one for one in of_data(found, name) if one[1] == method]
            if not series:
                cells.append("-")
                continue
            _, _, rank, points = soonest(series, goal)
            reached = first_at(points, goal) if goal is not None else None
            if reached:
                times[method] = reached[0]
            first = f"{shown(reached[0])} s" if reached else "never"
            cells.append(f"{first}; longest fit {points[-1][1]:.4f}, {shown(points[-1][0])} s (R = {rank})")
        if not of_data(found, name):
            continue
        ours = [seconds for method, seconds in times.items() if method != "logistic"]
        ratio = f"{times['logistic'] / min(ours):.3g}" if ours and "logistic" in times else "-"
        title = f"{DATA.get(name, name)}, {'-' if goal is None else f'{goal:.4f}'}"
        lines.append(f"| {title} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(lines)


def markdown(found, with_figure=True):
    parts = [
        f"The goal is {100 * SHARE:.0f} % of the AUC-ROC of the longest logistic fit. The table has the "
        f"seconds of sampling "
        "(burn-in included) of the first fit that reaches the goal, and of the longest fit. Lengths double from fit to "
        "fit. There is one split and one seed, held out as above. If a method has several series, the one that reaches "
        "the goal first is shown; all are in [tables/time-auc.tsv](tables/time-auc.tsv). The Facebook shape "
        "is simulated.",
        table(found),
    ]
    if with_figure:
        parts.append("![Held-out AUC-ROC against seconds of sampling](images/time-auc.svg)")
    return "\n\n".join([*parts, NOTES.strip()])


def draw(found):
    plt = common.pyplot()
    colors = {"ztp-batch": "#2563a8", "ztp-online": "#c23b22", "logistic": "#555555"}
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.2), layout="constrained")
    for panel, (name, title) in zip(axes.flat, DATA.items()):
        goal, series = goal_of(found, name), of_data(found, name)
        if goal is not None:
            panel.axhline(goal, color="#999999", linewidth=0.8, linestyle=":")
        styles = {method: iter(("-", "--", ":")) for method in METHODS}  # the paper's rank has full lines
        for _, method, rank, points in series:
            seconds, aucs, _ = zip(*points)
            panel.plot(seconds, aucs, "o" + next(styles[method]), color=colors[method], markersize=3, linewidth=1.1,
                       label=f"{METHODS[method]}, R = {rank}")
        panel.set_xscale("log")
        panel.set_title(title, loc="left", fontsize=9.5)
        panel.tick_params(labelsize=8)
        if series:
            panel.legend(fontsize=7.5, frameon=False, loc="lower right")
    for panel in axes[1]:
        panel.set_xlabel("seconds of sampling", fontsize=8.5)
    for panel in axes[:, 0]:
        panel.set_ylabel("held-out AUC-ROC", fontsize=8.5)
    return figure


# ---- command line --------------------------------------------------------------------------------------------------


def read_arguments():
    args = common.arguments(__doc__.split("\n")[0] + " Timings: the machine must have nothing else to do.",
                            data=("", f"some of {', '.join(DATA)}"), methods=("", f"some of {', '.join(METHODS)}"),
                            threads=(2, "threads of a fit"))
    args.methods = common.chosen(args.methods, METHODS, "methods")
    if args.quick:
        args.data = ["kinship" if common.has_data("kinship") else "simulated"]
        args.series = quick_series(args.data[0])
    else:
        args.data, args.series = common.chosen(args.data, DATA, "data"), SERIES
    return args


def main():
    args = read_arguments()
    common.run_experiment(
        "time-auc",
        lambda path: common.Rows(path, KEYS, VALUES),
        args,
        run,
        lambda rows: collect(rows, args.series),
        draw,
        markdown,
    )


if __name__ == "__main__":
    main()
