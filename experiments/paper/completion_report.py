"""The tables and the figure of completion.py, from its rows."""
import common
from completion_settings import (CHAINS, DATA, METHODS, PAPER_AUC, SPLITS, equal_settings, paper_options)

SCORES = {"auc_roc": ("AUC-ROC", 4), "auc_pr": ("AUC-PR", 4), "log_loss": ("log-loss", 4)}

# What the figures mean, in words: added at the end of the section.
NOTES = """
*The limit* is 120 seconds of processor time, which is one minute on two threads. It is measured as processor time
because the machine was busy with other work. Two short chains tell how many sweeps fit into it. No chain makes more
than 1,000 sweeps, and no point estimate more than 300 iterations. Quad-App and PW-QuadApp are point estimates: their
"chains" are fits from different random starts, and their probabilities are averaged like those of chains.

*The validation part* is a tenth of the data. It belongs to the training cells of every reported split. The setting is
chosen once for each data set, by AUC-ROC, and not anew in each split. On the validation part each fit has one chain,
with as many sweeps as a chain of the reported fits. The column "twice the sweeps" shows what the chosen setting gains
there if it has twice as many, which tells whether it had converged.

*Beside the paper.* By the paper's protocol, batch is above the paper on UMLS, DBLP and Scholars. It is below the paper
on Kinship and on MovieLens. The paper does not say what its Dirichlet parameter is (here it is 0.1). The rivals are new
implementations ([model.md](model.md#13-rivals)), no weaker than published except on MovieLens. Quad-App and PW-QuadApp
have one curvature for all cells of a block. If ones are rare (Facebook: 0.007 %), they find only the strongest blocks
of ones. Until lately PW-QuadApp never divided a block on Facebook, because gains below a billionth of the whole bound
were taken for rounding errors. Now it does, and on the three splits its mean test log-loss is 1.572, beside 1.605 of
Quad-App. Its AUC-ROC does not gain from it. By the paper's protocol, the rows of PW-QuadApp on the other data sets
are older than this change.
"""


# ---- rows ----------------------------------------------------------------------------------------------------------


def of_part(rows, name, part, method):
    options = equal_settings(name, method)
    return [row for row in rows if (row["data"], row["protocol"], row["part"], row["method"]) ==
            (name, "equal", part, method) and row["options"] in options]


def chosen(rows, name, method):
    """The row of the setting with the largest AUC-ROC on the validation part; None if there is none."""
    tried = [row for row in of_part(rows, name, "choose", method) if row["auc_roc"] != "nan"]
    return max(tried, key=lambda row: float(row["auc_roc"]), default=None)


def of_method(rows, name, method):
    """What the equal protocol has of a data set and method: how many settings were tried, the chosen one, its rows."""
    best = chosen(rows, name, method)
    tests = {int(row["split"]): row for row in of_part(rows, name, "test", method)
             if best and row["options"] == best["options"]}
    twice = [row for row in of_part(rows, name, "twice", method) if best and row["options"] == best["options"]]
    return {"tried": len(of_part(rows, name, "choose", method)), "best": best, "tests": tests,
            "twice": twice[0] if twice else None}


def collect(rows):
    every = rows.all()
    paper = {}
    for row in every:
        name, method = row["data"], row["method"]
        if row["protocol"] == "paper" and row["options"] == paper_options(name, method):
            paper.setdefault(name, {}).setdefault(method, {})[int(row["split"])] = float(row["auc_roc"])
    names = {row["data"] for row in every}
    equal = {name: {method: of_method(every, name, method) for method in METHODS}
            for name in [*DATA, "simulated"] if name in names or name in DATA}
    return {"equal": equal, "paper": paper}


def missing(name, methods):
    """How many rows of the equal protocol are not there."""
    return sum(len(equal_settings(name, method)) - found["tried"] + max(0, SPLITS[name] - len(found["tests"])) +
               (found["twice"] is None) for method, found in methods.items())


