"""What the tests of the docs share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/site"))


@pytest.fixture(scope="session")
def program() -> str:
    """The command line program, which scripts/python_tests.sh names."""
    path = os.environ.get("ZTP_COMMAND")
    assert path, "ZTP_COMMAND must name the program ztp"
    return path
