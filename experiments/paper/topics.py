#!/usr/bin/env python3
"""Multiway topics: the paper's four topics of Scholars found again, and the areas of leading authors on DBLP four-area.

    ZTP_DATA=... experiments/paper/topics.py [--seed 1] [--seeds 3]

Scholars: R = 100, 200 sweeps of the whole tensor. For each topic of the paper's table the factor whose words come
nearest: the largest total of u over the paper's ten words, no factor for two topics. DBLP four-area: R = 20, 200
sweeps; the areas of the first twenty authors that have one, for each factor."""
import collections
import gzip
import pathlib
import random
import shutil

import common
from cold_start import SHORT, read_table, simulate

TOPICS = {
    "Evo Bio": "species selection genetic evolution populations evolutionary gene variation plants natural",
    "Med Imag": "imaging contrast computed resonance dose tomography magnetic image quality diagnostic",
    "ML/SP": "bayesian algorithm sampling features process sparse nonparametric gibbs parameters inference",
    "Oncology": "radiation radiotherapy stage tumor survival lung chemotherapy treated toxicity oncology",
}
# The paper's venues of ML/SP: what it prints, and what tells the venue in the data.
VENUES = {
    "ICASSP": "acoustics speech and signal processing",
    "JASA": "journal of the american statistical association",
    "ICML": "international conference on machine learning",
    "IEEE trans img proc": "ieee transactions on image processing",
    "NIPS": "advances in neural information processing systems",
    "Compu stat data analy": "computational statistics and data analysis",
    "Biometrics": "biometrics",
    "Bayesian analysis": "bayesian analysis",
    "JMLR": "journal of machine learning research",
    "IEEE trans. inf. theory": "ieee transactions on information theory",
}
KEYS = ["data", "seed", "place"]
VALUES = ["topic", "component", "weight", "score", "words", "venues", "areas", "chance"]
TOP_AUTHORS = 20
HEAVIEST = 8  # factors of DBLP that are shown
COMMON_TERM = 1000  # papers: terms in more are dropped
ALL_TERMS, DROPPED = "dblp-4area, all terms", "dblp-4area"

NOTES = """
The rule that picks a factor looks at the paper's words, so some agreement is by construction. Evolutionary biology and
medical imaging agree with the paper in every chain. Machine learning depends on the chain. Oncology is spread over
several factors. DBLP four-area replaces the paper's histogram of departments, which the published data do not have. Its
12 terms of more than 1,000 papers (*for*, *of*, *data*, ...) were dropped after they were seen to lead every factor.
Venues and all factors are in [tables/topics.tsv](tables/topics.tsv).
"""


def fit(tensor, labels, rank, sweeps, seed, run, threads):
    """The factors of a fit, heaviest first, with all entities of every mode."""
    options = [f"--labels={mode}={path}" for mode, path in labels.items()]
    common.ztp("fit", tensor, *options, "--rank", rank, "--sweeps", sweeps, "--seed", seed, "--threads", threads,
               "--out", run, "--force")
    factors = common.ztp_json("components", run, "--top", 10 ** 9)
    shutil.rmtree(run)
    for factor in factors:
        factor["u"] = {mode: {entity["label"]: entity["value"] for entity in top}
                       for mode, top in factor["top"].items()}
    return factors


def leading(values, count):
    return sorted(values, key=lambda name: (-values[name], name))[:count]


def nearest(factors, queries, mode):
    """For each query the factor with the largest total of u over its words. The best pair first; no factor twice."""
    scores = sorted(((sum(factor["u"][mode].get(word, 0.0) for word in words), topic, index)
                     for topic, words in queries.items() for index, factor in enumerate(factors)), reverse=True)
    chosen, taken = {}, set()
    for score, topic, index in scores:
        if topic not in chosen and index not in taken:
            chosen[topic] = (factors[index], score)
            taken.add(index)
    return {topic: chosen[topic] for topic in queries}


def add_topics(rows, data, seed, factors, queries, mode):
    for place, (topic, (factor, score)) in enumerate(nearest(factors, queries, mode).items(), 1):
        add_row(rows, data, seed, place, factor, topic, f"{score:.4f}", mode, "-", "-")


def add_row(rows, data, seed, place, factor, topic, score, mode, areas, chance):
    if not rows.has(data=data, seed=seed, place=place):
        rows.add(data=data, seed=seed, place=place, topic=topic, component=factor["component"],
                 weight=round(factor["weight"]), score=score, words=" ".join(leading(factor["u"][mode], 10)),
                 venues="; ".join(leading(factor["u"]["venue"], 10)), areas=areas, chance=chance)