# ---- equal protocol --------------------------------------------------------------------------------------------------


def best_method(methods, score):
    sign = -1 if score == "log_loss" else 1
    return max(methods, key=lambda method: sign * mean_of(methods[method], score))


def mean_of(found, score):
    return common.mean_sd([float(row[score]) for row in found["tests"].values()])[0]


def difference(found, best, score):
    """That of a method and the best one, split by split: mean, and half of the 95 % interval."""
    splits = sorted(set(found["tests"]) & set(best["tests"]))
    return common.mean_interval([float(found["tests"][split][score]) - float(best["tests"][split][score])
                                 for split in splits])


def cell(methods, method, score):
    digits, best = SCORES[score][1], best_method(methods, score)
    text = f"{mean_of(methods[method], score):.{digits}f}"
    pairs = {other: difference(methods[other], methods[best], score) for other in methods if other != best}
    if method == best:
        return f"**{text}**" if all(abs(mean) > half for mean, half in pairs.values()) else text
    mean, half = pairs[method]
    return f"{text} ({mean:+.{digits}f} ± {half:.{digits}f})"


def twice_cells(found):
    """What twice the sweeps change on the validation part."""
    return [f"{float(found['twice'][score]) - float(found['best'][score]):+.4f}" for score in ("auc_roc", "log_loss")]


def equal_table(name, methods):
    lines = [f"**{DATA.get(name, name)}**, {SPLITS[name]} splits, {CHAINS[name]} chains:", "",
             "| method | chosen of " + str(len(equal_settings(name, "ztp-batch"))) + " | sweeps | " +
             " | ".join(title for title, _ in SCORES.values()) +
             " | twice the sweeps: AUC-ROC, log-loss | processor seconds |", "|---" * 8 + "|"]
    for method, found in methods.items():
        seconds = common.mean_sd([float(row["seconds"]) for row in found["tests"].values()])[0]
        options = found["best"]["options"].replace("--model " + method, "").replace("--method online", "").strip()
        lines.append(f"| {METHODS[method]} | `{options}` | {found['best']['sweeps']} | " +
                     " | ".join(cell(methods, method, score) for score in SCORES) +
                     f" | {', '.join(twice_cells(found))} | {seconds:.0f} |")
    return "\n".join(lines)


def equal_part(equal):
    complete = [name for name, methods in equal.items() if missing(name, methods) == 0]
    left = {DATA[name]: missing(name, methods) for name, methods in equal.items()
            if name in DATA and name not in complete}
    parts = ["### On equal terms",
             "Held-out cells are missing for every method. Every method has the same number of settings to choose from "
             "on a validation part of the training cells, the same number of chains, and the same limit of one minute "
             "on two threads. In brackets: the difference from the best of the column, split by split, with its 95 % "
             "interval. The best is bold if none of these intervals includes zero."]
    parts += [equal_table(name, equal[name]) for name in complete]
    if left:
        parts.append("**Not yet measured by this protocol**, with the number of fits that are missing: " +
                     ", ".join(f"{title} {count}" for title, count in left.items()) + ". The finished ones are in "
                     "[tables/completion.tsv](tables/completion.tsv); to go on, copy this file to build/paper and run "
                     "the command.")
    return parts


# ---- the paper's protocol -------------------------------------------------------------------------------------------


def paper_cell(aucs):
    """Mean (sd), and the number of splits where it is not ten."""
    mean, sd = common.mean_sd(list(aucs.values()))
    spread = "" if len(aucs) == 1 else f"{sd:.4f}, "
    return f"{mean:.4f} ({sd:.4f})" if len(aucs) == 10 else f"{mean:.4f} ({spread}{len(aucs)})"


