"""Reports from Python: the file of the command line. What is in it is for tests/report and tests/browser."""

from __future__ import annotations

import os

import pytest

import ztp


@pytest.fixture(scope="module")
def runs(planted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    parts = [
        ztp.TensorFactorization(4, sweeps=60, chains=2, random_state=seed, out=folder / f"run{seed}").fit(planted.X)
        for seed in (1, 2)
    ]
    return folder, parts


def test_the_same_bytes_as_the_command_line(runs, command, tmp_path):
    folder, (model, other) = runs
    ours, theirs = tmp_path / "ours.html", tmp_path / "theirs.html"
    assert model.report(ours) == os.fspath(ours)
    command("report", folder / "run1", "-o", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    assert model.posterior_.compare(other.posterior_, ours) == os.fspath(ours)  # a report may be replaced
    command("report", "--compare", folder / "run1", folder / "run2", "-o", theirs)
    assert ours.read_bytes() == theirs.read_bytes()


def test_options(runs, planted, tmp_path):
    _, (model, other) = runs
    file = tmp_path / "report.html"
    model.report(file)
    before = file.read_bytes()
    model.report(file, ordered=["mode3"])
    assert file.read_bytes() != before
    test = tmp_path / "test.tsv"
    test.write_text("".join(f"{i}\t{i}\t{i}\t{i % 2}\n" for i in range(1, 15)))
    model.report(file, test=test)
    assert file.read_bytes() != before
    model.posterior_.compare(other.posterior_, file, test=test)


def test_what_cannot_be(runs, tmp_path):
    _, (model, _) = runs
    with pytest.raises(ValueError, match="expected a list of names"):
        model.report(tmp_path / "report.html", ordered="mode3")
    with pytest.raises(ValueError, match="there is no such mode"):
        model.report(tmp_path / "report.html", ordered=["week"])
    with pytest.raises(ValueError, match="entities"):
        model.report(tmp_path / "report.html", entities=0)
    with pytest.raises(TypeError, match="expected a Posterior"):
        model.posterior_.compare("run")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(FileExistsError, match="not a report of ztp"):
        model.report(mine)
    assert mine.read_text() == "mine"
    with pytest.raises(OSError):
        model.report(tmp_path / "nowhere" / "report.html")
    assert not list(tmp_path.glob("report*"))
