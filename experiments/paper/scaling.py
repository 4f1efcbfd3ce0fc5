#!/usr/bin/env python3
"""Scaling: seconds of a batch sweep against the ones, the components and the modes, with fitted exponents.

    experiments/paper/scaling.py [--seed 1] [--repeats 3] [--threads 2]

Needs no data set, and an otherwise idle machine: it measures times. Simulated tensors with modes of 20,000 entities;
one of the number of ones, R and K moves while the others stay at 1,000,000, 20 and 3. About 3 GiB of memory and 2 GiB
of disk for the largest."""
import math
import pathlib
import statistics

import common
from cold_start import read_table

KEYS = ["nnz", "rank", "modes", "entities", "threads", "seed"]
VALUES = ["seconds", "fastest", "slowest", "sweeps"]
NNZ, RANK, MODES, ENTITIES = 1000000, 20, 3, 20000
SKIPPED = 2  # sweeps at the start, in which memory is touched for the first time
SWEEPS = 12
# What moves, the values, and from where on the exponent is fitted again: below, what does not depend on it shows.
AXES = {
    "nnz": ([100000, 300000, 1000000, 3000000, 10000000, 30000000], 1000000),
    "rank": ([10, 20, 40, 80, 160, 320, 640], 40),
    "modes": ([2, 3, 4, 5, 6], 2),
}
TITLES = {"nnz": "ones", "rank": "R", "modes": "K"}

NOTES = """
A sweep is linear in the ones if they outweigh the entities, whose columns must be drawn, too. Below R = 40, fewer
components save hardly any time. R = 640 is the first rank with bounds ([model.md](model.md#7-many-components)); on
these simulated tensors the bounds cost more than they save. The second exponent is that of the larger values alone.
"""


def simulate(work, nnz, modes, entities):
    """The tensor as a file that is read quickly, made once for all ranks and repeats; the one before it is removed."""
    path = work / f"{nnz}-{modes}-{entities}.ztpt"
    if not path.exists():
        for old in work.glob("*.ztpt"):
            old.unlink()
        common.ztp("simulate", "--dims", ",".join([str(entities)] * modes), "--ones", nnz, "--rank", 20, "--seed", 1,
                   "--no-truth", "--out", work / "made", "--force")
        common.ztp("convert", work / "made" / "tensor.tsv", path, "--labels", work / "made" / "labels")
        (work / "made" / "tensor.tsv").unlink()
    return path


def sweep_seconds(run):
    """Seconds of every sweep after the first, from the running total of the trace."""
    totals = [float(row[2]) for row in read_table(run / "trace.tsv")[1:]]
    return [after - before for before, after in zip(totals, totals[1:])][SKIPPED - 1:]


def measure(work, key):
    tensor = simulate(work, key["nnz"], key["modes"], key["entities"])
    common.ztp("fit", tensor, "--rank", key["rank"], "--sampler", "plain", "--sweeps", SWEEPS, "--burn-in", SWEEPS - 1,
               "--keep-every", 1, "--seed", key["seed"], "--threads", key["threads"], "--out", work / "run", "--force")
    seconds = sweep_seconds(work / "run")
    found = dict(seconds=statistics.median(seconds), fastest=min(seconds), slowest=max(seconds))
    return {name: f"{value:.6f}" for name, value in found.items()} | {"sweeps": len(seconds)}


def points(axes, base):
    """Every point once, those of one tensor next to each other: the axes meet in the base."""
    every = [dict(base, **{axis: value}) for axis, (values, _) in axes.items() for value in values]
    once = {tuple(point.items()): point for point in every}.values()
    return sorted(once, key=lambda point: (point["modes"], point["nnz"], point["rank"]))


def run_all(rows, work, axes, base, seeds):
    for point in points(axes, base):
        for seed in seeds:
            key = dict(point, seed=seed)
            if not rows.has(**key):
                rows.add(**key, **measure(work, key))