def paper_table(paper, names):
    lines = ["| method | " + " | ".join(DATA.get(name, name) for name in names) + " |", "|---" * (len(names) + 1) + "|"]
    for method in (method for method in METHODS if method != "shared"):
        cells = [paper_cell(paper[name][method]) if method in paper[name] else "-" for name in names]
        lines.append(f"| {METHODS[method]} | " + " | ".join(cells) + " |")
        figures = [f"*{PAPER_AUC[method][name]:.4f}*" + (" (another tensor)" if name == "facebook-wall-2007" else "")
                   if name in PAPER_AUC[method] else "-" for name in names]
        lines.append("| *the paper's figures* | " + " | ".join(figures) + " |")
    return "\n".join(lines)


def paper_part(paper):
    names = [name for name in [*DATA, "simulated"] if name in paper]
    if not names:
        return []
    return ["### The paper's protocol",
            "AUC-ROC, mean over ten splits (standard deviation; number of splits if it is not ten). The paper's "
            "figures are in italics. ZTP-CP has R = 20, or 100 for Scholars and Facebook, and 1,000 plain sweeps or "
            "minibatches (200 and 500 for Scholars). The rivals have R = 20. All have one chain. For Kinship, UMLS and "
            "MovieLens, a tenth of all cells is held out; ZTP-CP sees these cells as zeros, and the rivals see them as "
            "missing. For "
            "the others, a tenth of the ones is held out, with five random zeros for each, all as zeros. The paper's "
            "Facebook is another, larger tensor than the subset here, so these two cannot be compared.",
            paper_table(paper, names)]


def markdown(found, with_figure=True):
    parts = [*equal_part(found["equal"]), *paper_part(found["paper"])]
    if with_figure:
        parts.append("![AUC-ROC of six methods on six data sets](images/completion.svg)")
    return "\n\n".join([*parts, NOTES.strip()])


# ---- figure ----------------------------------------------------------------------------------------------------------


def points(found, name):
    """(protocol, method, AUC-ROCs of the splits) of a data set."""
    methods = found["equal"].get(name, {})
    if methods and missing(name, methods) == 0:
        for method, one in methods.items():
            yield "equal", method, [float(row["auc_roc"]) for row in one["tests"].values()]
    for method, aucs in found["paper"].get(name, {}).items():
        yield "paper", method, list(aucs.values())


def draw(found):
    """A panel for each data set, whose ranges differ; dots with sd bars, the paper's figures hollow."""
    plt = common.pyplot()
    looks = {"paper": (0.14, "#2563a8", "paper's protocol"), "equal": (-0.14, "#c23b22", "equal protocol")}
    order = list(METHODS)[::-1]
    figure, axes = plt.subplots(2, 3, figsize=(9.5, 5.2), sharey=True, layout="constrained")
    for panel, (name, title) in zip(axes.flat, DATA.items()):
        for protocol, method, aucs in points(found, name):
            shift, color, _ = looks[protocol]
            mean, sd = common.mean_sd(aucs)
            panel.errorbar(mean, order.index(method) + shift, xerr=sd if len(aucs) > 1 else None, fmt="o", color=color,
                           markersize=4, capsize=2, linewidth=1)
        for method, figures in PAPER_AUC.items():
            if name in figures:
                panel.plot(figures[name], order.index(method), "D", markerfacecolor="none", markeredgecolor="#555555",
                           markersize=5)
        panel.set_title(title, loc="left", fontsize=9.5)
        panel.set_yticks(range(len(order)), [METHODS[method] for method in order], fontsize=8)
        panel.set_ylim(-0.6, len(order) - 0.4)
        panel.tick_params(axis="x", labelsize=8)
        panel.grid(axis="x", linewidth=0.3)
    for panel in axes[1]:
        panel.set_xlabel("held-out AUC-ROC", fontsize=8.5)
    handles = [plt.Line2D([], [], marker="o", linestyle="", color=color, label=label)
               for _, color, label in looks.values()]
    handles.append(plt.Line2D([], [], marker="D", linestyle="", markerfacecolor="none", markeredgecolor="#555555",
                              label="paper's figure"))
    figure.get_layout_engine().set(rect=(0, 0.06, 1, 0.94))
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure
