"""What the tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when scipy is loaded; one of scikit-learn's checks wants it

import ztp  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

# Tests that run side by side (pytest -n) have a processor each, and fits as many threads as processors.
if worker := os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw"):
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[int(worker) % len(processors)]})

# The same fit makes the same bytes of draws.nc.
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"


@pytest.fixture(scope="session")
def command() -> Callable[..., str]:
    """Runs the command line program, which ZTP_COMMAND names; else it is looked for where make builds it."""
    places = [
        os.environ.get("ZTP_COMMAND"),
        str(ROOT / "build/release/ztp"),
        str(ROOT / "build/dev/ztp"),
        shutil.which("ztp"),
    ]
    program = next((place for place in places if place and os.path.exists(place)), None)
    if program is None:
        pytest.skip("there is no program ztp: build it (make), or name it by ZTP_COMMAND")

    def run(*arguments: object) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def planted() -> ztp.Simulation:
    """A small tensor of four blocks, with a network over its first mode."""
    return ztp.simulate((30, 25, 20), 800, rank=4, edges={"mode1": 60})
