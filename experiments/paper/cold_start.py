#!/usr/bin/env python3
"""Cold start: authors without a single one in the tensor, predicted with and without their network.

    ZTP_DATA=... experiments/paper/cold_start.py [--seed 1] [--seeds 3]

All ones of the held-out authors are taken away, five zeros for each are drawn among their cells, and the model is
fitted to the rest: batch and online, with and without the network between the authors. On DBLP four-area, where authors
carry an area, the areas of the held-out authors that lead a factor are counted, too. The full Facebook tensor joins in
when it is under facebook-wosn."""
import collections
import gzip
import pathlib
import random
import shutil

import common

PAPER = {("scholars", "no"): (0.8051, 0.5763), ("scholars", "yes"): (0.8124, 0.6450),
         ("facebook-wosn", "no"): (0.8897, 0.6076), ("facebook-wosn", "yes"): (0.9075, 0.7255)}
TITLES = {"scholars": "Scholars", "dblp-4area": "DBLP four-area", "facebook-wosn": "Facebook", "simulated": "simulated"}
KEYS = ["data", "rank", "method", "network", "slices", "seed"]
AREA_KEYS = ["data", "rank", "method", "network", "slices", "seed", "area"]
SHORT = {"Data-Mining": "DM", "Database": "DB", "Information-Retrieval": "IR"}
TOP = 15  # held-out authors shown of a factor, as in the paper
SHOWN = ("batch", "zeros")  # the histograms of the figure: the paper's meaning of absent cells
GUIDES = 50  # labelled training authors that say which factor is an area's

NOTES = """
Scholars: all ones of the 1,370 authors after the 1000th are held out, as in the paper. With R = 40 there are 60 sweeps,
and 30 of them are averaged; with R = 100, 100 sweeps and 50; online, 300 steps of 50,000 ones and 50 draws. DBLP
four-area: the last 30 % of a shuffled order of authors are held out, in a different order for each seed. There are 200
sweeps, and 100 of them are averaged, or 300 online steps. Five zeros for each one are drawn among the cells of the
held-out authors.

*Missing* means that nothing about the held-out authors was observed (`--missing-slices`). *Zeros*, the paper's meaning,
means that all of their cells are zero. Log-losses count each test cell once, so they compare fits. For comparison: on
Scholars, a constant prediction has 0.45 if it is the share of ones among the test cells, and 1.90 if it is the share of
ones in the tensor. No fit on Scholars is better than the first constant.

Missing slices improve the log-loss of every fit. With the network, they improve the ranking on DBLP, and make it
slightly worse on Scholars. Without the network they make the ranking worse on both. With zeros, every chain on Scholars
is above the paper in both measures. The number of averaged draws matters: with 6 instead of 30 (R = 40), AUC-PR is 0.66
with the network and 0.56 without, because the factors of an author without data are drawn from the prior in every
sweep.

The area of a factor is the most frequent area among its 50 leading labelled training authors. With `facebook-wosn`
under `$ZTP_DATA` ([data.md](data.md)), the same command runs the paper's third case. It was not run.
"""

Setting = collections.namedtuple("Setting", "rank method options slices networks")
# A data set: its mode with a network, how many of its entities stay (a share: of a shuffled order), and the fits.
Case = collections.namedtuple("Case", "name mode after settings areas")

BOTH = ("no", "yes")


def online(steps, minibatch=50000):
    return ["--method", "online", "--minibatch", minibatch, "--sweeps", steps, "--draws", 50]


SCHOLARS = Case("scholars", "author", 1000, [
    Setting(40, "batch", ["--sweeps", 60], "zeros", BOTH),
    Setting(40, "online", online(300), "zeros", BOTH),
    Setting(100, "batch", ["--sweeps", 100], "zeros", BOTH),
    Setting(100, "online", online(300), "zeros", BOTH),
    Setting(40, "batch", ["--sweeps", 60], "missing", BOTH),
], False)
DBLP = Case("dblp-4area", "author", 0.7, [
    Setting(20, "batch", ["--sweeps", 200], "zeros", BOTH),
    Setting(20, "online", online(300), "zeros", BOTH),
    Setting(20, "batch", ["--sweeps", 200], "missing", BOTH),
], True)
FACEBOOK = Case("facebook-wosn", "user_i", 50000, [
    Setting(20, "batch", ["--sweeps", 100], "zeros", BOTH),
    Setting(20, "online", online(300), "zeros", BOTH),
], False)
SIMULATED = Case("simulated", "author", 0.7, [
    Setting(8, "batch", ["--sweeps", 100], "zeros", BOTH),
    Setting(8, "online", online(100, 1000), "zeros", BOTH),
    Setting(8, "batch", ["--sweeps", 100], "missing", BOTH),
], True)


