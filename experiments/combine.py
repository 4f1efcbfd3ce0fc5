#!/usr/bin/python3
"""How to combine chains that sit in different local optima, and how to recalibrate: "Combining chains" of docs/results.md.

usage: combine.py [--data world,kinship-tied] [--splits 3]

Needs numpy and scipy (Debian: python3-numpy python3-scipy). Every chain is a fit of its own, with a seed of its own.
Of world, Kinship, UMLS and MovieLens a tenth of all cells is held out. Of DBLP and Scholars a tenth of the ones is,
with 20 drawn zeros each; a drawn zero has the weight of the zeros that it stands for, so that scores are those of the
tensor. Whatever has parameters is fitted to four fifths of the test cells and scored on the fifth. Probabilities of
chains are kept in build/paper/combine, scores in build/paper/combine.tsv, those of maps that are fitted to few cells in
build/paper/combine-few.tsv. What is there is not done again. The tables are made at the end, or with --report.
"""
import math
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402
import defaults  # noqa: E402
import relational  # noqa: E402

try:
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit, logsumexp
except ImportError:
    sys.exit("this experiment needs numpy and scipy (Debian: python3-numpy python3-scipy)")

# name: data set, name on the page, options of a chain, chains
DATA = {
    "world": ("world", "world memberships", "--rank 50 --sweeps 500", 8),
    "kinship": ("kinship", "Kinship, CP", "--rank 100 --sweeps 500", 8),
    "kinship-tied": ("kinship", "Kinship, tied", f"{defaults.TIED['kinship']} --gamma-shape 0.3 --sweeps 500", 8),
    "umls": ("umls", "UMLS, CP", "--rank 50 --sweeps 500", 8),
    "umls-tied": ("umls", "UMLS, tied", f"{defaults.TIED['umls']} --gamma-shape 0.3 --sweeps 500", 8),
    "movielens-100k": ("movielens-100k", "MovieLens", "--rank 100 --sweeps 300", 4),
    "dblp-10k": ("dblp-10k", "DBLP", "--rank 100 --sweeps 300", 4),
    "scholars": ("scholars", "Scholars", "--rank 100 --sweeps 100", 4),
}
SPLITS = {"scholars": 1}
FIRST_SPLIT = 21  # no other experiment uses these splits
HOLDOUT = 0.1
UNIFORM_ZEROS, NEAR_ZEROS = 10, 10  # drawn for each one
FOLDS = 5
COMBINATIONS = {"one": "one chain", "probabilities": "mean of probabilities", "logits": "mean of logits",
                "stacking": "stacking"}
MAPS = {"raw": "raw", "logistic": "logistic", "beta": "beta"}
KEYS = ["data", "chains", "options", "split", "combination", "map"]
VALUES = ["log_loss", "skill", "slope", "intercept", "against_mean", "against_mean_se", "against_logistic",
          "against_logistic_se", "test_ones", "test_zeros"]

FEW = (50, 200, 500)  # ones that a map is fitted to, and their share of the zeros
FEW_SHOWN = (50, 200)  # on the page
REPEATS = 20
FEW_KEYS = ["data", "chains", "options", "split", "ones", "map"]
FEW_VALUES = ["change", "worst"]


# The data and the chains.

def split_of(work, name, split):
    """The options of a fit, and the folder with test.tsv and, of data with drawn zeros, weights.npy."""
    data = DATA[name][0]
    if data not in defaults.BY_ONES:
        tensor = relational.tensor_of(data, work) if data == "world" else None
        source = common.make_split(work, data, split, "cells", "--holdout", HOLDOUT, "--threads", 1, tensor=tensor)
        return source, common.split_folder(work, data, split, "cells")
    source = common.make_split(work, data, split, "ones", "--holdout", HOLDOUT, "--zeros-per-one", UNIFORM_ZEROS,
                               "--threads", 1)
    folder = common.split_folder(work, data, split, "ones")
    if not (folder / "weights.npy").exists():
        add_near_zeros(folder, split)
    return source, folder