def purity_by_chance(areas, seed, draws=20000):
    """The share of the most frequent area among twenty authors drawn at random, on average: no merit of a factor."""
    generator, labels = random.Random(seed), sorted(areas.values())
    tops = (max(collections.Counter(generator.sample(labels, TOP_AUTHORS)).values()) for _ in range(draws))
    return sum(tops) / draws / TOP_AUTHORS


def add_areas(rows, data, seed, factors, areas, mode):
    chance = f"{purity_by_chance(areas, seed):.4f}"
    for place, factor in enumerate(factors, 1):
        authors = {name: value for name, value in factor["u"]["author"].items() if name in areas}
        counts = collections.Counter(areas[name] for name in leading(authors, TOP_AUTHORS))
        text = " ".join(f"{area.replace(' ', '-')}={counts[area]}" for area in sorted(set(areas.values())))
        add_row(rows, data, seed, place, factor, "-", "-", mode, text, chance)


def author_areas(path):
    return {row[0]: row[2] for row in read_table(path) if row[2] != "-"}


def scholars(rows, seed, work, threads):
    if all(rows.has(data="scholars", seed=seed, place=place) for place in range(1, len(TOPICS) + 1)):
        return
    labels = {"venue": common.data_file("scholars", "venue-labels.tsv")}
    factors = fit(common.data_file("scholars"), labels, 100, 200, seed, work / "run", threads)
    add_topics(rows, "scholars", seed, factors, {topic: words.split() for topic, words in TOPICS.items()}, "word")


def without_common_terms(work):
    """The tensor without the terms of too many papers: titles come with stop words, and these lead every factor."""
    papers = {row[0]: int(row[2]) for row in read_table(common.data_file("dblp-4area", "term-labels.tsv"))}
    path = work / "dblp.tsv"
    with gzip.open(common.data_file("dblp-4area"), "rt") as tensor, path.open("w") as kept:
        kept.writelines(line for line in tensor if line.startswith("#") or papers[line.split("\t")[1]] <= COMMON_TERM)
    return path


def dblp(rows, seed, work, threads):
    labels = {"author": common.data_file("dblp-4area", "author-labels.tsv")}
    for data in (ALL_TERMS, DROPPED):
        if not rows.has(data=data, seed=seed, place=20):
            tensor = without_common_terms(work) if data == DROPPED else common.data_file("dblp-4area")
            factors = fit(tensor, labels, 20, 200, seed, work / "run", threads)
            add_areas(rows, data, seed, factors, author_areas(labels["author"]), "term")


def quick(rows, seed, work):
    """A simulated tensor whose topics are the words each component was planted with."""
    made = simulate(work)
    queries = {}
    for word, component, value in read_table(made / "truth" / "word.tsv"):
        queries.setdefault("component " + component, {})[word] = float(value)
    labels = {mode: made / "labels" / f"{mode}.txt" for mode in ("author", "word", "venue")}
    queries = {topic: leading(values, 10) for topic, values in queries.items()}
    if not rows.has(data="simulated areas", seed=seed, place=len(queries)):  # the last row of both
        factors = fit(made / "tensor.tsv", labels, 8, 100, seed, work / "run", 1)
        add_topics(rows, "simulated topics", seed, factors, queries, "word")
        add_areas(rows, "simulated areas", seed, factors, author_areas(made / "author-labels.tsv"), "word")
    for row in of(rows.all(), "simulated topics", seed):
        both = set(row["words"].split()) & set(queries[row["topic"]])
        print(f"{row['topic']} shares {len(both)} of ten words with its factor")


def of(rows, data, seed):
    return [row for row in rows if row["data"] == data and int(row["seed"]) == seed]


def shared(row):
    return set(row["words"].split()) & set(TOPICS[row["topic"]].split())


def is_venue(venue, text):
    """The proceedings of a single year count for the series; a short name has to be the whole name."""
    return venue == text if text in ("biometrics", "bayesian analysis") else text in venue


def shared_venues(row):
    return [name for name, text in VENUES.items() if any(is_venue(venue, text) for venue in row["venues"].split("; "))]


def counts_of(row):
    pairs = (item.split("=") for item in row["areas"].split(" "))
    return {name.replace("-", " "): int(number) for name, number in pairs}


def purity(row):
    return max(counts_of(row).values()) / TOP_AUTHORS


