#!/usr/bin/python3
"""Do 90 % intervals hold the truth in 90 % of cases? The table of docs/correctness.md, "Coverage of intervals".

usage: coverage.py [--sizes small,medium] [--methods batch,online] [--sets 500] [--jobs 2]

Parameters come from the prior, a binary tensor from them, and a fit with the same prior and the same number of
components from the tensor. A tenth of the cells is missing. The true probabilities of cells are compared with q05 and
q95 of `ztp predict`. Rows go to build/coverage/coverage.tsv, one a fit. What is there is not done again, so the
experiment can be stopped at any time and done in parts. The table is made at the end, or with --report.
"""
import concurrent.futures
import math
import pathlib
import random
import shutil
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402

# Modes, R, g and a.
SIZES = {
    "small": ((8, 8, 6), 3, 10, 0.5),
    "medium": ((20, 20, 10), 5, 40, 0.5),
    "large": ((40, 40, 20), 8, 100, 0.5),
    "concentrated": ((20, 20, 10), 5, 40, 0.1),
}
C, EPS = 10, 0.75  # lambda has the mean 5 g, and a variance
MISSING = 0.1
CELLS = 400  # of a data set, half of them missing ones; all, if there are no more
DRAWS = 500
# The share of the ones that a fit sees, the others coming in an update; and its options.
METHODS = {
    "batch": (1, ""),
    "batch, 100 draws": (1, "--draws 100"),
    "online": (1, "--method online"),
    "online, 10,000 steps": (1, "--method online --sweeps 10000"),
    "online, all ones a step": (1, "--method online --minibatch {ones}"),
    "updated, 10 % new": (0.9, ""),
    "updated, 50 % new": (0.5, ""),
}
KINDS = ["observed", "missing"]
KEYS = ["size", "method", "set"]
VALUES = ["ones", *(f"{kind}_{what}" for kind in KINDS for what in ("cells", "below", "above", "factors"))]
STEP = 1.05  # from one bin of factors to the next