def read_cells(path, modes):
    """Indices of the cells in a file, modes x cells, and its last columns."""
    with open(path) as file:
        next(file)
        lines = [line.rstrip("\n").split("\t") for line in file]
    return np.array([[ids[line[m]] for line in lines] for m, ids in enumerate(modes)]), [line[-1] for line in lines]


def add_near_zeros(folder, seed):
    """Adds zeros to test.tsv that differ from a one in one mode. Uniform zeros alone would have hardly any probable
    cell among them, and that one would have a large weight. A zero's weight is the inverse of how often both ways of
    drawing together are expected to draw it, times the share of ones held out: sums over test cells then estimate sums
    over the tensor, without bias."""
    header = (folder / "test.tsv").open().readline()
    names = header.lstrip("#").rstrip("\n").split("\t")[:-1]
    labels = [(folder / "labels" / f"{name}.txt").read_text().splitlines() for name in names]
    sizes = np.array([len(of) for of in labels])
    modes = [{label: i for i, label in enumerate(of)} for of in labels]
    test, outcomes = read_cells(folder / "test.tsv", modes)
    outcomes = np.array(outcomes) == "1"
    ones = np.concatenate([read_cells(folder / "train.tsv", modes)[0], test[:, outcomes]], axis=1)
    zeros = math.prod(map(int, sizes)) - ones.shape[1]

    draw = np.random.default_rng(seed)
    tries = NEAR_ZEROS * int(outcomes.sum())
    near = ones[:, draw.integers(ones.shape[1], size=tries)]
    changed = draw.integers(len(sizes), size=tries)
    near[changed, np.arange(tries)] = draw.integers(sizes[changed])
    keys = np.ravel_multi_index(np.concatenate([near, test[:, ~outcomes]], axis=1), sizes)
    keys, times = np.unique(keys[~np.isin(keys, np.ravel_multi_index(ones, sizes))], return_counts=True)
    cells = np.array(np.unravel_index(keys, sizes))

    chance = np.zeros(len(keys))  # of one try
    for m, size in enumerate(sizes):
        others = [k for k in range(len(sizes)) if k != m]
        fibres, length = np.unique(np.ravel_multi_index(ones[others], sizes[others]), return_counts=True)
        mine = np.ravel_multi_index(cells[others], sizes[others])
        place = np.minimum(np.searchsorted(fibres, mine), len(fibres) - 1)
        chance += np.where(fibres[place] == mine, length[place], 0) / (len(sizes) * ones.shape[1] * size)
    weights = outcomes.sum() / ones.shape[1] * times / ((~outcomes).sum() / zeros + tries * chance)

    with open(folder / "test.tsv", "w") as file:
        file.write(header)
        for one, part in ((1, test[:, outcomes]), (0, cells)):
            for cell in part.T:
                file.write("\t".join(of[i] for of, i in zip(labels, cell)) + f"\t{one}\n")
    np.save(folder / "weights.npy", np.concatenate([np.ones(outcomes.sum()), weights]))


def outcomes_and_weights(folder):
    with open(folder / "test.tsv") as file:
        next(file)
        outcomes = np.array([line.rstrip("\n").endswith("\t1") for line in file])
    weights = folder / "weights.npy"
    return outcomes, np.load(weights) if weights.exists() else np.ones(len(outcomes))


def predict(run, cells):
    """With all digits, which the table that 'ztp predict' prints has not."""
    number = re.compile(r'"probability":([-+.0-9e]+)')
    with subprocess.Popen([common.PROGRAM, "predict", run, cells, "--json", "--threads", "1"], stdout=subprocess.PIPE,
                          text=True) as process:
        found = np.array([float(number.search(line)[1]) for line in process.stdout])
    if process.returncode != 0:
        sys.exit(f"ztp predict {run} {cells} failed ({process.returncode})")
    return found