def series(rows, axis, base):
    """Value, median, fastest and slowest over the repeats, along one axis."""
    fixed = [name for name in base if name != axis]
    groups = {}
    for row in rows:
        if all(int(row[name]) == base[name] for name in fixed):
            groups.setdefault(int(row[axis]), []).append(float(row["seconds"]))
    return [(value, statistics.median(times), min(times), max(times)) for value, times in sorted(groups.items())]


def exponent(points):
    """Slope of the logarithm of the seconds against that of the value, by least squares, and its intercept."""
    x, y = [math.log(point[0]) for point in points], [math.log(point[1]) for point in points]
    if len(x) < 2:
        return float("nan"), float("nan")
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    return slope, mean_y - slope * mean_x


def table(rows, axes, base):
    lines = ["| what moves | seconds a sweep: median of the repeats | exponent, all | exponent, part |",
             "|---|---|---|---|"]
    for axis, (_, first) in axes.items():
        found = series(rows, axis, base)
        times = "; ".join(f"{value:,}: {middle:.3g}" for value, middle, _, _ in found)
        upper = [point for point in found if point[0] >= first]
        part = f"{exponent(upper)[0]:.2f}, {first:,} to {upper[-1][0]:,}"
        lines.append(f"| {TITLES[axis]} | {times} | {exponent(found)[0]:.2f} | {part} |")
    return lines


def draw(rows, axes, base):
    pyplot = common.pyplot()
    figure, panels = pyplot.subplots(1, 3, figsize=(9.5, 3.2))
    for panel, (axis, (_, first)) in zip(panels, axes.items()):
        found = series(rows, axis, base)
        values, middle = [point[0] for point in found], [point[1] for point in found]
        spread = [[point[1] - point[2] for point in found], [point[3] - point[1] for point in found]]
        panel.errorbar(values, middle, yerr=spread, fmt="o", color="#3a6ea5", capsize=3, markersize=4)
        upper = [value for value in values if value >= first]
        slope, start = exponent([point for point in found if point[0] >= first])
        line = [math.exp(start) * value ** slope for value in upper]
        panel.plot(upper, line, "--", color="#808080", label=f"exponent {slope:.2f}")
        panel.set(xscale="log", yscale="log", xlabel=TITLES[axis], ylabel="seconds a sweep" if axis == "nnz" else "")
        if axis != "nnz":
            panel.set_xticks(values, [str(value) for value in values])
            panel.set_xticks([], minor=True)
        panel.legend(fontsize=8)
    figure.tight_layout()
    return figure


def page(rows, axes, base):
    repeats = len({row["seed"] for row in rows})
    return "\n".join([
        f"Simulated tensors, modes of {base['entities']:,} entities, {base['nnz']:,} ones, R = {base['rank']}, "
        f"K = {base['modes']} unless they vary; plain batch sweeps, {base['threads']} threads. There are "
        f"{repeats} repeats, "
        f"each a chain of {SWEEPS} sweeps. The time of a repeat is that of its median sweep after the first "
        f"{SKIPPED}.", "",
        *table(rows, axes, base), "",
        "![Seconds a sweep against ones, components and modes](images/scaling.svg)", "", NOTES.strip()])


def main():
    options = common.arguments(__doc__, repeats=(3, "chains of each point"), threads=(2, "of the fits"))
    base = dict(nnz=NNZ, rank=RANK, modes=MODES, entities=ENTITIES, threads=options.threads)
    axes, repeats = AXES, options.repeats
    if options.quick:
        base.update(nnz=10000, rank=10, entities=500, threads=1)
        axes, repeats = {"nnz": ([3000, 10000, 30000], 10000), "rank": ([5, 10, 20], 10), "modes": ([2, 3], 2)}, 1
    with common.work_folder() as work:
        work = pathlib.Path(work)
        rows = common.Rows(common.out_folder(options, work) / "scaling.tsv", KEYS, VALUES)
        if not options.report:
            run_all(rows, work, axes, base, range(options.seed, options.seed + repeats))
        if options.quick:
            print("\n".join(table(rows.all(), axes, base)))
        else:
            common.publish("scaling", rows.path, draw(rows.all(), axes, base), page(rows.all(), axes, base))


if __name__ == "__main__":
    main()
