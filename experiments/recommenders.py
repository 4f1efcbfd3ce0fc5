#!/usr/bin/env python3
"""ztp as a recommender on MovieLens-100K, beside popularity, ALS and EASE: docs/results.md, "Recommenders".

usage: recommenders.py [--splits 5] [--methods ease,ztp-8]

Every tenth one, drawn at random, is set aside as the validation part. Of the other ones, each split holds out a tenth
as test ones, and trains on all the rest, the validation part included. All methods see the same training ones; all
other cells are zeros to them. ALS, EASE and ztp each have six settings. The one with the largest NDCG@10 on the
validation part is used for all splits. Test ones have no part in the choice.

Rows go to build/paper/recommenders.tsv, one a fit. What is there is not done again, so the experiment can be stopped at
any time and restarted. The page is made at the end, or with --report. It needs some packages:
pip install numpy scipy h5py implicit matplotlib.
"""
import gzip
import itertools
import pathlib
import resource
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "paper"))
import common  # noqa: E402
import h5py  # noqa: E402
import numpy as np  # noqa: E402

DATA = "movielens-100k"
MODES = ("user", "movie")
METHODS = {"popularity": "popularity", "als": "implicit's ALS", "als-8": "implicit's ALS, mean of 8 starts",
           "ease": "EASE", "ztp-4": "ztp, 4 chains", "ztp-8": "ztp, 8 chains", "ztp-16": "ztp, 16 chains"}
# Of the methods that are tuned; those with more or fewer starts or chains use what was chosen for these.
SETTINGS = {
    "popularity": [""],
    "als": [f"factors={f} regularization={r} alpha=1" for f, r in itertools.product([16, 32, 64], [1, 10])],
    "ease": [f"lambda={value}" for value in (60, 125, 250, 500, 1000, 2000)],
    "ztp-4": [f"--rank {r} --dirichlet user={u} --dirichlet movie={m}"
              for r, (u, m) in itertools.product([50, 100], [(0.1, 0.1), (0.05, 0.05), (0.1, 0.03)])],
}
TUNED_AS = {"als-8": "als", "ztp-8": "ztp-4", "ztp-16": "ztp-4"}
SWEEPS = "--sweeps 300 --keep-every 10"
VALIDATION = 0  # in place of the number of a split
PLACES = 10

KEYS = ["method", "split", "options"]
VALUES = ["ndcg10", "recall10", "mrr", "auc_roc", "seconds"]
SCORES = {"ndcg10": "NDCG@10", "recall10": "recall@10", "mrr": "MRR", "auc_roc": "AUC-ROC"}


# ---- data ----------------------------------------------------------------------------------------------------------