def read_table(path):
    """The lines of a TSV file, .gz or not, without those that begin with a #."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]


def simulate(folder):
    """A data set like the others, with the component an author is largest in as its area."""
    made = folder / "simulated"
    common.ztp("simulate", "--dims", "120,60,40", "--ones", 6000, "--rank", 4, "--mode-names", "author,word,venue",
               "--edges", "author=900", "--seed", 21, "--out", made)
    best = {}
    for author, component, value in read_table(made / "truth" / "author.tsv"):
        best[author] = max(best.get(author, (0.0, "-")), (float(value), component))
    lines = [f"{author}\t0\t{best.get(author, (0, '-'))[1]}" for [author] in read_table(made / "labels" / "author.txt")]
    (made / "author-labels.tsv").write_text("\n".join(lines) + "\n")
    return made


class Data:
    """One data set and its splits, each made when first asked for."""

    def __init__(self, case, folder, work):
        self.case, self.folder, self.work = case, pathlib.Path(folder), pathlib.Path(work)
        self.labels = self.folder / f"{case.mode}-labels.tsv"

    def file(self, name):
        plain = self.folder / name
        return plain if plain.exists() else self.folder / (name + ".gz")

    def split(self, seed):
        out = self.work / f"{self.case.name}-{seed}"
        if not (out / "done").exists():
            out.mkdir(exist_ok=True)
            labels, after = self.order(seed)
            common.ztp("split", self.file("tensor.tsv"), *labels, "--protocol", "slices", "--mode", self.case.mode,
                       "--after", after, "--zeros-per-one", 5, "--seed", seed, "--out", out, "--force")
            (out / "done").touch()
        return out

    def order(self, seed):
        """The order the held-out entities are the end of: that of the data, as in the paper, or a shuffled one."""
        names, after = self.names(), self.case.after
        if isinstance(after, float):
            random.Random(seed).shuffle(names)
            after = round(after * len(names))
        order = self.work / f"{self.case.name}-{seed}-order.txt"
        order.write_text("\n".join(names) + "\n")
        venues = self.folder / "venue-labels.tsv"
        return [f"--labels={self.case.mode}={order}", *([f"--labels=venue={venues}"] if venues.exists() else [])], after

    def names(self):
        """All entities of the mode; without a file of labels, those of tensor and network by number.
        Some have edges and no ones."""
        if self.labels.exists():
            return [row[0] for row in read_table(self.labels)]
        found = {row[0] for row in read_table(self.file("tensor.tsv"))}
        found.update(name for row in read_table(self.file(f"network-{self.case.mode}.tsv")) for name in row[:2])
        return sorted(found, key=lambda name: (int("".join(filter(str.isdigit, name)) or 0), name))

    def areas(self):
        return {row[0]: row[2] for row in read_table(self.labels) if row[2] != "-"}

    def fit(self, setting, network, seed, run, threads):
        split = self.split(seed)
        options = list(setting.options)
        if network == "yes":
            options += ["--network", f"{self.case.mode}={self.file(f'network-{self.case.mode}.tsv')}"]
        if setting.slices == "missing":
            options += ["--missing-slices", f"{self.case.mode}={split / f'missing-{self.case.mode}.txt'}"]
        common.ztp("fit", split / "train.tsv", "--labels", split / "labels", "--rank", setting.rank, *options,
                   "--seed", seed, "--threads", threads, "--out", run, "--force")
        return common.evaluate(run, split / "test.tsv", "--threads", threads)


def sampling_seconds(run):
    return float(read_table(run / "trace.tsv")[-1][2])


def leaders(values, areas, among):
    """The labelled entities of `among` by what they are in a factor, largest first."""
    return sorted((name for name in values if name in areas and name in among), key=lambda name: (-values[name], name))


def count_areas(data, run, seed):
    """For each area its factor, and the areas of the held-out entities that lead it. The factor is the one with the
    most of the area among its first labelled training entities, the heaviest of equals: nothing of the held-out ones is
    used to choose it."""
    areas = data.areas()
    held = {row[0] for row in read_table(data.split(seed) / f"missing-{data.case.mode}.txt")}
    factors = [{entity["label"]: entity["value"] for entity in factor["top"][data.case.mode]}
               for factor in common.ztp_json("components", run, "--top", 10 ** 9, "--mode", data.case.mode)]
    kept = set(areas) - held
    guides = [collections.Counter(areas[name] for name in leaders(factor, areas, kept)[:GUIDES]) for factor in factors]
    for area in sorted(set(areas.values())):
        best = max(range(len(factors)), key=lambda i: (guides[i][area], -i))
        found = collections.Counter(areas[name] for name in leaders(factors[best], areas, held)[:TOP])
        base = sum(areas.get(name) == area for name in held) / sum(name in areas for name in held)
        yield dict(area=area, guides=guides[best][area], right=found[area], base=round(base, 4),
                   counts=" ".join(f"{name.replace(' ', '-')}={found[name]}" for name in sorted(set(areas.values()))))


def run_case(data, seeds, rows, area_rows, threads):
    for seed in seeds:
        for setting in data.case.settings:
            for network in setting.networks:
                key = dict(data=data.case.name, rank=setting.rank, method=setting.method, network=network,
                           slices=setting.slices, seed=seed)
                if not rows.has(**key):
                    run_one(data, setting, network, seed, key, rows, area_rows, threads)


def run_one(data, setting, network, seed, key, rows, area_rows, threads):
    """One fit. Its areas go into their file first: the row says that all of it is done."""
    run = data.work / "run"
    scores = data.fit(setting, network, seed, run, threads)
    if data.case.areas:
        for counted in count_areas(data, run, seed):
            area_key = dict(key, area=counted["area"])
            if not area_rows.has(**area_key):
                area_rows.add(**area_key, **{name: counted[name] for name in area_rows.columns if name not in area_key})
    rows.add(**key, **{name: f"{scores[name]:.4f}" for name in ("auc_roc", "auc_pr", "log_loss")},
             seconds=f"{sampling_seconds(run):.2f}")
    shutil.rmtree(run)


def summary(rows):
    """The rows of each data set, rank, method and meaning of the slices, without and with the network."""
    order = [(case.name, setting.slices, setting.rank, setting.method) for case in (SIMULATED, SCHOLARS, DBLP, FACEBOOK)
             for setting in case.settings]
    groups = {}
    for row in sorted(rows, key=lambda row: order.index((row["data"], row["slices"], int(row["rank"]), row["method"]))):
        key = (row["data"], int(row["rank"]), row["method"], row["slices"])
        groups.setdefault(key, {}).setdefault(row["network"], []).append(row)
    return groups


def cell(rows, name, digits=4):
    if not rows:
        return "-"
    mean, sd = common.mean_sd([float(row[name]) for row in rows])
    return f"{mean:.{digits}f}" + (f" ({sd:.{digits}f})" if sd == sd else "")


def table(rows):
    lines = ["| data, R, method, held-out slices | AUC-ROC, AUC-PR without network | with network "
             "| log-loss without, with |", "|---|---|---|---|"]
    for (data, rank, method, slices), both in summary(rows).items():
        scores = [f"{cell(both.get(n), 'auc_roc')}, {cell(both.get(n), 'auc_pr')}" for n in BOTH]
        loss = ", ".join(cell(both.get(n), "log_loss", 2).split(" ")[0] for n in BOTH)
        lines.append(f"| {TITLES[data]}, {rank}, {method}, {slices} | {scores[0]} | {scores[1]} | {loss} |")
    for data, rank in (("scholars", 100), ("facebook-wosn", 20)):
        scores = ["{:.4f}, {:.4f}".format(*PAPER[data, n]) for n in BOTH]
        lines.append(f"| {TITLES[data]}, {rank}, online, zeros: the paper | {scores[0]} | {scores[1]} | |")
    return lines


def area_line(rows):
    """Of the first held-out authors of the areas' factors, the share that are of the area: without, then with the
    network."""
    settings = list(dict.fromkeys((row["method"], row["slices"]) for row in rows))
    shares = [f"{method}, slices {slices} {right(rows, method, slices, 'no')}, {right(rows, method, slices, 'yes')}"
              for method, slices in settings]
    chance = common.mean_sd([float(row["base"]) for row in rows])[0]
    return (
        f"DBLP four-area: take the {TOP} leading held-out authors (with a known area) of the factor of each "
        f"area. The share "
        f"of them that are from this area, without and with the network, is: {'; '.join(shares)}; by chance "
        f"{chance:.2f}."
    )


def right(rows, method, slices, network):
    found = [int(row["right"]) for row in rows
             if (row["method"], row["slices"], row["network"]) == (method, slices, network)]
    return f"{sum(found) / len(found) / TOP:.2f}" if found else "-"


def counts_of(row):
    return {name: int(number) for name, number in (item.split("=") for item in row["counts"].split(" "))}


def draw_scores(axis, rows):
    """AUC-PR without and with the network, a pair of bars for each setting, the paper's as a line."""
    labels = []
    for position, ((data, rank, method, slices), both) in enumerate(summary(rows).items()):
        for network, color, shift in (("no", "#b0b0b0", -0.2), ("yes", "#3a6ea5", 0.2)):
            values = [float(row["auc_pr"]) for row in both.get(network, [])]
            if values:
                axis.bar(position + shift, sum(values) / len(values), 0.38, color=color, label=None if position else
                         {"no": "without network", "yes": "with network"}[network])
                axis.plot([position + shift] * len(values), values, "k.", markersize=3)
            if (data, network) in PAPER and slices == "zeros":
                axis.hlines(PAPER[data, network][1], position + shift - 0.2, position + shift + 0.2, color="#c03030",
                            label="paper" if network == "no" and not position else None)
        labels.append(f"{TITLES[data]}\nR = {rank}\n{method}" + ("\nmissing" if slices == "missing" else ""))
    axis.set_xticks(range(len(labels)), labels, fontsize=7)
    axis.set_ylabel("AUC-PR, held-out authors", fontsize=7)
    axis.tick_params(axis="y", labelsize=7)
    axis.set_ylim(0, 1.15)
    axis.legend(fontsize=7, loc="upper left", ncol=3)


