#!/usr/bin/python3
"""Table and picture of `experiments/online.sh auc`.

usage: plot_online.py TABLE [IMAGE]        e.g. plot_online.py build/online-auc.tsv docs/images/online-auc.svg

Prints what batch and online reach, and when, as markdown; with IMAGE also draws held-out AUC-ROC against seconds of
sampling. The same table gives the same files, byte for byte.

Of each data set and seed, where each point is a fit of its own:
  final AUC         that of batch's longest fit
  batch converges   the first point of batch whose AUC is no more than 0.0005 below the final AUC; with fits of doubled
                    lengths this is up to twice as late as a finer series would say
  online by then    the last point of online whose seconds do not exceed that time; longest: online's longest fit;
                    in brackets the gap, online less the final AUC
  99 %              the seconds at which a method first reaches 99 % of the final AUC, between two points linear in the
                    logarithm of the seconds; "<" where its first point is already above, "none" where no point is; the
                    ratio is batch / online
Of several seeds: mean ± standard deviation of AUCs and gaps, geometric mean and range of seconds and ratios.
"""
import csv
import math
import os
import sys
from statistics import mean, stdev

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))
import svg  # noqa: E402

CONVERGED, SHARE = 0.0005, 0.99
TITLES = {"kinship": "Kinship, R = 100", "umls": "UMLS, R = 50", "movielens-100k": "MovieLens, R = 50",
          "scholars": "Scholars, R = 100", "dblp-10k": "DBLP, R = 50"}


def read(path):
    """{data: {seed: {method: [(sweeps, seconds, AUC), ...]}}}, by sweeps, in the order of the file."""
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            methods = found.setdefault(row["data"], {}).setdefault(row.get("seed") or "1", {"batch": [], "online": []})
            methods[row["method"]].append((int(row["sweeps"]), float(row["seconds"]), float(row["auc_roc"])))
    for data, seeds in found.items():
        for seed, methods in seeds.items():
            for method, points in methods.items():
                if not points:
                    sys.exit(f"{path}: no {method} fits of {data}, seed {seed}")
                points.sort()
    if not found:
        sys.exit(f"{path}: no fits")
    return found


# ---- table -----------------------------------------------------------------------------------------------------------


def time_of(points, wanted):
    """Seconds at which the series first reaches an AUC, and whether that is only an upper bound; None: it never
    does."""
    for i, (_, seconds, auc) in enumerate(points):
        if auc < wanted:
            continue
        if i == 0:
            return seconds, True
        _, before, below = points[i - 1]
        return before * (seconds / before) ** ((wanted - below) / (auc - below)), False
    return None


def summary(batch, online):
    """Of one series of each method."""
    final = batch[-1][2]
    converged = next(point for point in batch if point[2] >= final - CONVERGED)
    by_then = [point for point in online if point[1] <= converged[1]]
    times = time_of(batch, SHARE * final), time_of(online, SHARE * final)
    ratio = None
    if times[0] and times[1] and not (times[0][1] and times[1][1]):  # of two bounds nothing follows
        ratio = times[0][0] / times[1][0], "<" if times[0][1] else ">" if times[1][1] else ""
    return {"final": final, "converged": (converged[1], ""), "sweeps": converged[0],
            "then": by_then[-1][2] if by_then else None, "longest": online[-1][2], "seconds": (online[-1][1], ""),
            "batch": times[0] and (times[0][0], "<" if times[0][1] else ""),
            "online": times[1] and (times[1][0], "<" if times[1][1] else ""), "ratio": ratio}


def shown(values, digits=4, sign=""):
    values = list(values)
    if None in values:
        return "none"
    text = f"{mean(values):{sign}.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {stdev(values):.{digits}f}"


def shown_times(pairs):
    """A mean with bounds of one kind in it is such a bound; with a value that is not known, or bounds of both kinds,
    there is none."""
    pairs = list(pairs)
    marks = set() if None in pairs else {mark for _, mark in pairs} - {""}
    if None in pairs or len(marks) > 1:
        return "none"
    values = [value for value, _ in pairs]
    text = f"{''.join(marks)}{math.exp(mean(math.log(value) for value in values)):.3g}"
    return text if len(values) == 1 else f"{text} ({min(values):.3g} to {max(values):.3g})"