class Truth:
    """Parameters from the prior, and a tensor from these."""

    def __init__(self, size, number):
        self.sizes, self.rank, self.shape, self.a = SIZES[size]
        generator = random.Random(f"{size} {number}")
        self.weights = []
        for _ in range(self.rank):
            p = generator.betavariate(C * EPS, C * (1 - EPS))
            self.weights.append(generator.gammavariate(self.shape, p / (1 - p)))
        self.columns = [[self.column(generator, n) for _ in range(self.rank)] for n in self.sizes]
        cells = [(i, j, k) for i in range(self.sizes[0]) for j in range(self.sizes[1]) for k in range(self.sizes[2])]
        missing = generator.sample(cells, round(MISSING * len(cells)))
        self.missing = set(missing)
        observed = [cell for cell in cells if cell not in self.missing]
        self.ones = [cell for cell in observed if generator.random() < -math.expm1(-self.rate(cell))]
        generator.shuffle(self.ones)
        half = min(CELLS // 2, len(missing))
        self.asked = missing[:half] + generator.sample(observed, min(CELLS - half, len(observed)))

    def column(self, generator, n):
        draws = [generator.gammavariate(self.a, 1) for _ in range(n)]
        return [draw / sum(draws) for draw in draws]

    def rate(self, cell):
        return sum(weight * math.prod(columns[r][j] for columns, j in zip(self.columns, cell))
                   for r, weight in enumerate(self.weights))


def write_cells(path, cells):
    path.write_text("#i\tj\tk\n" + "".join("\t".join(map(str, cell)) + "\n" for cell in cells))
    return path


def intervals(truth, method, seed, folder):
    """q05 and q95 of the cells that are asked for, after a fit and, if it did not see all ones, an update."""
    share, options = METHODS[method]
    options = options.format(ones=len(truth.ones))
    for flag, value in (("--draws", DRAWS), ("--sweeps", 1000)):
        options += "" if flag in options else f" {flag} {value}"
    first = math.ceil(share * len(truth.ones))
    for mode, n in zip("ijk", truth.sizes):
        (folder / f"{mode}.txt").write_text("".join(f"{j}\n" for j in range(n)))
    prior = f"--rank {truth.rank} --dirichlet {truth.a} --gamma-shape {truth.shape} --beta-concentration {C} "
    prior += f"--beta-mean {EPS}"
    common.ztp("fit", write_cells(folder / "ones.tsv", truth.ones[:first]), "--labels", folder, "--missing",
               write_cells(folder / "missing.tsv", sorted(truth.missing)), *prior.split(), "--seed", seed, "--threads", 1,
               "--chains", 1, "--out", folder / "run", *options.split())
    if first < len(truth.ones):
        common.ztp("update", folder / "run", write_cells(folder / "new.tsv", truth.ones[first:]), "--draws", DRAWS,
                   "--sweeps", DRAWS * 5 // 4, "--threads", 1)
    lines = common.ztp("predict", folder / "run", write_cells(folder / "asked.tsv", truth.asked), "--threads", 1)
    rows = [line.split("\t") for line in lines.splitlines() if not line.startswith("#")]
    return [(float(row[-2]), float(row[-1])) for row in rows]


def log_rate(probability):
    probability = min(max(probability, 1e-12), 1 - 1e-12)
    return math.log(-math.log1p(-probability))


def factor_bin(truth, low, high):
    """By which power of STEP the interval has to be multiplied, about its middle, on the scale of the logarithm of the
    rate, to reach the truth; 0, if it does."""
    low, high = log_rate(low), log_rate(high)
    distance, half = abs(math.log(truth) - (low + high) / 2), max((high - low) / 2, 1e-9)
    return max(0, math.ceil(math.log(distance / half) / math.log(STEP))) if distance > 0 else 0


def judge(truth, found):
    """The values of a row."""
    row = {"ones": len(truth.ones), **{value: 0 for value in VALUES[1:]}}
    bins = {kind: {} for kind in KINDS}
    for cell, (low, high) in zip(truth.asked, found):
        kind = "missing" if cell in truth.missing else "observed"
        rate = max(truth.rate(cell), 1e-12)
        probability = -math.expm1(-rate)
        row[f"{kind}_cells"] += 1
        row[f"{kind}_below"] += probability < low
        row[f"{kind}_above"] += probability > high
        number = factor_bin(rate, low, high)
        bins[kind][number] = bins[kind].get(number, 0) + 1
    for kind in KINDS:
        row[f"{kind}_factors"] = ",".join(f"{number}:{count}" for number, count in sorted(bins[kind].items()))
    return row


def run(args, rows):
    done = {tuple(row[key] for key in KEYS) for row in rows.all()}
    lock = threading.Lock()

    def one(work, size, method, number):
        truth = Truth(size, number)
        folder = pathlib.Path(work) / f"{size}-{list(METHODS).index(method)}-{number}"
        folder.mkdir()
        row = judge(truth, intervals(truth, method, number, folder))
        shutil.rmtree(folder)
        with lock:
            rows.add(size=size, method=method, set=number, **row)

    keys = [(size, method, number) for number in range(args.seed, args.seed + args.sets) for size in args.sizes
            for method in args.methods if (size, method, str(number)) not in done]
    with common.work_folder() as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        try:
            for future in [pool.submit(one, work, *key) for key in keys]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def share(rows, kind):
    """Mean over data sets of the share of cells that are covered, and its standard error."""
    shares = [1 - (int(row[f"{kind}_below"]) + int(row[f"{kind}_above"])) / int(row[f"{kind}_cells"]) for row in rows]
    mean, sd = common.mean_sd(shares)
    return mean, sd / math.sqrt(len(shares))


def factor(rows, kind):
    """The factor that covers 90 % of the cells of all data sets."""
    bins = {}
    for row in rows:
        for part in row[f"{kind}_factors"].split(","):
            number, count = map(int, part.split(":"))
            bins[number] = bins.get(number, 0) + count
    left = 0.9 * sum(bins.values())
    for number in sorted(bins):
        left -= bins[number]
        if left <= 0:
            return STEP ** number


def table(rows):
    """The lines of the table, header first: of each size and method, by kind of cell, coverage and the factor."""
    found = {}
    for row in rows:
        found.setdefault((row["size"], row["method"]), []).append(row)
    lines = [("tensor", "ones", "method", "data sets", "observed cells", "missing cells", "factor: observed", "missing")]
    for size in SIZES:
        for method in METHODS:
            mine = found.get((size, method))
            if not mine:
                continue
            ones = sorted(int(row["ones"]) for row in mine)[len(mine) // 2]
            name = " x ".join(map(str, SIZES[size][0])) + f", R = {SIZES[size][1]}, a = {SIZES[size][3]}"
            lines.append((name, ones, method, len(mine),
                          *("{:.1%} ({:.1%})".format(*share(mine, kind)).replace("%", " %") for kind in KINDS),
                          *(f"{factor(mine, kind):.2f}" for kind in KINDS)))
    return lines


def main():
    args = common.arguments(
        __doc__.split("\n")[0],
        sizes=("", f"some of {', '.join(SIZES)}"),
        methods=("", "some of " + "; ".join(METHODS) + ", separated by ;"),
        sets=(500, "data sets of each size"),
        jobs=(2, "fits side by side"),
    )
    args.sizes = common.chosen(args.sizes, SIZES, "sizes")
    args.methods = args.methods.split(";") if args.methods else list(METHODS)
    for method in args.methods:
        if method not in METHODS:
            sys.exit(f"--methods {method}: not one of {'; '.join(METHODS)}")
    with common.work_folder() as temporary:
        folder = pathlib.Path(args.out or (temporary if args.quick else common.HERE / "build" / "coverage"))
        args.sets = min(args.sets, 3) if args.quick else args.sets
        rows = common.Rows(folder / "coverage.tsv", KEYS, VALUES, shown=KEYS)
        if not args.report:
            run(args, rows)
        lines = table(rows.all())
    markdown = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
    markdown = markdown.replace("\n", "\n" + "|---" * len(lines[0]) + "|\n", 1)
    print(markdown)
    if not args.quick:
        text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
        (common.HERE / "docs" / "tables" / "coverage.tsv").write_text(text)


if __name__ == "__main__":
    main()
