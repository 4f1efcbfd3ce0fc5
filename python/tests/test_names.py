"""The same thing has the same name in the shell and in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ztp
from ztp._keywords import keywords_of
from ztp._parameters import SKLEARN_NAMES

Command = Callable[..., str]
DOCS = (Path(__file__).parents[2] / "docs/python.md").read_text()
MODEL, POSTERIOR = ztp.TensorFactorization, ztp.Posterior

# For each command: the functions that do the same; their keywords that are no flags (positional arguments of the
# command, and what is shown in other ways); and flags that Python does not have, because it has no use for them.
SAME: dict[str, tuple[list[Any], set[str], set[str]]] = {
    "fit": ([MODEL, MODEL.fit], {"X", "y", "progress"}, {"json"}),
    "resume": ([MODEL.resume], set(), {"checkpoint", "json", "memory", "threads"}),
    "update": ([MODEL.partial_fit], {"X", "y"}, {"format", "header", "index-base", "json", "out", "threads", "values"}),
    "predict": ([POSTERIOR, POSTERIOR.predict], {"run_dir", "X"}, {"json", "memory", "skip-unknown"}),
    "recommend": ([POSTERIOR, POSTERIOR.recommend], {"run_dir", "given"}, {"json", "memory"}),
    "components": ([POSTERIOR.components, POSTERIOR.top_entities], set(), {"all", "component", "json", "threads"}),
    "evaluate": (
        [POSTERIOR, POSTERIOR.evaluate, POSTERIOR.ranking],
        {"run_dir", "X", "y", "modes"},
        {"head", "json", "memory", "ranking", "skip-unknown"},
    ),
    "report": ([POSTERIOR.report], set(), {"compare", "force", "threads"}),
    "split": (
        [ztp.split],
        {"X", "y"},
        {"force", "format", "index-base", "json", "labels", "likelihood", "missing", "missing-slices", "out", "threads"}
        | {"header", "values"},
    ),
    "simulate": ([ztp.simulate], set(), {"communities", "force", "json", "mode-names", "no-truth", "out"}),
}


def flags_of(command: Command, name: str) -> set[str]:
    """Of the help of a command."""
    found = set(re.findall(r"^ +(?:-\w, ?)?--([a-z0-9][-a-z0-9]*)", command(name, "--help"), re.M))
    return found - {"help"}


@pytest.mark.parametrize("name", SAME)
def test_keywords_are_flags(name: str, command: Command) -> None:
    functions, only_python, only_shell = SAME[name]
    flag = {python: shell for shell, python in SKLEARN_NAMES.items()}
    keywords = {word for function in functions for word in keywords_of(function)}
    assert only_python <= keywords
    named = {flag.get(word, word).replace("_", "-") for word in keywords - only_python}
    flags = flags_of(command, name)
    assert len(flags) > 3
    assert named == flags - only_shell
    assert only_shell <= flags, "these flags do not exist"


def test_the_docs_list_all_names_that_differ() -> None:
    section = re.search(r"^## Names\n(.*?)^## ", DOCS, re.M | re.S)
    assert section is not None
    for shell, python in SKLEARN_NAMES.items():
        assert f"| `--{shell}` | `{python}` |" in section[1]
    for _, only_python, _ in SAME.values():
        assert all(f"`{word}`" in section[1] for word in only_python), only_python


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("names") / "run"
    world = ztp.simulate((30, 20, 10), 500, rank=3, edges={0: 40})
    model = MODEL(rank=3, sweeps=40, chains=2, draws=20, holdout=0.2, n_jobs=1, out=directory)
    model.fit(world.X, network=world.network)
    return directory


def test_columns_are_keys_of_json(run: Path, command: Command, tmp_path: Path) -> None:
    posterior = ztp.Posterior(run, n_jobs=1)
    modes = posterior.mode_names
    (tmp_path / "cells.tsv").write_text("1\t2\t3\n")

    def keys(*arguments: object) -> set[str]:
        return set(json.loads(command(*arguments, "--json").splitlines()[0]))

    def columns(frame: pd.DataFrame) -> set[str]:
        return {*frame.reset_index(drop=frame.index.name is None).columns}

    # A cell is one item of JSON, and a column for each mode in a frame. The shell shows rates of counts alone.
    cells = {"cell"}
    predicted = columns(posterior.predict([[0, 1, 2]])) - {*modes, "rate"}
    assert predicted == keys("predict", run, tmp_path / "cells.tsv") - cells
    assert columns(posterior.recommend({0: 0})) - {*modes, "rate"} == keys("recommend", run, f"{modes[0]}=0") - cells
    found = json.loads(command("components", run, "--json"))
    listed = found if isinstance(found, list) else found["components"]
    assert columns(posterior.components()) - {*modes} == set(listed[0]) - {"top"}
    assert set(posterior.evaluate()) == keys("evaluate", run) - {"head"}
    diagnosis = json.loads(command("diagnose", run, "--json"))
    mine = posterior.diagnose()
    assert {"verdict", "predictions", "rank", "sentences", "quantities", "cells"} <= set(diagnosis)
    assert columns(mine.quantities) <= set(diagnosis["quantities"][0]) | {"name"}
    assert set(posterior.info) == set(json.loads(command("info", run, "--json")))


def test_an_update_has_the_same_keys(run: Path, command: Command, tmp_path: Path) -> None:
    (tmp_path / "new.tsv").write_text("0\t1\t12\n3\t22\t4\n")
    theirs = json.loads(command("update", run, tmp_path / "new.tsv", "--out", tmp_path / "updated", "--json"))
    mine = MODEL.load(run).set_params(progress=False)
    mine.partial_fit([[0, 1, 12], [3, 22, 4]])
    assert set(theirs) - {"run"} == set(mine.update_)
    assert theirs["new_entities"].keys() == mine.update_["new_entities"].keys()