class Cells:
    """Training and test ones of a split, as matrices of users and movies, and as files for ztp."""

    def __init__(self, work, split):
        with gzip.open(common.data_file(DATA), "rt") as file:
            ones = [tuple(line.rstrip("\n").split("\t")) for line in file if not line.startswith("#")]
        self.labels = [sorted({one[k] for one in ones}) for k in range(2)]
        ids = [{label: i for i, label in enumerate(labels)} for labels in self.labels]
        cells = np.array([[ids[k][one[k]] for k in range(2)] for one in sorted(ones)])
        order = np.random.default_rng(0).permutation(len(cells))
        validation, rest = np.split(cells[order], [len(cells) // 10])
        if split == VALIDATION:
            test, train = validation, rest
        else:
            test, train = np.split(rest[np.random.default_rng(split).permutation(len(rest))], [len(rest) // 10])
            train = np.concatenate([train, validation])
        self.train, self.test = self.matrix(train), self.matrix(test)
        self.fits = {}  # of ztp: of each setting the fits of four chains, as scores and seconds
        self.fits_checked = False  # beside the program's own scores: the first fit only
        self.folder = pathlib.Path(work) / f"split-{split}"
        self.write(train, test)

    def matrix(self, cells):
        result = np.zeros([len(labels) for labels in self.labels], bool)
        result[cells[:, 0], cells[:, 1]] = True
        return result

    def write(self, train, test):
        (self.folder / "labels").mkdir(parents=True, exist_ok=True)
        for mode, labels in zip(MODES, self.labels):
            (self.folder / "labels" / f"{mode}.txt").write_text("".join(f"{label}\n" for label in labels))
        for name, cells in (("train", train), ("test", test)):
            lines = [f"{self.labels[0][i]}\t{self.labels[1][j]}\n" for i, j in cells]
            (self.folder / f"{name}.tsv").write_text("#" + "\t".join(MODES) + "\n" + "".join(lines))


# ---- methods: a score of every cell ----------------------------------------------------------------------------------


def popularity(cells, options):
    return np.broadcast_to(cells.train.sum(axis=0), cells.train.shape)


def ease(cells, options):
    """Item weights of ridge regression with a zero diagonal, in closed form (Steck 2019)."""
    train = cells.train.astype(float)
    gram = train.T @ train + float(options.split("=")[1]) * np.eye(train.shape[1])
    inverse = np.linalg.inv(gram)
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return train @ weights


def als(cells, options, starts=1):
    import implicit
    import scipy.sparse
    values = {name: float(value) for name, value in (part.split("=") for part in options.split())}
    values["factors"] = int(values["factors"])
    total = 0
    for start in range(starts):
        model = implicit.als.AlternatingLeastSquares(**values, random_state=start, num_threads=1)
        model.fit(scipy.sparse.csr_matrix(cells.train.astype(np.float32)), show_progress=False)
        total = total + model.user_factors @ model.item_factors.T
    return total


def four_chains(cells, options, seed):
    """The posterior's own probabilities: the mean over all draws."""
    run = cells.folder / "run"
    common.ztp("fit", cells.folder / "train.tsv", "--labels", cells.folder / "labels", *options.split(),
               *SWEEPS.split(), "--chains", 4, "--draws", 60, "--seed", seed, "--threads", 1, "--out", run, "--force")
    result, draws = np.zeros(cells.train.shape), 0
    with h5py.File(run / "draws.nc") as file:
        weights, users, movies = (file["posterior"][name] for name in ("lambda", "u_user", "u_movie"))
        for chain, draw in np.ndindex(weights.shape[:2]):
            rate = (users[chain, draw] * weights[chain, draw]) @ movies[chain, draw].T
            result -= np.expm1(-rate)
            draws += 1
    if not cells.fits_checked:
        cells.fits_checked = True
        check(run, cells, result)
    shutil.rmtree(run)
    return result / draws


def check(run, cells, result):
    """What `ztp evaluate` says about a run must agree with `scores`."""
    told = common.ztp_json("evaluate", run, cells.folder / "test.tsv", "--ranking", "movie", "--at", PLACES, "--raw",
                           "--threads", 1)["all"]
    found = scores(result, cells)
    if abs(told["mrr"] - found["mrr"]) > 1e-3 or abs(told["ndcg"][str(PLACES)] - found["ndcg10"]) > 1e-3:
        sys.exit(f"ztp evaluate says {told}, and its draws give {found}")


def score_of(method, cells, options):
    """Scores of all cells, and processor seconds. More chains of ztp are several fits of four, with other seeds."""
    name, _, count = method.partition("-")
    if name != "ztp":
        starts = {"starts": int(count)} if count else {}
        return timed({"popularity": popularity, "ease": ease, "als": als}[name], cells, options, **starts)
    fits = cells.fits.setdefault(options, [])
    while len(fits) < int(count) // 4:
        fits.append(timed(four_chains, cells, options, seed=len(fits) + 1))
    used = fits[:int(count) // 4]
    return sum(score for score, _ in used), sum(seconds for _, seconds in used)


def timed(method, *arguments, **more):
    before = processor_seconds()
    score = method(*arguments, **more)
    return score, processor_seconds() - before


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


# ---- scores: (M30) and (M31) of docs/model.md ------------------------------------------------------------------------


def scores(score, cells):
    rng = np.random.default_rng(0)
    discount = 1 / np.log2(np.arange(PLACES) + 2)
    ndcg, recall, reciprocal = [], [], []
    for user in np.flatnonzero(cells.test.any(axis=1)):
        candidates = rng.permutation(np.flatnonzero(~cells.train[user]))  # equal scores: in random order
        value, one = np.asarray(score[user, candidates], float), cells.test[user, candidates]
        hit = one[np.argsort(-value, kind="stable")[:PLACES]]
        ndcg.append(discount[hit].sum() / discount[:one.sum()].sum())
        recall.append(hit.sum() / one.sum())
        others = np.sort(value[~one])
        below, upto = (np.searchsorted(others, value[one], side) for side in ("left", "right"))
        reciprocal += list(1 / (1 + len(others) - upto + (upto - below) / 2))
    return {"ndcg10": np.mean(ndcg), "recall10": np.mean(recall), "mrr": np.mean(reciprocal),
            "auc_roc": auc_roc(score, cells)}


def auc_roc(score, cells):
    """Test ones against all cells that are not ones."""
    ones, zeros = np.sort(score[cells.test]), np.sort(score[~cells.test & ~cells.train])
    wins = np.searchsorted(zeros, ones, "left") + np.searchsorted(zeros, ones, "right")
    return wins.mean() / 2 / len(zeros)


# ---- runs ------------------------------------------------------------------------------------------------------------


def fit(rows, cells, key):
    if not rows.has(**key):
        score, seconds = score_of(key["method"], cells, key["options"])
        rows.add(**key, **{name: f"{value:.6f}" for name, value in scores(score, cells).items()},
                 seconds=f"{seconds:.1f}")


def chosen(rows, method):
    """The setting with the largest NDCG@10 on the validation part; None, if not all settings are there."""
    tuned = TUNED_AS.get(method, method)
    found = {row["options"]: float(row["ndcg10"]) for row in rows.all()
             if row["method"] == tuned and row["split"] == str(VALIDATION)}
    if any(options not in found for options in SETTINGS[tuned]):
        return None
    return max(SETTINGS[tuned], key=found.get)


def run(args, rows):
    with common.work_folder() as work:
        cells = Cells(work, VALIDATION)
        for method in dict.fromkeys(TUNED_AS.get(method, method) for method in args.methods):
            for options in SETTINGS[method]:
                fit(rows, cells, dict(method=method, split=VALIDATION, options=options))
        for split in range(args.seed, args.seed + args.splits):
            cells = Cells(work, split)
            for method in args.methods:
                fit(rows, cells, dict(method=method, split=split, options=chosen(rows, method)))
    return 0


# ---- report ----------------------------------------------------------------------------------------------------------


def collect(rows):
    """{method: {split: row}}, of the settings that the validation part chooses; not of methods that lack splits."""
    found = {}
    for method in METHODS:
        options = chosen(rows, method)
        for row in rows.all():
            if row["method"] == method and row["options"] == options and row["split"] != str(VALIDATION):
                found.setdefault(method, {})[int(row["split"])] = row
    most = max((len(splits) for splits in found.values()), default=0)
    return {method: splits for method, splits in found.items() if len(splits) == most}


def values(rows, name, splits):
    return [float(rows[split][name]) for split in splits]


def difference(found, method, name):
    """That of a method and EASE: mean and 95 % interval over the splits that both have."""
    splits = sorted(set(found[method]) & set(found["ease"]))
    pairs = zip(values(found[method], name, splits), values(found["ease"], name, splits))
    mean, half = common.mean_interval([one - other for one, other in pairs])
    return f"{mean:+.4f} ± {half:.4f}"


def markdown(found, with_figure=True):
    titles = ["method", "setting", *SCORES.values(), "processor seconds of a fit"]
    lines = [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for method, rows in found.items():
        means = [f"{common.mean_sd(values(rows, name, rows))[0]:.4f}" for name in SCORES]
        seconds = common.mean_sd(values(rows, "seconds", rows))[0]
        setting = f"`{next(iter(rows.values()))['options']}`" if method != "popularity" else ""
        lines.append(f"| {METHODS[method]} | {setting} | " + " | ".join(means) + f" | {seconds:.1f} |")
    lines += ["", "Difference from EASE, mean over splits and 95 % interval:", "",
              "| method | " + " | ".join(SCORES.values()) + " |", "|---" * 5 + "|"]
    lines += [f"| {METHODS[method]} | " + " | ".join(difference(found, method, name) for name in SCORES) + " |"
              for method in found if method != "ease" and "ease" in found]
    splits = next(iter(found.values()))
    return "\n".join([f"Mean over {len(splits)} splits.", "", *lines])


def main():
    args = common.arguments(
        __doc__.split("\n")[0],
        methods=("", f"some of {', '.join(METHODS)}"),
        splits=(5, "splits"),
    )
    args.methods = common.chosen(args.methods, METHODS, "methods")
    common.run_experiment("recommenders", lambda path: common.Rows(path, KEYS, VALUES), args, run, collect,
                          lambda found: None, markdown)


if __name__ == "__main__":
    main()
