"""Interruptions, callables that fail, threads and processes beside a fit, and what it tells."""

from __future__ import annotations

import copy
import logging
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tqdm.auto
from sklearn.exceptions import NotFittedError

import ztp

OPTIONS = {"rank": 3, "chains": 1, "draws": 20, "n_jobs": 1}
LONG = 3_000_000  # sweeps that would take minutes


def draws_of(run_dir: str | Path) -> bytes:
    return (Path(run_dir) / "draws.nc").read_bytes()


# Ctrl-C

INTERRUPTED = """
import sys
import numpy as np
import ztp

X = np.load(sys.argv[1])
model = ztp.TensorFactorization(rank=3, chains=1, draws=20, n_jobs=1, sweeps=int(sys.argv[3]), out=sys.argv[2])
print("fitting", flush=True)
try:
    model.fit(X)
except KeyboardInterrupt:
    print("resume with", model.run_dir_, hasattr(model, "posterior_"))
"""


def test_ctrl_c_and_resume(planted: ztp.Simulation, tmp_path: Path) -> None:
    """The draws after an interruption are those of an uninterrupted fit, bit for bit."""
    sweeps = 3000
    np.save(tmp_path / "X.npy", planted.X)
    arguments = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "X.npy"), str(tmp_path / "run"), str(sweeps)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "fitting\n"
        deadline = time.monotonic() + 30
        while not (tmp_path / "run" / "trace.tsv").exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert out.startswith("resume with") and out.strip().endswith("False"), err
    assert "interrupted; everything so far is in" in err
    with pytest.raises(ValueError, match="resume"):
        ztp.Posterior(tmp_path / "run")
    resumed = ztp.TensorFactorization.load(tmp_path / "run", n_jobs=1)
    with pytest.raises(NotFittedError):
        resumed.predict_proba(planted.X)
    resumed.resume()
    whole = ztp.TensorFactorization(**OPTIONS, sweeps=sweeps).fit(planted.X)
    assert resumed.predict_proba(planted.X).tolist() == whole.predict_proba(planted.X).tolist()
    assert draws_of(resumed.run_dir_) == draws_of(whole.run_dir_)


class Interrupting(tqdm.auto.tqdm):  # type: ignore[type-arg]
    """A bar that fails after it has been shown twice."""

    error: BaseException
    shown = 0

    def set_postfix(self, *arguments: Any, **named: Any) -> None:
        self.shown += 1
        if self.shown == 2:
            raise self.error


@pytest.fixture
def failing_bar(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Interrupting]]:
    monkeypatch.setattr(tqdm.auto, "tqdm", Interrupting)
    yield Interrupting
    del Interrupting.error  # with it, what it was raised from


def test_interrupted_fit(planted: ztp.Simulation, failing_bar: Any, caplog: pytest.LogCaptureFixture) -> None:
    """In a temporary directory, with copies of the model on the way."""
    failing_bar.error = KeyboardInterrupt()
    model = ztp.TensorFactorization(**OPTIONS, sweeps=2000, progress=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(planted.X)
    assert "resume() continues" in caplog.text
    assert not hasattr(model, "posterior_") and os.path.isdir(model.run_dir_)
    whole = ztp.TensorFactorization(**OPTIONS, sweeps=2000).fit(planted.X)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model):
        copied.set_params(progress=False).resume()
        assert draws_of(copied.run_dir_) == draws_of(whole.run_dir_)
    with pytest.raises(ValueError, match="the number can only be raised"):
        model.resume(sweeps=5)
    assert draws_of(model.posterior_.run_dir) == draws_of(whole.run_dir_)  # a refusal changes nothing
    assert model.resume(sweeps=2010).posterior_.info["sweeps"] == 2010


def test_interrupted_update(planted: ztp.Simulation, failing_bar: Any) -> None:
    failing_bar.error = KeyboardInterrupt()
    model = ztp.TensorFactorization(**OPTIONS, sweeps=20).fit(planted.X)
    before = model.predict_proba(planted.X).tolist()
    model.progress = True
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(np.array([[0, 0, 25], [1, 1, 25]]), sweeps=30_000)
    assert model.predict_proba(planted.X).tolist() == before
    assert ztp.Posterior(model.run_dir_).shape == (30, 25, 20)


def test_bar_that_fails(planted: ztp.Simulation, failing_bar: Any) -> None:
    failing_bar.error = ZeroDivisionError("in the bar")
    started = time.monotonic()
    with pytest.raises(ZeroDivisionError, match="in the bar"):
        ztp.TensorFactorization(**OPTIONS, sweeps=LONG, progress=True).fit(planted.X)
    assert time.monotonic() - started < 20


# Threads and processes


@pytest.mark.parametrize("what", ["fit", "predict"])
def test_other_threads_run(what: str, planted: ztp.Simulation) -> None:
    model = ztp.TensorFactorization(**OPTIONS, sweeps=3000 if what == "fit" else 20)
    if what == "predict":
        model.fit(planted.X)
    cells = np.tile(planted.X, (500, 1))
    started = threading.Event()
    done = threading.Event()
    steps = 0

    def work() -> None:
        nonlocal steps
        started.set()
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    before, began = steps, time.monotonic()
    if what == "fit":
        model.fit(planted.X)
    else:
        model.posterior_.predict_proba(cells)
    seconds, made = time.monotonic() - began, steps - before
    done.set()
    thread.join()
    assert made > 50 * seconds  # of at most 1000 a second; a held lock would leave none


