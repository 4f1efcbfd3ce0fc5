"""The same data, options and seed give the same numbers through every door, to the last bit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import ztp

OPTIONS = {"rank": 6, "sweeps": 60, "draws": 20, "chains": 2, "random_state": 7}
FLAGS = ["--rank", 6, "--sweeps", 60, "--draws", 20, "--chains", 2, "--seed", 7]

Command = Callable[..., str]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Labels whose order of first appearance is not that of the alphabet, with repeated cells."""
    X = ztp.simulate((20, 15, 10), 400, rank=3).X
    X = np.random.default_rng(3).permutation(np.concatenate([X, X[:17]]))
    return pd.DataFrame({"user": [f"u{i}" for i in X[:, 0]], "film": [f"film {j}" for j in X[:, 1]], "day": X[:, 2]})


@pytest.fixture(scope="module")
def friends(frame: pd.DataFrame) -> pd.DataFrame:
    users = frame["user"].unique()
    return pd.DataFrame({"a": users[:-1], "b": users[1:]})


def write(frame: pd.DataFrame, path: Path, header: bool = True) -> Path:
    with gzip.open(path, "wt") if path.suffix == ".gz" else open(path, "w") as file:
        if header:
            file.write("#" + "\t".join(frame.columns) + "\n")
        frame.to_csv(file, sep="\t", header=False, index=False)
    return path


def same_draws(run: Path, model: ztp.TensorFactorization) -> None:
    """Of a run of the command line and of a model: byte for byte."""
    assert (run / "draws.nc").read_bytes() == (Path(model.run_dir_) / "draws.nc").read_bytes()


def predicted_by(command: Command, run: Path, cells: Path) -> np.ndarray:
    """What the command line prints, all digits of it."""
    rows = [json.loads(line) for line in command("predict", run, cells, "--json").splitlines()]
    return np.array([[row[name] for name in ("probability", "sd", "q05", "q95")] for row in rows])


def test_frame_and_tsv(command: Command, frame: pd.DataFrame, friends: pd.DataFrame, tmp_path: Path) -> None:
    ones, edges = write(frame, tmp_path / "ones.tsv.gz"), write(friends, tmp_path / "friends.tsv", header=False)
    command("fit", ones, *FLAGS, "--network", f"user={edges}", "--out", tmp_path / "run")
    model = ztp.TensorFactorization(**OPTIONS).fit(frame, network={"user": friends})
    same_draws(tmp_path / "run", model)
    cells = frame.iloc[:50]
    mine = model.predict(cells, intervals=True)[["probability", "sd", "q05", "q95"]].to_numpy()
    theirs = predicted_by(command, tmp_path / "run", write(cells, tmp_path / "cells.tsv"))
    assert np.array_equal(mine, theirs)
    # And the run of the command line, opened here.
    loaded = ztp.TensorFactorization.load(tmp_path / "run")
    assert np.array_equal(loaded.predict_proba(cells), model.predict_proba(cells))
    assert np.array_equal(model.predict_proba(cells)[:, 1], theirs[:, 0])


def test_path_and_command(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    ones = write(frame, tmp_path / "ones.tsv")
    command("fit", ones, *FLAGS, "--out", tmp_path / "run")
    same_draws(tmp_path / "run", ztp.TensorFactorization(**OPTIONS).fit(ones))


def test_ids_and_tns(command: Command, planted: ztp.Simulation, tmp_path: Path) -> None:
    np.savetxt(tmp_path / "ones.tns", np.column_stack([planted.X, np.ones(len(planted.X))]), fmt="%d")
    command("fit", tmp_path / "ones.tns", "--index-base", 0, *FLAGS, "--out", tmp_path / "run")
    sparse = pytest.importorskip("sparse")
    shape = tuple(planted.X.max(axis=0) + 1)
    tensor = sparse.COO(planted.X.T, np.ones(len(planted.X)), shape=shape)
    for X in (planted.X, planted.X.astype(np.uint8), np.asfortranarray(planted.X[::-1]), tensor):
        same_draws(tmp_path / "run", ztp.TensorFactorization(**OPTIONS).fit(X))


def test_matrix_and_mtx(command: Command, planted: ztp.Simulation, tmp_path: Path) -> None:
    pairs = np.unique(planted.X[:, :2], axis=0)
    matrix = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(30, 25))
    lines = ["%%MatrixMarket matrix coordinate pattern general", f"30 25 {len(pairs)}"]
    (tmp_path / "ones.mtx").write_text("\n".join(lines + [f"{i + 1} {j + 1}" for i, j in pairs]) + "\n")
    command("fit", tmp_path / "ones.mtx", *FLAGS, "--out", tmp_path / "run")
    theirs = ztp.Posterior(tmp_path / "run")
    # The labels of the file count from 1, so the files differ; the draws do not.
    for X in (matrix, matrix.tocsr(), scipy.sparse.csc_array(matrix)):
        mine = ztp.TensorFactorization(**OPTIONS).fit(X)
        assert np.array_equal(mine.predict_proba(pairs)[:, 1], theirs.predict_proba(pairs))


def test_counts_online_and_learning(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    counts = np.arange(len(frame)) % 4
    ones = write(frame.assign(count=counts), tmp_path / "counts.tsv")
    for flags, options in [
        (["--likelihood", "count"], {"likelihood": "count"}),
        (["--likelihood", "count", "--method", "online"], {"likelihood": "count", "method": "online"}),
        (["--likelihood", "count", "--learn", "dirichlet"], {"likelihood": "count", "learn": "dirichlet"}),
    ]:
        out = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"
        command("fit", ones, *FLAGS, *flags, "--out", out)
        same_draws(out, ztp.TensorFactorization(**OPTIONS, **options).fit(frame, counts))


def test_missing_and_entities(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    split = ztp.split(frame, holdout=0.2)
    train, cells = split.train.astype(str), split.test.astype(str)  # entities in order of appearance, not all of them
    users = [*frame["user"].unique(), "nobody"]
    (tmp_path / "users.txt").write_text("\n".join(users) + "\n")
    (tmp_path / "gone.txt").write_text("nobody\n")
    cells = cells[cells["film"].isin(train["film"]) & cells["day"].isin(train["day"])]
    flags = ["--labels", f"user={tmp_path / 'users.txt'}", "--missing", write(cells, tmp_path / "missing.tsv")]
    flags += ["--missing-slices", f"user={tmp_path / 'gone.txt'}"]
    command("fit", write(train, tmp_path / "train.tsv"), *FLAGS, *flags, "--out", tmp_path / "run")
    mine = ztp.TensorFactorization(**OPTIONS).fit(
        train, missing=cells, missing_slices={"user": ["nobody"]}, labels={"user": users}
    )
    same_draws(tmp_path / "run", mine)


def test_update(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    old, new = frame.iloc[:300], frame.iloc[300:]
    command("fit", write(old, tmp_path / "old.tsv"), *FLAGS, "--out", tmp_path / "run")
    model = ztp.TensorFactorization(**OPTIONS).fit(old)
    command("update", tmp_path / "run", write(new, tmp_path / "new.tsv"))
    model.partial_fit(new)
    same_draws(tmp_path / "run", model)


def test_split(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    for protocol in ("ones", "cells"):
        out = tmp_path / protocol
        command("split", write(frame, tmp_path / "ones.tsv"), "--protocol", protocol, "--seed", 5, "--out", out)
        parts = ztp.split(frame, protocol=protocol, random_state=5)
        test = pd.read_csv(out / "test.tsv", sep="\t")
        assert (parts.test.astype(str).to_numpy() == test.iloc[:, :3].astype(str).to_numpy()).all()
        assert (parts.test_y == test.iloc[:, 3]).all()


def test_questions(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    """evaluate, rank, components, recommend and diagnose."""
    ones, run = write(frame, tmp_path / "ones.tsv"), tmp_path / "run"
    command("fit", ones, *FLAGS, "--holdout", 0.2, "--out", run)
    posterior = ztp.Posterior(run)

    def told(*arguments: object) -> Any:
        return json.loads(command(*arguments, "--json"))

    theirs = told("evaluate", run)
    mine = posterior.evaluate()
    assert mine["auc_roc"] == theirs["auc_roc"] and mine["brier"] == theirs["brier"]
    test = pd.read_csv(run / "test.tsv", sep="\t").rename(columns=lambda name: name.lstrip("#"))
    in_memory = posterior.evaluate(test[["user", "film", "day"]], test.iloc[:, 3])
    assert mine["popularity"] == theirs["popularity"]
    assert posterior.evaluate(raw=True)["log_loss"] == told("evaluate", run, "--raw")["log_loss"]
    assert posterior.head().to_dict("records") == theirs["head"]
    of_file = told("evaluate", run, run / "test.tsv")
    assert all(name in ("head", "popularity") or in_memory[name] == of_file[name] for name in of_file)

    ranked = told("evaluate", run, "--ranking", "all")
    table = posterior.ranking()
    assert (
        table.loc["all", "mrr"] == ranked["all"]["mrr"]
        and table.loc["user", "hits@3"] == ranked["modes"]["user"]["hits"]["3"]
    )
    assert posterior.ranking(test[test.iloc[:, 3] == 1])["mrr"].equals(table["mrr"])

    components = told("components", run, "--top", 3)
    mine = posterior.components(3).loc[[c["component"] for c in components]]
    for name in ("weight", "weight_q05", "share", "stability"):
        assert list(mine[name]) == [c[name] for c in components]
    first = posterior.top_entities("film", 3).iloc[:3]
    assert [(e["label"], e["value"]) for e in components[0]["top"]["film"]] == list(
        zip(first["film"], first["value"], strict=True)
    )

    user = frame["user"].iloc[0]
    lines = command("recommend", run, f"user={user}", "--top", 4, "--json").splitlines()
    theirs, mine = [json.loads(line) for line in lines], posterior.recommend({"user": user}, 4)
    assert [row["probability"] for row in theirs] == list(mine["probability"])
    assert [row["cell"]["film"] for row in theirs] == list(mine["film"])
    assert [{w["component"]: w["share"] for w in row["why"]} for row in theirs] == list(mine["why"])

    assert not mine["missing"].any()
    films = posterior.recommend({"user": user}, 3, mode="film", only_new="film")
    lines = command("recommend", run, f"user={user}", "--mode", "film", "--only-new", "film", "--top", 3, "--json")
    theirs = [json.loads(line) for line in lines.splitlines()]
    assert [row["entity"]["film"] for row in theirs] == list(films["film"])
    for name in ("probability", "sd", "q05", "q95", "rate", "missing", "ones", "cells"):
        assert [row[name] for row in theirs] == list(films[name])
    first = films["film"][0]
    arguments = ["--distinct", "film", "--exclude", f"film={first}", "--top", 3, "--json"]
    theirs = [json.loads(line) for line in command("recommend", run, f"user={user}", *arguments).splitlines()]
    mine = posterior.recommend({"user": user}, 3, distinct="film", exclude={"film": [first]})
    assert [row["probability"] for row in theirs] == list(mine["probability"])
    assert mine["film"].is_unique and first not in set(mine["film"])
    left = posterior.recommend({"user": user}, 3, distinct="film", exclude=mine[["user", "film", "day"]])
    assert not set(map(tuple, left[["film", "day"]].values)) & set(map(tuple, mine[["film", "day"]].values))

    diagnosis = told("diagnose", run)
    assert diagnosis["verdict"] == posterior.diagnose().verdict
