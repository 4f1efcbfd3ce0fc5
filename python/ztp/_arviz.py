"""Runs as ArviZ has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import arviz
import pandas as pd
import xarray

from . import _core
from ._run import read_table

if TYPE_CHECKING:
    from ._posterior import Posterior

# Columns of trace.tsv that say where in the run a sweep is, or are no property of one draw.
_NOT_QUANTITIES = {"chain", "sweep", "seconds", "auc_roc", "network_only", "log_likelihood"}


def kept_draws_of(run_dir: str) -> Any:
    """draws.nc, opened and not yet loaded."""
    with arviz.rc_context({"data.load": "lazy"}):
        return arviz.from_netcdf(os.path.join(run_dir, "draws.nc"))


def every_sweep_of(posterior: Posterior) -> Any:
    """What `ztp diagnose` judges: the sweeps after burn-in of the chains that it takes, as many of each as the
    shortest has."""
    judged = _core.diagnose(posterior.run_dir)
    burn_in = posterior.info["options"]["burn_in"]
    trace = posterior.trace()

    def table(frame: pd.DataFrame) -> list[pd.DataFrame]:
        frame = frame[frame["sweep"] > burn_in]
        chains = [frame[frame["chain"] == c] for c in judged["chains"]]
        draws = min(len(chain) for chain in chains)
        return [chain.iloc[:draws].reset_index(drop=True) for chain in chains]

    def dataset(chains: list[pd.DataFrame], names: dict[str, str]) -> xarray.Dataset:
        coordinates = {"chain": judged["chains"], "draw": chains[0]["sweep"].to_numpy()}
        variables = {
            name: (("chain", "draw"), [chain[column].to_numpy() for chain in chains]) for column, name in names.items()
        }
        attributes = {
            "inference_library": "ztp",
            "inference_library_version": posterior.info["ztp_version"],
            "created_at": posterior.info["created"],
        }
        return xarray.Dataset(variables, coordinates, attributes)

    quantities = {c: c for c in trace.columns if c not in _NOT_QUANTITIES}
    # The log-likelihood of a large rank is computed on some sweeps only, so it has draws of its own.
    with_likelihood = trace[trace["log_likelihood"].notna()]
    groups = {
        "posterior": dataset(table(trace), quantities),
        "sample_stats": dataset(table(with_likelihood), {"log_likelihood": "lp"}),
    }
    watched = os.path.join(posterior.run_dir, "cells.tsv")
    if os.path.exists(watched) and judged["cells"]:
        cells = read_table(watched)
        names = [c for c in cells.columns if c not in ("chain", "sweep")]
        each = dataset(table(cells), {c: c for c in names})
        groups["predictions"] = each.to_array("cell").transpose("chain", "draw", "cell").to_dataset(name="probability")
    if hasattr(arviz, "InferenceData"):
        return arviz.InferenceData(**groups)
    return xarray.DataTree.from_dict(groups)