def draw(rows, area_rows):
    pyplot = common.pyplot()
    shown = [row for row in area_rows if (row["method"], row["slices"]) == SHOWN]
    areas = sorted({row["area"] for row in shown})
    figure = pyplot.figure(figsize=(9, 6 if areas else 3.2))
    heights = [1.6, 1, 1] if areas else [1]
    grid = figure.add_gridspec(len(heights), max(len(areas), 1), height_ratios=heights, hspace=0.5)
    draw_scores(figure.add_subplot(grid[0, :]), rows)
    for line, network in enumerate(BOTH if areas else ()):
        for column, area in enumerate(areas):
            axis = figure.add_subplot(grid[1 + line, column])
            draw_areas(axis, [row for row in shown if row["network"] == network and row["area"] == area], area)
            axis.set_title(f"factor of {area}" if line == 0 else "", fontsize=8)
            if column == 0:
                axis.set_ylabel(f"{'without' if network == 'no' else 'with'} network\nof the top {TOP}", fontsize=7)
    figure.subplots_adjust(left=0.08, right=0.99, top=0.97, bottom=0.05 if areas else 0.2)
    return figure


def draw_areas(axis, rows, area):
    counts = [counts_of(row) for row in rows]
    names = sorted({name for count in counts for name in count})
    means = [sum(count[name] for count in counts) / len(counts) for name in names]
    colors = ["#3a6ea5" if name == area.replace(" ", "-") else "#b0b0b0" for name in names]
    axis.bar(range(len(names)), means, color=colors)
    axis.set_ylim(0, TOP)
    axis.set_xticks(range(len(names)), [SHORT.get(name, name) for name in names], fontsize=7)
    axis.tick_params(axis="y", labelsize=7)


