"""What the experiments of the paper share: the program, the data, rows that are never done twice, plots and pages."""
import csv
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ZTP", str(HERE / "build" / "release" / "ztp"))
DATA = pathlib.Path(os.environ.get("ZTP_DATA", HERE / "data"))


def with_schedule(arguments):
    """A fit of the paper's experiments has one chain of 1,000 sweeps and 100 draws, where it does not say otherwise."""
    given = [str(argument).split("=")[0] for argument in arguments]
    if given[0] != "fit":
        return arguments
    flags = {"--sweeps": 1000}
    if not {"quad", "pwquad"}.intersection(given):
        flags["--chains"] = 1
        if "--keep-every" not in given:
            flags["--draws"] = 100
    return [*arguments, *(part for flag, value in flags.items() if flag not in given for part in (flag, value))]


def ztp(*arguments, schedule=with_schedule):
    """Runs the program and returns what it printed; its message ends the experiment if it fails."""
    done = subprocess.run([PROGRAM, *map(str, schedule(arguments))], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(['ztp', *map(str, arguments)])}\nfailed ({done.returncode}): {done.stderr.strip()}")
    return done.stdout


def ztp_json(*arguments):
    return json.loads(ztp(*arguments, "--json"))


def evaluate(*arguments):
    """Scores of the posterior's own probabilities, each test cell counted once: what the tables of the paper have."""
    found = ztp_json("evaluate", *arguments, "--raw", "--head", 0)
    return {**found, "log_loss": found["test_log_loss"], "brier": found["test_brier"]}


def data_file(name, file="tensor.tsv.gz"):
    path = DATA / name / file
    if not path.exists():
        sys.exit(f"{path}: not there; set ZTP_DATA to the folder of the data sets (docs/data.md says which)")
    return path


def has_data(name):
    return (DATA / name / "tensor.tsv.gz").exists()


class Rows:
    """A TSV file of finished runs. `keys` name the columns that tell runs apart: what is in the file is not done
    again. `shown` are the columns that are printed."""

    def __init__(self, path, keys, values, shown=None):
        self.path, self.keys, self.columns = pathlib.Path(path), list(keys), [*keys, *values]
        self.shown = shown or self.columns
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists() or b"\n" not in self.path.read_bytes():
            self.path.write_text("\t".join(self.columns) + "\n")
        header = self.path.open().readline().rstrip("\n").split("\t")
        if header != self.columns:
            sys.exit(f"{self.path}: has other columns than this experiment writes; move it away")

    def all(self):
        """The whole rows. A kill may have cut the last line, where half a number is a number: no line end, no row."""
        with self.path.open(newline="") as file:
            lines = [line for line in file if line.endswith("\n")]
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        return [row for row in rows if None not in row.values() and None not in row]

    def has(self, **key):
        return any(all(row[name] == str(key[name]) for name in self.keys) for row in self.all())

    def add(self, **row):
        text = "\t".join(str(row[name]) for name in self.columns) + "\n"
        whole = self.path.read_bytes()
        with self.path.open("a") as file:
            if not whole.endswith(b"\n"):
                file.truncate(whole.rfind(b"\n") + 1)  # the rest of a line that a kill has cut
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        print("\t".join(str(row[name]) for name in self.shown), flush=True)


def make_split(work, name, seed, protocol, *options, tensor=None, labels=None):
    """Training ones and test cells of a data set or of `tensor`, made once for all methods: the options of a fit."""
    out = split_folder(work, name, seed, protocol)
    if not (out / "done").exists():
        known = [f"--labels={mode}={data_file(name, f'{mode}-labels.tsv')}"
                 for mode in ("venue",) if name == "scholars" and tensor is None]
        known += [f"--labels={labels}"] if labels else []
        source = tensor or data_file(name)
        ztp("split", source, *known, "--protocol", protocol, "--seed", seed, "--out", out, "--force", *options)
        (out / "done").touch()
    return [out / "train.tsv", "--labels", out / "labels", "--test", out / "test.tsv"]


def split_folder(work, name, seed, protocol):
    return pathlib.Path(work) / f"{name}-{protocol}-{seed}"


