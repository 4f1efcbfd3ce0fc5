"""Components that share columns: the same numbers as from the command line."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ztp

OPTIONS = {"rank": 30, "sweeps": 60, "draws": 10, "n_jobs": 1, "tie": {"subject": "object"}, "self_cells": "missing"}


@pytest.fixture(scope="module")
def ones() -> pd.DataFrame:
    """Three groups of people; relation l leads from group g to g + l."""
    rng = np.random.default_rng(1)
    cells = [(i, l, j) for i in range(15) for l in range(3) for j in range(15) if i != j]
    rows = [(f"p{i}", f"r{l}", f"p{j}") for i, l, j in cells if rng.random() < (0.8 if (i + l - j) % 3 == 0 else 0.02)]
    return pd.DataFrame(rows, columns=["subject", "relation", "object"])


@pytest.fixture(scope="module")
def posterior(ones: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> ztp.Posterior:
    """Two chains; columns of people, and relations that have their own."""
    run_dir = tmp_path_factory.mktemp("shared") / "run"
    model = ztp.TensorFactorization(**OPTIONS, chains=2, columns={"subject": 4, "relation": "own"}, out=run_dir)
    return model.fit(ones).posterior_


def numbers(items: list[dict[str, Any]], name: str) -> list[float]:
    return [np.nan if item[name] is None else item[name] for item in items]


def test_columns_and_core_are_those_of_the_command(posterior: ztp.Posterior, command: Callable[..., str]) -> None:
    assert posterior.shares_columns
    assert posterior.info["options"]["columns"] == ["subject=4", "relation=own", "object=4"]
    found = json.loads(command("components", posterior.run_dir, "--json", "--all", "--top", "2"))
    columns = posterior.columns("object", top=2)
    assert columns.index.tolist() == [item["column"] for item in found["columns"]]
    for name in ("weight", "weight_q05", "weight_q95", "stability"):
        np.testing.assert_array_equal(columns[name], numbers(found["columns"], name))
    assert columns["object"].tolist() == ["; ".join(e["label"] for e in item["top"]) for item in found["columns"]]
    assert {tuple(item["modes"]) for item in found["columns"]} == {("subject", "object")}
    core = posterior.core()
    for mode in posterior.mode_names:
        assert core[mode].tolist() == [item["columns"][mode] for item in found["core"]]
    for name in ("weight", "weight_q05", "weight_q95", "stability"):
        np.testing.assert_array_equal(core[name], numbers(found["core"], name))
    assert core["subject"].between(1, 4).all()
    assert core["stability"].between(0, 1).all() and core["stability"].max() > 0.8


def test_recommendations_are_the_most_probable_cells_and_those_of_the_command(
    posterior: ztp.Posterior, ones: pd.DataFrame, command: Callable[..., str]
) -> None:
    cells = pd.DataFrame(
        [("p2", r, o) for r in posterior.labels("relation") for o in posterior.labels("object") if o != "p2"],
        columns=posterior.mode_names,
    )
    known = set(ones.itertuples(index=False, name=None))
    unseen = cells[[cell not in known for cell in cells.itertuples(index=False, name=None)]]
    best = posterior.predict(unseen).sort_values("probability", ascending=False, kind="stable")
    found = posterior.recommend({"subject": "p2"}, top=8)
    np.testing.assert_array_equal(found["probability"], best["probability"][:8])
    printed = command("recommend", posterior.run_dir, "subject=p2", "--top", "8", "--json")
    lines = [json.loads(line) for line in printed.splitlines()]
    assert found["probability"].tolist() == [line["probability"] for line in lines]
    assert found["object"].tolist() == [line["cell"]["object"] for line in lines]
    because = [{tuple(part["columns"].values()): part["share"] for part in line["why"]} for line in lines]
    assert found["why"].tolist() == because
    assert posterior.explain(found[posterior.mode_names]) == because
    assert all(relation == cell for row, cell in zip(because, found["relation"], strict=True) for _, relation, _ in row)
    text = command("recommend", posterior.run_dir, "subject=p2", "--top", "1")
    first, column = next(iter(because[0].items())), posterior.columns("subject", top=5)
    assert f"({first[0][0]}, {first[0][1]}, {first[0][2]}):{100 * first[1]:.0f}%" in text
    entities = ", ".join(column.loc[first[0][0], "subject"].split("; "))
    assert f"# column {first[0][0]} of subject, object: {entities}\n" in text


def test_what_is_matched(posterior: ztp.Posterior) -> None:
    with_itself = posterior.match_core(posterior)
    assert (with_itself["entry"] == with_itself["partner"]).all() and with_itself["agreement"].min() > 0.999
    core, columns = posterior.core(), posterior.columns("subject")
    between = posterior.match_core(posterior, 0, 1)
    assert between["agreement"].tolist() == core["stability"].tolist()
    assert between["entry"].tolist() == list(core[posterior.mode_names].itertuples(index=False, name=None))
    of_columns = posterior.match_columns("object", posterior, 0, 1).set_index("column")
    shown = columns["stability"].dropna()
    assert shown.to_dict() == of_columns.loc[shown.index, "agreement"].to_dict()
    for entry, partner in zip(between["entry"], between["partner"], strict=True):
        expected = of_columns["partner"]
        assert partner == (expected[entry[0]], entry[1], expected[entry[2]])


def test_factors_are_those_of_columns(posterior: ztp.Posterior) -> None:
    frame = posterior.factor_frame("subject")
    assert frame.columns.name == "column" and frame.shape == (15, 4)
    assert frame.sum().to_numpy() == pytest.approx(1, abs=1e-4)
    np.testing.assert_array_equal(posterior.factor("subject"), posterior.factor("object"))
    np.testing.assert_array_equal(posterior.factor("relation"), np.eye(3))
    entities = posterior.top_entities("object", top=2)
    tops = entities.groupby("column", sort=False)["object"].agg("; ".join)
    assert tops.to_dict() == posterior.columns("object", top=2)["object"].to_dict()


def test_arviz_names_entries_and_columns(posterior: ztp.Posterior) -> None:
    arviz = pytest.importorskip("arviz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draws = arviz.from_netcdf(Path(posterior.run_dir) / "draws.nc").posterior
    dims = {name: draws[name].dims for name in draws.data_vars}
    start = ("chain", "draw")
    assert dims == {
        "lambda": (*start, "entry"),
        "p": (*start, "entry"),
        "column_subject": (*start, "entry"),
        "column_relation": (*start, "entry"),
        "column_object": (*start, "entry"),
        "u_subject": (*start, "subject", "column"),
    }
    assert draws["entry"].values.tolist() == list(range(1, 31))
    assert draws["column"].values.tolist() == [1, 2, 3, 4]
    assert draws["relation"].values.tolist() == posterior.labels("relation").tolist()
    assert set(np.unique(draws["column_object"])) <= {1, 2, 3, 4}
    uses = [(draws["column_subject"] == q).astype(int) + (draws["column_object"] == q) for q in range(1, 5)]
    weights = [float((draws["lambda"] * of_column).sum("entry").mean("draw")[0]) for of_column in uses]
    assert weights == pytest.approx(posterior.columns("subject")["weight"].sort_index().to_list(), rel=1e-5)
    assert draws["u_subject"].mean("draw")[0].values == pytest.approx(posterior.factor("subject", 0), abs=1e-6)


def test_several_matrices_have_columns_of_their_own(ones: pd.DataFrame, tmp_path: Path) -> None:
    arviz = pytest.importorskip("arviz")
    renamed = ones.set_axis(["entry", "relation", "column"], axis=1)
    options = {"rank": 30, "sweeps": 10, "draws": 5, "n_jobs": 1, "columns": {"entry": 4, "relation": 2, "column": 5}}
    ztp.TensorFactorization(**options, out=tmp_path / "run").fit(renamed)
    draws = arviz.from_netcdf(tmp_path / "run" / "draws.nc").posterior
    assert draws["u_mode_entry"].dims == ("chain", "draw", "mode_entry", "mode_entry_column")
    assert draws["u_relation"].dims == ("chain", "draw", "relation", "relation_column")
    assert draws["u_mode_column"].shape[2:] == (15, 5)
    assert draws["mode_column_column"].values.tolist() == [1, 2, 3, 4, 5]
    assert draws["column_mode_column"].dims == ("chain", "draw", "entry")


def test_probabilities_follow_the_groups(posterior: ztp.Posterior) -> None:
    cells = pd.DataFrame([("p0", "r0", "p3"), ("p0", "r0", "p4")], columns=posterior.mode_names)
    related = posterior.predict_proba(cells)
    assert related[0] > 0.5 > related[1]


def test_what_shows_components_says_that_there_are_none(posterior: ztp.Posterior, ones: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="this one was fitted with columns, and has columns and a core"):
        posterior.components()
    with pytest.raises(ValueError, match="match_columns and match_core are for it"):
        posterior.match_chains()
    with pytest.raises(ValueError, match="give a chain"):
        posterior.weights()
    assert posterior.weights(chain=1).shape == (30,)
    with pytest.raises(ValueError, match="explain tells the parts"):
        posterior.parts_of_rates(ones[:2])
    plain = ztp.TensorFactorization(rank=3, sweeps=10, draws=5, n_jobs=1).fit(ones).posterior_
    assert not plain.shares_columns
    with pytest.raises(ValueError, match="core is for runs with columns"):
        plain.core()
    with pytest.raises(ValueError, match="match_columns and match_core are for"):
        plain.match(posterior)
    with pytest.raises(ValueError, match="match_columns is for runs with columns"):
        posterior.match_columns("subject", plain)
    alone = plain.recommend({"subject": "p2"}, top=3)
    assert plain.explain(alone[plain.mode_names]) == alone["why"].tolist()