def page(rows, area_rows):
    counts = [len(part) for both in summary(rows).values() for part in both.values()]
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    lines = [f"Mean over {seeds} {'seed' if seeds == '1' else 'seeds'} (standard deviation).", "", *table(rows), ""]
    if area_rows:
        lines += [area_line(area_rows), ""]
    figure = "![AUC-PR with and without the network; areas of held-out authors](images/cold-start.svg)"
    return "\n".join([*lines, figure, "", NOTES.strip()])


def report(rows, area_rows):
    figure = draw(rows.all(), area_rows.all())
    common.publish("cold-start", rows.path, figure, page(rows.all(), area_rows.all()))
    shutil.copy(area_rows.path, common.HERE / "docs" / "tables" / "cold-start-areas.tsv")


def files(out):
    return (common.Rows(out / "cold-start.tsv", KEYS, ["auc_roc", "auc_pr", "log_loss", "seconds"]),
            common.Rows(out / "cold-start-areas.tsv", AREA_KEYS, ["guides", "right", "base", "counts"]))


def cases(chosen):
    """Those asked for; by default all, Facebook only where it is."""
    known = {case.name: case for case in (SCHOLARS, DBLP, FACEBOOK)}
    if chosen:
        return [known[name] for name in chosen.split(",")]
    return [case for case in known.values() if case is not FACEBOOK or common.has_data(case.name)]


def main():
    options = common.arguments(__doc__, seeds=(3, "how many"),
                               threads=(2, "of the fits; the draws do not depend on it"),
                               data=("", "only these, of scholars, dblp-4area and facebook-wosn, separated by commas"))
    with common.work_folder() as work:
        work = pathlib.Path(work)
        rows, area_rows = files(common.out_folder(options, work))
        seeds = range(options.seed, options.seed + (1 if options.quick else options.seeds))
        if options.quick:
            run_case(Data(SIMULATED, simulate(work), work), seeds, rows, area_rows, 1)
            print("\n".join(page(rows.all(), area_rows.all()).splitlines()[:-1]))
            return
        for case in [] if options.report else cases(options.data):
            common.data_file(case.name)
            run_case(Data(case, common.DATA / case.name, work), seeds, rows, area_rows, options.threads)
        report(rows, area_rows)


if __name__ == "__main__":
    main()