def chain(work, kept, name, split, seed, options):
    """The probabilities of the test cells by one chain; from the file of an earlier call, if there is one."""
    path = kept / f"{name}-{split}-{seed}-{options.replace(' ', '_')}.npy"
    if not path.exists():
        source, folder = split_of(work, name, split)
        run = pathlib.Path(work) / "run"
        common.ztp("fit", *source, *options.split(), "--chains", 1, "--seed", seed, "--threads", 1, "--out", run,
                   "--force", schedule=list)
        found = predict(run, folder / "test.tsv")
        shutil.rmtree(run)
        with open(path.with_suffix(".part"), "wb") as file:
            np.save(file, found)
        path.with_suffix(".part").rename(path)
    return np.load(path)


# Combinations and maps. All work with logits, which are exact near 0 and near 1.

def logit(p):
    return np.log(p) - np.log1p(-p)


def clamped(p, most=1 - 1e-12):
    return np.clip(p, 1e-12, most)


def loss_of(x, outcomes):
    """Of every cell: -log of the probability of what it is."""
    return np.logaddexp(0, np.where(outcomes, -x, x))


def stacking_weights(chains, outcomes, weights):
    """The weights of the chains' probabilities with the largest log score. The prior is a Dirichlet(2): it counts as
    much as one cell for each chain, and only keeps weights from being 0."""
    of_outcome = np.where(outcomes, np.log(chains), np.log1p(-chains))  # chains x cells

    def negative(free):
        log_w = free - logsumexp(free)
        joint = log_w[:, None] + of_outcome
        total = logsumexp(joint, axis=0)
        mine = np.exp(joint - total) @ weights + 1
        return -(total @ weights) - log_w.sum(), np.exp(log_w) * mine.sum() - mine

    scale = weights[outcomes].sum()
    found = minimize(lambda free: tuple(part / scale for part in negative(free)), np.zeros(len(chains)), jac=True,
                     method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-8})
    return np.exp(found.x - logsumexp(found.x))


def regress(columns, outcomes, weights, start, precision=0.0):
    """Coefficients of a weighted logistic regression, by Newton's method; a step that is too long is halved. They have
    a normal prior about `start` with this precision."""
    design = np.stack(columns, axis=1)
    start = np.array(start, float)
    precision = np.broadcast_to(precision, start.shape)

    def loss_at(b):
        return weights @ loss_of(design @ b, outcomes) + precision @ (b - start) ** 2 / 2

    now, loss = start, loss_at(start)
    for _ in range(100):
        p = expit(design @ now)
        gradient = design.T @ (weights * (outcomes - p)) - precision * (now - start)
        hessian = design.T @ (design * (weights * p * (1 - p))[:, None]) + np.diag(precision)
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        part = 1.0
        while part > 1e-8:
            after = loss_at(now + part * step)
            if after <= loss:
                break
            part /= 2
        if part <= 1e-8:
            break
        now, better = now + part * step, loss - after
        loss = after
        if better < 1e-12 * loss:
            break
    return now


def logistic_map(x, outcomes, weights, precision=(0, 0)):
    a, b = regress([np.ones_like(x), x], outcomes, weights, [0, 1], precision)
    return lambda y: a + b * y


def beta_map(x, outcomes, weights, precision=(0, 0)):
    """c + a log p - b log(1 - p), a and b at least 0: a coefficient below is set to 0, and the other fitted again."""
    parts = [lambda y: -np.logaddexp(0, -y), lambda y: np.logaddexp(0, y)]
    while True:
        columns = [np.ones_like(x), *(part(x) for part in parts)]
        found = regress(columns, outcomes, weights, [0] + [1] * len(parts),
                        [precision[0]] + [precision[1]] * len(parts))
        if not parts or found[1:].min() >= 0:
            return lambda y: found[0] + sum(b * part(y) for b, part in zip(found[1:], parts))
        del parts[int(found[1:].argmin())]


