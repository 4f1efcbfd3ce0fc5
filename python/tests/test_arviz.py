"""ArviZ reads a run, and finds what `ztp diagnose` finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import arviz
import numpy as np
import pandas as pd
import pytest

import ztp

OPTIONS: dict[str, Any] = {"rank": 5, "sweeps": 120, "burn_in": 40, "chains": 4, "draws": 10000, "keep_every": 1}


@pytest.fixture(scope="module")
def run(planted: ztp.Simulation, tmp_path_factory: pytest.TempPathFactory) -> ztp.Posterior:
    """All sweeps after burn-in are kept draws."""
    frame = pd.DataFrame(planted.X, columns=["user", "film", "day"]).astype(str)
    directory = tmp_path_factory.mktemp("arviz") / "run"
    model = ztp.TensorFactorization(**OPTIONS, learn="dirichlet", out=directory)
    return model.fit(frame, network={"user": planted.network["mode1"].astype(str)}).posterior_


def test_groups(run: ztp.Posterior, planted: ztp.Simulation) -> None:
    data = arviz.from_netcdf(str(Path(run.run_dir) / "draws.nc"))
    assert {"posterior", "sample_stats", "observed_data", "constant_data"} <= set(data.groups())
    for group in data.groups():
        attributes = data[group].attrs
        assert attributes["inference_library"] == "ztp"
        assert attributes["inference_library_version"] == ztp.__version__
        assert attributes["created_at"].startswith("20")
    factor = data.posterior["u_user"]
    assert factor.dims == ("chain", "draw", "user", "component")
    assert list(data.posterior["user"].values) == list(run.labels("user"))
    assert factor.shape == (4, 80, 30, 5)
    ones = np.stack([data.observed_data[name].values for name in run.mode_names], axis=1)
    labels = {tuple(run.labels(k)[i] for k, i in enumerate(cell)) for cell in ones}
    assert labels == {tuple(map(str, cell)) for cell in planted.X} and len(ones) == len(planted.X)


def test_is_not_loaded(run: ztp.Posterior) -> None:
    data = run.to_arviz()
    assert not data.posterior["u_user"].variable._in_memory
    assert data.posterior["u_user"].encoding["chunksizes"][:2] == (1, 1)  # a chunk for each draw


def test_summary_and_plot(run: ztp.Posterior) -> None:
    data = run.to_arviz()
    summary = arviz.summary(data, var_names=["lambda"])
    assert len(summary) == 5 and summary["ess_bulk"].notna().all()
    axes = arviz.plot_trace(data, var_names=["lambda"])
    assert axes.shape == (1, 2)
    matplotlib.pyplot.close("all")


def _agree(values: Any, row: pd.Series) -> None:
    """To 1e-6, as promised; a constant has no numbers."""
    if row["sd"] == 0:
        assert np.isnan(row["r_hat"])
        return
    found = [arviz.rhat(values), arviz.ess(values, method="bulk"), arviz.ess(values, method="tail"), arviz.mcse(values)]
    expected = row[["r_hat", "ess_bulk", "ess_tail", "mcse"]].to_numpy(dtype=float)
    assert np.abs(np.concatenate([np.ravel(f) for f in found]) - expected).max() < 1e-6


def test_convergence_of_the_file(run: ztp.Posterior) -> None:
    """Of what both have: the log-likelihood, the occupied rank and what is learned."""
    data, table = arviz.from_netcdf(str(Path(run.run_dir) / "draws.nc")), run.diagnose().quantities
    _agree(data.sample_stats["lp"].values, table.loc["log-likelihood"])
    _agree(data.sample_stats["occupied"].values.astype(float), table.loc["occupied rank"])
    learned = [name for name in table.index if name.startswith("dirichlet_")]
    assert len(learned) == 3
    for name in learned:
        _agree(data.posterior[name].values.astype(float), table.loc[name])


def test_convergence_of_every_sweep(planted: ztp.Simulation) -> None:
    """Of a run that keeps few draws: what diagnose judges is there, whatever was kept."""
    model = ztp.TensorFactorization(rank=5, sweeps=150, chains=3, draws=12, holdout=0.1).fit(planted.X)
    diagnosis = model.posterior_.diagnose()
    data = model.to_arviz(every_sweep=True)
    assert data.posterior["occupied"].shape == (3, 75)
    _agree(data.sample_stats["lp"].values, diagnosis.quantities.loc["log-likelihood"])
    _agree(data.posterior["occupied"].values.astype(float), diagnosis.quantities.loc["occupied rank"])
    _agree(data.posterior["total_weight"].values, diagnosis.quantities.loc["total weight"])
    assert len(diagnosis.cells) == data.predictions.sizes["cell"] > 0
    for i in range(len(diagnosis.cells)):
        _agree(data.predictions["probability"].values[:, :, i], diagnosis.cells.iloc[i])
