#!/usr/bin/env python3
"""Prints the expected numbers of convergence_test.cpp, from ArviZ (0.23.4 when they were taken).

The series come from a formula that gives the same doubles here and in C++: a 64-bit linear congruential generator, sums
of twelve uniform numbers, an autoregression.
"""
import math

import arviz as az
import numpy as np
from arviz.stats import diagnostics


def chain(seed, draws, rho, mean=0.0, scale=1.0):
    x, values = 0.0, []
    for _ in range(draws):
        noise = -6.0
        for _ in range(12):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            noise += (seed >> 11) * 2.0**-53
        x = rho * x + noise
        values.append(mean + scale * x)
    return values


def show(name, chains):
    x = np.array(chains)
    if len(x) > 1:
        r_hat = az.rhat(x)
    else:  # ArviZ gives no R-hat for one chain; these are the two that it is the larger one of
        halves = diagnostics._split_chains(x)
        folded = abs(halves - np.median(halves))
        r_hat = max(diagnostics._rhat(diagnostics._z_scale(y)) for y in (halves, folded))
    numbers = [x.mean(), x.std(ddof=1), az.mcse(x), r_hat, az.ess(x, method="bulk"), az.ess(x, method="tail")]
    print(name, "{" + ", ".join(f"{float(v):.12g}" for v in numbers) + "}")


four = range(1, 5)
show("well mixed", [chain(s, 500, 0.0) for s in four])
show("slow", [chain(s, 1000, 0.9) for s in four])
show("very slow", [chain(s, 3000, 0.999) for s in four])
show("antithetic", [chain(s, 401, -0.6) for s in four])
show("different means", [chain(s, 300, 0.3, mean=0.5 * s) for s in four])
show("different scales", [chain(s, 300, 0.3, scale=float(s)) for s in four])
show("whole numbers", [[math.floor(2 * v) for v in chain(s, 400, 0.5)] for s in four])
show("two values", [[1.0 if v > 1 else 0.0 for v in chain(s, 400, 0.5)] for s in four])
show("one chain", [chain(7, 800, 0.8)])
show("shortest", [chain(s, 4, 0.0) for s in four])