def combine(how, chains, train, outcomes, weights):
    """Logits of all cells; parameters are fitted to the cells `train`."""
    if how == "logits":
        return logit(clamped(chains, 1 - 1e-5)).mean(axis=0)
    if how == "stacking":
        found = stacking_weights(clamped(chains)[:, train], outcomes[train], weights[train])
        return logit(clamped(found @ chains))
    return logit(clamped(chains.mean(axis=0)))


def cross_fitted(how, which, chains, outcomes, weights):
    """Logits of all test cells, each by parameters that were fitted to the folds it is not in."""
    fold = np.random.default_rng(1).permutation(len(outcomes)) % FOLDS
    found = np.empty(len(outcomes))
    for now in range(FOLDS):
        train, test = fold != now, fold == now
        x = combine(how, chains, train, outcomes, weights)
        if which != "raw":
            fit = logistic_map if which == "logistic" else beta_map
            x = fit(x[train], outcomes[train], weights[train])(x)
        found[test] = x[test]
        if which == "raw" and how != "stacking":
            return x
    return found


def score(x, outcomes, weights):
    total = weights.sum()
    share = weights[outcomes].sum() / total
    loss = weights @ loss_of(x, outcomes) / total
    constant = -share * math.log(share) - (1 - share) * math.log1p(-share)
    intercept, slope = regress([np.ones_like(x), x], outcomes, weights, [0, 1])
    return {"log_loss": loss, "skill": 1 - loss / constant, "slope": slope, "intercept": intercept}


def measure(chains, outcomes, weights):
    """Yields combination, map and scores. Log-loss is also compared: against_mean, with that of the mean of
    probabilities and the same map; against_logistic, with that of the same combination and the logistic map. The
    standard errors of these differences are over cells."""
    losses = {}
    for how in ("probabilities", *(how for how in COMBINATIONS if how != "probabilities")):
        for which in ("logistic", *(which for which in MAPS if which != "logistic")):
            sets = [chains[c:c + 1] for c in range(len(chains))] if how == "one" else [chains]
            found = [cross_fitted(how, which, of, outcomes, weights) for of in sets]
            scores = [score(x, outcomes, weights) for x in found]
            result = {key: f"{sum(each[key] for each in scores) / len(scores):.7g}" for key in scores[0]}
            losses[how, which] = sum(loss_of(x, outcomes) for x in found) / len(found)
            for name, other in (("against_mean", ("probabilities", which)), ("against_logistic", (how, "logistic"))):
                apart = losses[how, which] - losses[other]
                mean = weights @ apart / weights.sum()
                error = math.sqrt(weights ** 2 @ (apart - mean) ** 2) / weights.sum()
                result |= {name: f"{mean:.4g}", name + "_se": f"{error:.3g}"}
            yield how, which, result


PRIOR = (1, 4)  # precision of the intercept and of slopes: standard deviations 1 and 0.5, about no map at all
FEW_MAPS = {"logistic": (logistic_map, (0, 0)), "logistic, prior": (logistic_map, PRIOR), "beta": (beta_map, (0, 0)),
            "beta, prior": (beta_map, PRIOR)}


def measure_few(chains, outcomes, weights):
    """Yields a number of ones, a map, and by how many per cent the map changes the log-loss of the mean of logits on
    all other test cells: the mean over random choices, and the worst of them."""
    x = combine("logits", chains, None, outcomes, weights)
    raw = loss_of(x, outcomes)
    draw = np.random.default_rng(1)
    for ones in FEW:
        changes = {which: [] for which in FEW_MAPS}
        for _ in range(REPEATS if ones <= 0.75 * outcomes.sum() else 0):
            train = draw.random(len(x)) < ones / outcomes.sum()
            for which, (fit, precision) in FEW_MAPS.items():
                mapped = fit(x[train], outcomes[train], weights[train], precision)(x[~train])
                apart = loss_of(mapped, outcomes[~train]) - raw[~train]
                changes[which].append(100 * (weights[~train] @ apart) / (weights[~train] @ raw[~train]))
        for which, of in changes.items():
            if of:
                yield ones, which, {"change": f"{sum(of) / len(of):.3f}", "worst": f"{max(of):.3f}"}


