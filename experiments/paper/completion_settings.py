"""The options of the fits of completion.py: methods, data sets and settings of both protocols, and the paper's figures.

Equal: every method chooses among the same number of settings on a validation part of the training cells, has the same
number of chains and the same limit of processor time, and sees held-out cells as missing.
Paper: one setting, that of the paper as far as it says; held-out cells are zeros to ZTP-CP and missing to the rivals.
"""

METHODS = {"ztp-batch": "ZTP-CP, batch", "ztp-online": "ZTP-CP, online", "shared": "shared columns",
           "logistic": "Bayesian logistic CP", "quad": "Quad-App", "pwquad": "PW-QuadApp"}
RIVALS = ["logistic", "quad", "pwquad"]
POINT_ESTIMATES = ["quad", "pwquad"]
DATA = {"kinship": "Kinship", "umls": "UMLS", "movielens-100k": "MovieLens", "dblp-10k": "DBLP", "scholars": "Scholars",
        "facebook-wall-2007": "Facebook subset"}
# What is held out: a tenth of all cells, or of the ones, with five random zeros for each.
HELD_OUT = {"kinship": "cells", "umls": "cells", "movielens-100k": "cells",
            "dblp-10k": "ones", "scholars": "ones", "facebook-wall-2007": "ones", "simulated": "cells"}
# What makes the program run a method, before the options of a setting.
MODEL = {"ztp-batch": "", "ztp-online": "--method online", "shared": "", "logistic": "--model logistic",
         "quad": "--model quad", "pwquad": "--model pwquad"}

# ---- equal ---------------------------------------------------------------------------------------------------------

RANKS = [20, 50, 100]
SMALL = ["kinship", "umls", "movielens-100k", "simulated"]  # two priors, ten splits; the others: one prior, five splits
CHAINS = {name: 4 if name in SMALL else 2 for name in [*DATA, "simulated"]}
SPLITS = {name: 10 if name in SMALL else 5 for name in [*DATA, "simulated"]}
LIMIT = 120  # processor seconds of sampling: a minute on two threads
# The most sweeps of a chain (online: minibatches) and iterations of a point estimate, even if the limit allows more.
MOST_SWEEPS, MOST_ITERATIONS = 1000, 300

_PRIORS = {"ztp-batch": ["--dirichlet 0.1", "--dirichlet 0.05"], "ztp-online": ["--dirichlet 0.1", "--dirichlet 0.05"],
           "shared": ["--gamma-shape 0.1", "--gamma-shape 1"], "logistic": ["--ridge 1", "--ridge 0.1"],
           "quad": ["--ridge 1", "--ridge 0.1"], "pwquad": ["--ridge 1", "--ridge 0.1"]}
_ONE_PRIOR = {"quad": "--ridge 0.1", "pwquad": "--ridge 0.1"}  # for large data; the others have their defaults
# Of a data set and method, for all its settings. Modes with the same entities are tied.
_ALWAYS = {("kinship", "shared"): "--tie person_i=person_j --columns term=own",
           ("umls", "shared"): "--tie concept_i=concept_j --columns relation=own",
           ("facebook-wall-2007", "shared"): "--tie user_i=user_j --self-cells zero",
           ("dblp-10k", "logistic"): "--zeros 5", ("scholars", "logistic"): "--zeros 2",
           ("facebook-wall-2007", "logistic"): "--zeros 20"}


def equal_settings(name, method):
    """The options that a method may choose from. For shared columns, the rank is the number of columns."""
    rank = "--columns" if method == "shared" else "--rank"
    priors = _PRIORS[method] if name in SMALL else [_ONE_PRIOR.get(method, "")]
    parts = [(MODEL[method], _ALWAYS.get((name, method), ""), f"{rank} {value}", prior)
             for value in RANKS for prior in priors]
    return [" ".join(" ".join(part).split()) for part in parts]


# ---- paper ---------------------------------------------------------------------------------------------------------

# R = 20 (100 for Scholars and Facebook), 1000 iterations, 500 of them burn-in, minibatches of a tenth. Rivals have R =
# 20 everywhere, and as many iterations and zeros as time allowed.
_ZTP = {"ztp-batch": "--rank 20 --sweeps 1000 --burn-in 500 --sampler plain",
        "ztp-online": "--rank 20 --sweeps 1000 --burn-in 500"}
_QUAD = {"quad": "--rank 20 --sweeps 100", "pwquad": "--rank 20 --sweeps 100"}
_SPARSE_QUAD = {"quad": "--rank 20 --sweeps 100 --ridge 0.1", "pwquad": "--rank 20 --sweeps 100 --ridge 0.1"}
PAPER = {
    "kinship":            {**_ZTP, **_QUAD, "logistic": "--rank 20 --sweeps 300"},
    "umls":               {**_ZTP, **_QUAD, "logistic": "--rank 20 --sweeps 300"},
    "movielens-100k":     {**_ZTP, **_QUAD, "logistic": "--rank 20 --sweeps 100"},
    "dblp-10k":           {**_ZTP, **_SPARSE_QUAD, "logistic": "--rank 20 --sweeps 100 --zeros 5"},
    "scholars":           {"ztp-batch": "--rank 100 --sweeps 200 --sampler plain",
                           "ztp-online": "--rank 100 --sweeps 500",
                           "logistic": "--rank 20 --sweeps 200 --zeros 2",
                           "quad": "--rank 20 --sweeps 200 --ridge 0.1",
                           "pwquad": "--rank 20 --sweeps 200 --ridge 0.1 --blocks 256"},
    "facebook-wall-2007": {"ztp-batch": "--rank 100 --sweeps 1000 --burn-in 500 --sampler plain",
                           "ztp-online": "--rank 100 --sweeps 1000 --burn-in 500",
                           **_SPARSE_QUAD, "logistic": "--rank 20 --sweeps 100 --zeros 20"},
    "simulated":          {"ztp-batch": "--rank 10 --sweeps 60", "ztp-online": "--rank 10 --sweeps 200",
                           "logistic": "--rank 5 --sweeps 20", "quad": "--rank 5 --sweeps 20",
                           "pwquad": "--rank 5 --sweeps 20"},
}
PAPER_SPLITS = {("scholars", method): 3 for method in RIVALS}  # ten for the others


def paper_options(name, method):
    """None if the paper's protocol has no such fit: the paper has no shared columns."""
    if method not in PAPER[name]:
        return None
    masked = "--holdout-as missing" if method in RIVALS and HELD_OUT[name] == "cells" else ""
    return " ".join(f"{MODEL[method]} {PAPER[name][method]} {masked}".split())


# Table 1 of the paper. Its Facebook tensor is another, larger one.
PAPER_AUC = {
    "quad":       {"kinship": .8193, "umls": .8205, "movielens-100k": .8511},
    "pwquad":     {"kinship": .9213, "umls": .9387, "movielens-100k": .9490},
    "logistic":   {"kinship": .9865, "umls": .9965, "movielens-100k": .9799, "dblp-10k": .9307},
    "ztp-batch":  {"kinship": .9674, "umls": .9938, "movielens-100k": .9895, "dblp-10k": .9759, "scholars": .9959,
                   "facebook-wall-2007": .9830},
    "ztp-online": {"kinship": .9628, "umls": .9936, "movielens-100k": .9841, "dblp-10k": .9743, "scholars": .9958,
                   "facebook-wall-2007": .9844},
}