def work_folder():
    """A folder for splits and runs, removed at the end, also when the experiment is told to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return tempfile.TemporaryDirectory(prefix="ztp-paper-")


def out_folder(options, temporary):
    """The folder of the rows: --out, with --quick a temporary one, else build/paper."""
    return pathlib.Path(options.out or (temporary if options.quick else HERE / "build" / "paper"))


def publish(name, table, figure, markdown):
    """The table to docs/tables, the figure to docs/images, the paragraph between its marks in docs/results.md."""
    docs = HERE / "docs"
    (docs / "tables").mkdir(exist_ok=True)
    shutil.copy(table, docs / "tables" / f"{name}.tsv")
    if figure is not None:
        save_figure(figure, docs / "images" / name)
    page = docs / "results.md"
    text = page.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    if begin not in text or end not in text:
        sys.exit(f"{page}: no marks {begin.strip()} and {end.strip()} to write between")
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    page.write_text(before + begin + markdown.strip() + "\n" + end + after)


def save_figure(figure, stem):
    """The same bytes for the same figure: no dates, no random ids."""
    figure.savefig(f"{stem}.svg", metadata={"Date": None, "Creator": None})


def fit(work, split, *options):
    """One fit: what it predicts of the test cells, which are zeros to it, as in the paper, unless the options say
    otherwise; and the seconds of sampling. The run is removed."""
    run = pathlib.Path(work) / "run"
    if "--holdout-as" not in options:
        options += ("--holdout-as", "zero")
    ztp("fit", *split, *options, "--out", run, "--force")
    result = evaluate(run)
    result["seconds"] = sum(chain["seconds"] for chain in ztp_json("info", run)["chains"])
    shutil.rmtree(run)
    return result


def pyplot():
    try:
        import matplotlib
    except ImportError:
        sys.exit("the plots need matplotlib: scripts/setup.sh paper installs it (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "ztp"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    return pyplot


def arguments(description, **defaults):
    """--seed, --splits, --quick, --report and --out, the same for all experiments, and more from `defaults`
    (name: (value, help))."""
    import argparse
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1, help="the first split and chain; the next has the next number")
    parser.add_argument("--quick", action="store_true", help="small and short, to see that it works; writes no page")
    parser.add_argument(
        "--report", action="store_true", help="run nothing; make table, plot and page of the rows there are"
    )
    parser.add_argument(
        "--out", default=None, help="folder of the rows (default build/paper, with --quick a temporary one)"
    )
    for name, (value, text) in defaults.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value, help=text)
    return parser.parse_args()


def chosen(text, known, what):
    """The names of a comma-separated list, all of them where it is empty."""
    names = text.split(",") if text else list(known)
    for name in names:
        if name not in known:
            sys.exit(f"--{what} {name}: not one of {', '.join(known)}")
    return names


def run_experiment(name, rows_of, args, run, collect, draw, markdown):
    """Runs what is missing, then makes table, plot and page; with --quick only prints the page. `rows_of` makes the
    Rows of a file, and `run` returns how many fits or data sets were left out."""
    if not args.quick:
        pyplot()  # rather now than after the runs
    with work_folder() as temporary:
        rows = rows_of(out_folder(args, temporary) / f"{name}.tsv")
        failed = 0 if args.report else run(args, rows)
        found = collect(rows)
        if args.quick:
            print(markdown(found, with_figure=False))
        elif found:
            publish(name, rows.path, draw(found), markdown(found))
    if failed:
        sys.exit(
            f"{failed} fits, series or data sets left out: see above; started again, the experiment does those only"
        )


def mean_sd(values):
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, float("nan")
    return mean, (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


# Quantiles of Student's t for 95 % intervals, by degrees of freedom.
_T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def mean_interval(values):
    """The mean, and half of its 95 % interval by Student's t; for two to ten values."""
    mean, sd = mean_sd(values)
    return mean, _T95[len(values) - 1] * sd / len(values) ** 0.5 if len(values) > 1 else float("nan")


def scores(probabilities, ones):
    """AUC-ROC, AUC-PR (average precision) and log-loss, as `ztp evaluate` computes them."""
    groups, loss = {}, 0
    for p, one in zip(probabilities, ones):
        found = groups.setdefault(p, [0, 0])
        found[one] += 1
        safe = min(max(p, 1e-12), 1 - 1e-12)
        loss -= math.log(safe) if one else math.log1p(-safe)
    wins = precision = above = cells = 0
    for p in sorted(groups, reverse=True):
        zeros_here, ones_here = groups[p]
        wins += zeros_here * (above + ones_here / 2)
        above, cells = above + ones_here, cells + zeros_here + ones_here
        precision += ones_here * above / cells
    return {"auc_roc": wins / (above * (cells - above)), "auc_pr": precision / above, "log_loss": loss / cells}