def run(args, rows, few, work, kept):
    todo = [(split, name) for split in range(FIRST_SPLIT, FIRST_SPLIT + args.splits) for name in args.data
            if split < FIRST_SPLIT + SPLITS.get(name, args.splits)]
    for split, name in sorted(todo, key=lambda one: one[1] == "scholars"):  # which takes longest, last
        _, _, options, count = DATA[name]
        if args.quick:
            options, count = re.sub("--sweeps [0-9]+", "--sweeps 20", options), 2
        key = dict(data=name, chains=count, options=options, split=split)
        if all(rows.has(**key, combination=how, map=which) for how in COMBINATIONS for which in MAPS) and few.has(
                **key, ones=FEW[0], map=[*FEW_MAPS][-1]):
            continue
        _, folder = split_of(work, name, split)
        outcomes, weights = outcomes_and_weights(folder)
        chains = np.array([chain(work, kept, name, split, seed, options) for seed in range(1, count + 1)])
        for ones, which, changes in measure_few(chains, outcomes, weights):
            if not few.has(**key, ones=ones, map=which):
                few.add(**key, ones=ones, map=which, **changes)
        if all(rows.has(**key, combination=how, map=which) for how in COMBINATIONS for which in MAPS):
            continue
        for how, which, scores in measure(chains, outcomes, weights):
            if not rows.has(**key, combination=how, map=which):
                rows.add(**key, combination=how, map=which, **scores, test_ones=outcomes.sum(),
                         test_zeros=(~outcomes).sum())


# The page.

METHODS = [("one", "raw"), *((how, which) for how in COMBINATIONS if how != "one" for which in MAPS)]


PAIRS = [("mean of logits less mean of probabilities, both raw", ("logits", "raw"), "against_mean"),
         ("both logistic", ("logits", "logistic"), "against_mean"),
         ("both beta", ("logits", "beta"), "against_mean"),
         ("stacking less mean of probabilities, both logistic", ("stacking", "logistic"), "against_mean"),
         ("raw less logistic, mean of logits", ("logits", "raw"), "against_logistic"),
         ("beta less logistic, mean of logits", ("logits", "beta"), "against_logistic")]


def in_percent(rows, difference):
    def of(row, value):
        return 100 * float(row[value]) / (float(row["log_loss"]) - float(row[difference]))
    mean, sd = common.mean_sd([of(row, difference) for row in rows])
    error = sd / math.sqrt(len(rows)) if len(rows) > 1 else of(rows[0], difference + "_se")
    return f"{mean:+.2f} ({error:.2f})"


def cell(rows, value, digits):
    mean, sd = common.mean_sd([float(row[value]) for row in rows])
    return f"{mean:.{digits}f}" + ("" if math.isnan(sd) else f" ({sd / math.sqrt(len(rows)):.{digits}f})")


def table(found, show, methods=METHODS):
    """Rows: data sets; columns: methods."""
    lines = ["| data | " + " | ".join(f"{COMBINATIONS[how]}, {MAPS[which]}" for how, which in methods) + " |",
             "|---" * (1 + len(methods)) + "|"]
    for name, of in found.items():
        cells = [show(name, of[method]) for method in methods]
        lines.append(f"| {DATA[name][1]} | " + " | ".join(cells) + " |")
    return lines


