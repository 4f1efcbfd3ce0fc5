#!/usr/bin/python3
"""Plots and tables of docs/correctness.md, from the results that `make calibration` leaves.

usage: plot_calibration.py RESULTS IMAGES

Reads the tables of the calibration tests in RESULTS and writes calibration-*.svg into IMAGES and exact-means.tsv,
joint-tests.tsv and sbc.tsv into the folder tables beside it. The same results give the same files, byte for byte.
"""
import csv
import glob
import math
import os
import sys
from statistics import NormalDist

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from svg import save  # noqa: E402

BLUE, RED, GREY = "#2563a8", "#c23b22", "#8a8a8a"
plt.rcParams.update({
    "svg.hashsalt": "ztp", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 9.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6, "lines.linewidth": 0.9,
})


def read(folder, kind):
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, f"{kind}-*.tsv"))):
        with open(path, newline="") as file:
            rows += [dict(row, file=os.path.basename(path)) for row in csv.DictReader(file, delimiter="\t")]
    if not rows:
        sys.exit(f"no results of {kind} tests in {folder}")
    return rows


def title_of(name):
    return name.replace("_", " ")


def largest(rows):
    return max(rows, key=lambda row: abs(float(row["z"])))


def groups(rows, *keys):
    """Rows by the values of some columns, in the order in which they come."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def shown(z):
    z = abs(float(z))
    return "diverged" if math.isinf(z) else f"{z:.2f}" if z < 10 else f"{z:.0f}"


# ---- tables ----------------------------------------------------------------------------------------------------------


def write_table(path, lines):
    with open(path, "w") as file:
        file.writelines("\t".join(map(str, line)) + "\n" for line in lines)


def table_of_z(rows, unit, what, path):
    right = [row for row in rows if row["bug"] == "none"]
    twins = groups([row for row in rows if row["bug"] != "none"], "model", "bug")
    lines = [(unit, what, "largest |z|", "of", "twins: largest |z|")]
    for (model,), mine in groups(right, "model").items():
        names = {row[what_column(row)] for row in mine}
        worst = largest(mine)
        caught = [f"{bug}: {shown(largest(theirs)['z'])}" for (of, bug), theirs in twins.items() if of == model]
        lines.append((title_of(model), len(names), shown(worst["z"]), worst[what_column(worst)], "; ".join(caught)))
    write_table(path, lines)
    print(f"{path}: limit {float(rows[0]['limit']):.2f}; {len(right)} values of z in all; twins: {len(twins)}")


def what_column(row):
    return "functional" if "functional" in row else "quantity"


def p_shown(p):
    return "below 1e-10" if float(p) < 1e-10 else f"{float(p):.2g}"


def table_of_ranks(rows, path):
    right = [row for row in rows if row["bug"] == "none"]
    twins = groups([row for row in rows if row["bug"] != "none"], "model", "bug")
    smallest = lambda some: min(some, key=lambda row: float(row["p"]))  # noqa: E731
    lines = [("model", "quantities", "smallest p", "of", "largest autocorrelation", "twins: smallest p")]
    for (model,), mine in groups(right, "model").items():
        worst = smallest(mine)
        slowest = max(float(row["autocorrelation"]) for row in mine)
        caught = []
        for (of, bug), theirs in twins.items():
            if of == model:
                one = smallest(theirs)
                diverged = one["quantity"] == "the chain diverged"
                caught.append(f"{bug}: {'diverged' if diverged else p_shown(one['p'])}")
        lines.append(
            (title_of(model), len(mine), p_shown(worst["p"]), worst["quantity"], f"{slowest:.2f}", "; ".join(caught))
        )
    write_table(path, lines)
    print(
        f"{path}: level {float(rows[0]['level']):.2e}; {len(right)} quantities in all, {right[0]['N']} simulations, "
        f"ranks "
        f"among {right[0]['L']} draws; twins: {len(twins)}, {next(iter(twins.values()))[0]['N']} simulations"
    )


# ---- plots -----------------------------------------------------------------------------------------------------------


def plot_sorted(axes, rows, title):
    """z in order against what so many independent normals would give."""
    values = sorted(float(row["z"]) for row in rows)
    limit = float(rows[0]["limit"])
    normal = [NormalDist().inv_cdf((i + 0.5) / len(values)) for i in range(len(values))]
    axes.plot([-limit, limit], [-limit, limit], color=GREY, linewidth=0.7)
    ends = 12  # the values that matter as points, the others as a line, which keeps the file small
    axes.plot(normal[::4] + normal[-1:], values[::4] + values[-1:], color=BLUE)
    axes.plot(normal[:ends] + normal[-ends:], values[:ends] + values[-ends:], "o", color=BLUE, markersize=2.5)
    for sign in (-1, 1):
        axes.axhline(sign * limit, color=RED, linewidth=0.8, linestyle="--")
    axes.set_xlim(-4, 4)
    axes.set_ylim(-limit - 0.6, limit + 0.6)
    axes.set_title(f"{title}: {len(values)} values", loc="left")
    axes.set_xlabel("of as many independent normals")
    axes.set_ylabel("z, in order")


def plot_twins(axes, rows, title):
    """The largest |z| of every twin, and of the sampler itself, on a log scale."""
    limit = float(rows[0]["limit"])
    bugs = sorted({row["bug"] for row in rows} - {"none"})
    lines = ["none"] + bugs
    cap = 2000
    for line, bug in enumerate(lines):
        for (_,), mine in groups([row for row in rows if row["bug"] == bug], "model").items():
            z = abs(float(largest(mine)["z"]))
            axes.plot([min(z, cap)], [line], ">" if z > cap else "o", color=BLUE if bug == "none" else RED,
                      markersize=3.5, markeredgewidth=0)
    axes.axvline(limit, color=RED, linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.set_xlim(0.8, cap * 1.3)
    axes.set_yticks(range(len(lines)))
    axes.set_yticklabels(["the sampler"] + bugs)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_title(title, loc="left")
    axes.set_xlabel("largest |z| (arrow: diverged)")


def plot_ranks(axes, rows, band, title, color):
    """Empirical less uniform distribution of the ranks of each quantity, within the band."""
    N, L = int(rows[0]["N"]), int(rows[0]["L"])
    edges = [(int(row["rank"]) + 1) / (L + 1) for row in band]
    for side in ("low", "high"):
        axes.plot(edges, [int(row[side]) / N - x for row, x in zip(band, edges)], color=GREY, linewidth=0.9)
    axes.fill_between(edges, [int(row["low"]) / N - x for row, x in zip(band, edges)],
                      [int(row["high"]) / N - x for row, x in zip(band, edges)], color="#ececec", linewidth=0)
    for row in rows:
        counts = [int(count) for count in row["counts"].split(",")]
        so_far, points = 0, [(0, 0)]
        for rank, count in enumerate(counts):
            so_far += count
            points.append(((rank + 1) / (L + 1), so_far / N - (rank + 1) / (L + 1)))
        axes.plot(*zip(*(points[::2] + points[-1:])), color=color, linewidth=0.6, alpha=0.7)
    axes.set_title(title, loc="left")
    axes.set_xlim(0, 1)


def plot_joint(rows, exact, folder):
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.6), layout="constrained")
    plot_sorted(left, [row for row in rows if row["bug"] == "none"], "Joint tests")
    plot_sorted(right, [row for row in exact if row["bug"] == "none" and row["kernel"] == "cpu"], "Exact means")
    save(figure, os.path.join(folder, "calibration-z.svg"))
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.6), layout="constrained")
    plot_twins(left, rows, "Joint tests")
    plot_twins(right, exact, "Exact means")
    save(figure, os.path.join(folder, "calibration-twins.svg"))


def plot_sbc(rows, bands, folder):
    of_N = {N: mine for (N,), mine in groups(bands, "N").items()}
    models = groups([row for row in rows if row["bug"] == "none"], "model")
    rows_of_panels = -(-(len(models) + 1) // 3)
    size = (8.2, 2.3 * rows_of_panels)
    figure, axes = plt.subplots(rows_of_panels, 3, figsize=size, layout="constrained", sharex=True, squeeze=False)
    panels = iter(axes.flat)
    for (model,), mine in models.items():
        plot_ranks(next(panels), mine, of_N[mine[0]["N"]], f"{title_of(model)}: {len(mine)}", BLUE)
    twin = [row for row in rows if row["bug"] == "missing as zeros" and row["model"] == "network_and_missing"]
    plot_ranks(next(panels), twin, of_N[twin[0]["N"]], "twin: missing as zeros", RED)
    for panel in panels:
        panel.set_visible(False)
    for panel in axes[-1]:
        panel.set_xlabel("rank / (L + 1)")
    for row in axes:
        row[0].set_ylabel("empirical less uniform")
    save(figure, os.path.join(folder, "calibration-sbc.svg"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, images = sys.argv[1:]
    joint, exact = read(results, "joint"), read(results, "exact")
    sbc = [row for row in read(results, "sbc") if row["file"] != "sbc-band.tsv"]
    bands = [row for row in read(results, "sbc") if row["file"] == "sbc-band.tsv"]
    tables = os.path.join(os.path.dirname(os.path.abspath(images)), "tables")
    os.makedirs(tables, exist_ok=True)
    table_of_z(
        [row for row in exact if row["kernel"] == "cpu"],
        "example",
        "quantities",
        os.path.join(tables, "exact-means.tsv"),
    )
    table_of_z(joint, "model", "functions", os.path.join(tables, "joint-tests.tsv"))
    table_of_ranks(sbc, os.path.join(tables, "sbc.tsv"))
    plot_joint(joint, exact, images)
    plot_sbc(sbc, bands, images)


main()