def bold(words, marked):
    return [f"**{word}**" if word in marked else word for word in words]


def words_table(rows):
    lines = ["| topic | the paper's words | here |", "|---|---|---|"]
    for row in rows:
        theirs, ours = (" ".join(bold(words.split(), shared(row))) for words in (TOPICS[row["topic"]], row["words"]))
        lines.append(f"| {row['topic']} | {theirs} | {ours} |")
    return lines


def shared_line(rows, seeds):
    """Shared words for every seed: how far the choice of the chain matters."""
    counts = {}
    for row in (row for seed in seeds for row in of(rows, "scholars", seed)):
        counts.setdefault(row["topic"], []).append(len(shared(row)))
        if row["topic"] == "ML/SP":
            counts.setdefault("venues of ML/SP", []).append(len(shared_venues(row)))
    texts = [f"{name} {listed(values)}" for name, values in counts.items()]
    return f"Number of the ten that the paper has, too, for {named(seeds)}: {'; '.join(texts)}."


def listed(values):
    return ", ".join(map(str, values))


def named(seeds):
    return ("seed " if len(seeds) == 1 else "seeds ") + listed(seeds)


def purity_line(rows, seeds):
    texts = []
    for data, title in ((DROPPED, f"without terms of more than {COMMON_TERM:,} papers"), (ALL_TERMS, "with all terms")):
        heavy, every = [common.mean_sd([purity(row) for seed in seeds for row in of(rows, data, seed)[:count]])[0]
                        for count in (HEAVIEST, None)]
        texts.append(f"{title} {heavy:.2f} for the {HEAVIEST} heaviest and {every:.2f} for all factors")
    chance = float(of(rows, DROPPED, seeds[0])[0]["chance"])
    return (f"Share of the most frequent area, mean, {named(seeds)}: "
            f"{'; '.join(texts)}; {chance:.2f} for random authors.")


def page(rows, seed):
    seeds = [seed, *sorted({int(row["seed"]) for row in rows} - {seed})]
    return "\n".join([
        f"Scholars, R = 100, 200 sweeps (the last 100 are averaged), seed {seed}. Words are ordered by the "
        f"posterior mean of u; "
        "words in both lists are bold. For each topic of the paper, the table shows the factor with the "
        "largest total u "
        "over the topic's ten words.",
        "", *words_table(of(rows, "scholars", seed)), "", shared_line(rows, seeds), "",
        f"DBLP four-area, R = 20, 200 sweeps, seed {seed}: areas of the {TOP_AUTHORS} authors with the "
        f"largest u. These are "
        f"the {HEAVIEST} heaviest factors, without terms of more than {COMMON_TERM:,} papers.",
        "", "![Areas of the leading authors of each factor, DBLP four-area](images/topics.svg)", "",
        purity_line(rows, seeds), "", NOTES.strip()])


def draw(rows):
    pyplot = common.pyplot()
    figure, axes = pyplot.subplots(2, HEAVIEST // 2, figsize=(9, 4), sharey=True)
    for axis, row in zip(axes.flat, rows):
        counts = counts_of(row)
        best = max(counts.values())
        colors = ["#3a6ea5" if count == best else "#b0b0b0" for count in counts.values()]
        axis.bar(range(len(counts)), list(counts.values()), color=colors)
        axis.set_xticks(range(len(counts)), [SHORT.get(name.replace(" ", "-"), name) for name in counts], fontsize=8)
        axis.tick_params(axis="y", labelsize=8)
        axis.set_ylim(0, TOP_AUTHORS)
        axis.set_title(", ".join(row["words"].split()[:3]) + f"\n({row['venues'].split('; ')[0]})", fontsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"of the top {TOP_AUTHORS} authors", fontsize=8)
    figure.tight_layout()
    return figure


def main():
    options = common.arguments(__doc__, seeds=(3, "how many; the tables show the first"),
                               threads=(2, "of the fits; the draws do not depend on it"))
    seeds = range(options.seed, options.seed + options.seeds)
    with common.work_folder() as work:
        work = pathlib.Path(work)
        rows = common.Rows(common.out_folder(options, work) / "topics.tsv", KEYS, VALUES)
        if options.quick:
            return quick(rows, options.seed, work)
        for seed in [] if options.report else seeds:
            scholars(rows, seed, work, options.threads)
            dblp(rows, seed, work, options.threads)
        common.publish("topics", rows.path, draw(of(rows.all(), DROPPED, options.seed)), page(rows.all(), options.seed))


if __name__ == "__main__":
    main()