def markdown(rows):
    found = {}
    for name in DATA:
        for row in rows.all():
            if (row["data"], row["options"], int(row["chains"])) == (name, *DATA[name][2:]):
                found.setdefault(name, {}).setdefault((row["combination"], row["map"]), []).append(row)

    def bold(name, rows, value, digits):
        text = cell(rows, value, digits)
        best = max(sum(float(row[value]) for row in found[name][method]) for method in METHODS)
        return f"**{text}**" if sum(float(row[value]) for row in rows) == best else text

    def log_loss(_, rows):
        mean, sd = common.mean_sd([float(row["log_loss"]) for row in rows])
        return f"{mean:.4g}" + ("" if math.isnan(sd) else f" ({sd / math.sqrt(len(rows)):.1g})")

    lines = ["Skill is 1 - log-loss / log-loss of a constant; larger is better. The best of a row is bold. "
             "Here and below, "
             "brackets have the standard error over splits, if there are several.", ""]
    lines += table(found, lambda name, rows: bold(name, rows, "skill", 4))
    lines += ["", "Differences of log-loss in per cent; below 0, the first is better. Brackets have the standard error "
              "over splits, or over cells if there is one split.", "",
              "| data | " + " | ".join(text for text, *_ in PAIRS) + " |", "|---" * (1 + len(PAIRS)) + "|"]
    for name, methods in found.items():
        lines.append(f"| {DATA[name][1]} | " + " | ".join(
            in_percent(methods[method], difference) for _, method, difference in PAIRS) + " |")
    mapped = [row for methods in found.values() for (_, which), of in methods.items() if which != "raw" for row in of]
    slope = max(abs(float(row["slope"]) - 1) for row in mapped)
    intercept = max(abs(float(row["intercept"])) for row in mapped)
    lines += ["", "Calibration slope and intercept without a map; 1 and 0 are right. With a map, slopes are within "
              f"{math.ceil(100 * slope) / 100:.2f} of 1 and intercepts within {math.ceil(100 * intercept) / 100:.2f} "
              "of 0.", ""]
    lines += table(found, lambda name, rows: f"{cell(rows, 'slope', 2)}, {cell(rows, 'intercept', 2)}",
                   [(how, "raw") for how in COMBINATIONS])
    lines += ["", "Log-loss.", ""]
    lines += table(found, log_loss)
    lines += ["", "Chains and splits: " + "; ".join(
        f"{DATA[name][1]} {DATA[name][3]} and {len(methods['one', 'raw'])}" for name, methods in found.items()) + "."]
    return "\n".join(lines)


def few_markdown(few):
    lines = ["| data | " + " | ".join(f"{ones} ones: {which}" for ones in FEW_SHOWN for which in FEW_MAPS) + " |",
             "|---" * (1 + len(FEW_MAPS) * len(FEW_SHOWN)) + "|"]
    for name in DATA:
        cells = []
        for ones in FEW_SHOWN:
            for which in FEW_MAPS:
                found = [row for row in few.all() if (row["data"], row["options"], int(row["chains"]), int(row["ones"]),
                                                      row["map"]) == (name, *DATA[name][2:], ones, which)]
                cells.append(f"{common.mean_sd([float(row['change']) for row in found])[0]:+.1f}, "
                             f"{max(float(row['worst']) for row in found):+.1f}" if found else "")
        if any(cells):
            lines.append(f"| {DATA[name][1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    args = common.arguments(
        __doc__.split("\n")[0],
        data=("", f"some of {', '.join(DATA)}"),
        splits=(3, "splits of the data; of Scholars one"),
    )
    args.data = common.chosen(args.data or ("world" if args.quick else ""), DATA, "data")
    args.splits = 1 if args.quick else args.splits
    with common.work_folder() as work:
        folder = common.out_folder(args, work)
        kept = folder / "combine"
        kept.mkdir(parents=True, exist_ok=True)
        rows = common.Rows(folder / "combine.tsv", KEYS, VALUES)
        few = common.Rows(folder / "combine-few.tsv", FEW_KEYS, FEW_VALUES)
        if not args.report:
            run(args, rows, few, work, kept)
        if not args.quick:
            common.publish("combine", rows.path, None, markdown(rows))
            common.publish("combine-few", few.path, None, few_markdown(few))


if __name__ == "__main__":
    main()