def test_predict_and_fit_in_several_threads(planted: ztp.Simulation) -> None:
    model = ztp.TensorFactorization(**(OPTIONS | {"n_jobs": 2}), sweeps=40).fit(planted.X)
    expected = model.predict_proba(planted.X)[:, 1]
    parts = [np.arange(k, len(planted.X), 8) for k in range(8)] * 4
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda rows: model.predict_proba(planted.X[rows])[:, 1], parts))
        fits = list(pool.map(lambda seed: _weights(planted.X, seed), [1, 2, 1, 2]))
    for rows, answer in zip(parts, answers, strict=True):
        assert answer.tolist() == expected[rows].tolist()
    assert fits[:2] == fits[2:] and fits[0] != fits[1]


def _weights(X: np.ndarray, seed: int) -> list[float]:
    return ztp.TensorFactorization(**OPTIONS, sweeps=20, random_state=seed).fit(X).weights_.tolist()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork(planted: ztp.Simulation) -> None:
    """A forked process has none of the threads; it answers and fits all the same, and leaves the files alone."""
    model = ztp.TensorFactorization(**(OPTIONS | {"n_jobs": 2}), sweeps=20).fit(planted.X)
    expected = model.predict_proba(planted.X).tolist()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child() -> None:
        nonlocal model
        queue.put(model.predict_proba(planted.X).tolist() == expected)
        queue.put(_weights(planted.X, 1))
        queue.put(len(model.components()))
        del model

    process = context.Process(target=child)
    process.start()
    assert queue.get(timeout=60) and queue.get(timeout=60) == _weights(planted.X, 1) and queue.get(timeout=60) == 3
    process.join(60)
    assert process.exitcode == 0
    assert os.path.isdir(model.run_dir_) and model.posterior_.diagnose().verdict
    assert model.predict_proba(planted.X).tolist() == expected


FORKED = """
import os
import sys
import ztp

model = ztp.TensorFactorization(rank=2, sweeps=10, chains=1, n_jobs=2).fit([[0, 1], [1, 0]])
child = os.fork()
if child == 0:
    sys.exit(0)  # with all that an exit cleans up
assert os.waitpid(child, 0)[1] == 0
assert os.path.isdir(model.run_dir_)
print(len(model.posterior_.trace()))
"""


def test_exit_of_a_forked_process() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr


# What is told


def test_until_converged(planted: ztp.Simulation, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It ends when the chains agree, with the draws of a fit of as many sweeps; or when the time is up."""
    model = ztp.TensorFactorization(3, chains=4, holdout=0.1, until="converged", at_most="2m")
    with caplog.at_level(logging.INFO, logger="ztp"):
        model.fit(planted.X)
    assert "sweeps of each chain: the chains agree on predictions" in caplog.text
    assert model.posterior_.info["ended"] == "converged"
    sweeps = model.posterior_.info["sweeps"]
    plain = ztp.TensorFactorization(3, chains=4, holdout=0.1, sweeps=sweeps).fit(planted.X)
    assert (model.predict_proba(planted.X) == plain.predict_proba(planted.X)).all()
    with pytest.raises(ValueError, match="at_most soon"):
        model.set_params(at_most="soon").fit(planted.X)
    with pytest.raises(ValueError, match="until converged needs chains 2 or more"):
        ztp.TensorFactorization(3, chains=1, until="converged").fit(planted.X)


def test_bar(planted: ztp.Simulation, capfd: pytest.CaptureFixture[str]) -> None:
    model = ztp.TensorFactorization(**(OPTIONS | {"chains": 2}), sweeps=30, progress=True).fit(planted.X)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(r"ztp: 100%.* 60/60 .*components=\d.*log-likelihood=-\d", err)
    model.partial_fit(np.array([[0, 0, 25]]), sweeps=20)
    assert "100%" in capfd.readouterr().err
    for silent in (False, None):  # nobody looks here
        ztp.TensorFactorization(**OPTIONS, sweeps=10, progress=silent).fit(planted.X)
        assert capfd.readouterr() == ("", "")


def test_bar_without_stderr(planted: ztp.Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    ztp.TensorFactorization(**OPTIONS, sweeps=10).fit(planted.X)


def test_logging(planted: ztp.Simulation, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    X = np.concatenate([planted.X, planted.X[:3]])
    ztp.TensorFactorization(**OPTIONS, sweeps=10).fit(X)
    records = [(record.name, record.levelno, record.getMessage()) for record in caplog.records]
    assert ("ztp", logging.WARNING, "X: 3 repeated cells are merged") in records
    logging.getLogger("ztp").setLevel(logging.ERROR)
    try:
        caplog.clear()
        ztp.TensorFactorization(**OPTIONS, sweeps=10).fit(X)
        assert not caplog.records
    finally:
        logging.getLogger("ztp").setLevel(logging.NOTSET)