def print_table(table):
    print(
        "| data | batch: final AUC | converges, s (sweeps) | online by then (gap) | longest online, s "
        "| its AUC (gap) | "
        "99 %: batch, s | online, s | batch / online |\n|---|---|---|---|---|---|---|---|---|"
    )
    for data, seeds in table.items():
        rows = [summary(methods["batch"], methods["online"]) for methods in seeds.values()]
        def gap(key):
            return shown((None if row[key] is None else row[key] - row["final"] for row in rows), sign="+")

        cells = [data, shown(row["final"] for row in rows),
                 f"{shown_times(row['converged'] for row in rows)} ({', '.join(str(row['sweeps']) for row in rows)})",
                 f"{shown(row['then'] for row in rows)} ({gap('then')})", shown_times(row["seconds"] for row in rows),
                 f"{shown(row['longest'] for row in rows)} ({gap('longest')})"]
        cells += [shown_times(row[key] for row in rows) for key in ("batch", "online", "ratio")]
        print(f"| {' | '.join(cells)} |")


# ---- picture ---------------------------------------------------------------------------------------------------------


def of_seeds(seeds, method):
    """Geometric mean of seconds, mean, least and largest AUC, for each number of sweeps that all seeds have."""
    series = [{sweeps: (seconds, auc) for sweeps, seconds, auc in methods[method]} for methods in seeds.values()]
    points = []
    for sweeps in sorted(set.intersection(*(set(one) for one in series))):
        aucs = [one[sweeps][1] for one in series]
        points.append((math.exp(mean(math.log(one[sweeps][0]) for one in series)), mean(aucs), min(aucs), max(aucs)))
    return points


def draw(table, path):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    colors, grey = {"batch": "#2563a8", "online": "#c23b22"}, "#8a8a8a"
    plt.rcParams.update(
        {
            "svg.hashsalt": "ztp",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 9,
            "axes.titlesize": 9.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.6,
            "lines.linewidth": 1.1,
            "savefig.facecolor": "white",  # the page behind it may be dark
        }
    )
    columns = min(3, len(table) + 1)
    lines = -(-(len(table) + 1) // columns)  # one place more, for the legend
    figure, axes = plt.subplots(
        lines, columns, figsize=(2.75 * columns, 2.15 * lines), layout="constrained", squeeze=False
    )
    places = list(axes.flat)
    for panel, (data, seeds) in zip(places, table.items()):
        final = mean(methods["batch"][-1][2] for methods in seeds.values())
        panel.axhline(SHARE * final, color=grey, linewidth=0.8, linestyle="--", label="99 % of batch's final")
        for method, color in colors.items():
            points = of_seeds(seeds, method)
            seconds, aucs, low, high = zip(*points)
            if len(seeds) > 1:
                panel.fill_between(seconds, low, high, color=color, alpha=0.2, linewidth=0)
            panel.plot(seconds, aucs, "o-", color=color, markersize=2.8, markeredgewidth=0, label=method)
        lowest, highest = panel.get_ylim()
        panel.set_ylim(max(lowest, final - 0.08), min(highest, 1, final + 0.006))  # the first fits may lie below
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(numticks=8))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_title(TITLES.get(data, data), loc="left")
    for i, panel in enumerate(places):
        if i >= len(table):
            panel.set_axis_off()
        elif i % columns == 0:
            panel.set_ylabel("held-out AUC-ROC")
        if i < len(table) and i + columns >= len(table):
            panel.set_xlabel("seconds of sampling")
    handles, labels = places[0].get_legend_handles_labels()
    order = [labels.index(label) for label in ("batch", "online", "99 % of batch's final")]
    places[len(table)].legend([handles[i] for i in order], [labels[i] for i in order], loc="center left", frameon=False)
    svg.save(figure, path)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    table = read(sys.argv[1])
    print_table(table)
    if len(sys.argv) == 3:
        os.makedirs(os.path.dirname(os.path.abspath(sys.argv[2])), exist_ok=True)
        draw(table, sys.argv[2])


main()
