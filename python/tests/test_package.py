"""The package as it is installed: what is in it, its types, its reference."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path


import ztp

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(ztp.__file__).parent


def test_the_version_is_that_of_the_library() -> None:
    declared = re.search(r"project\(ztp VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert declared is not None
    assert ztp.__version__ == declared[1]
    assert importlib.metadata.version("ztp") == declared[1]


def test_it_has_its_modules_and_types_and_nothing_else() -> None:
    expected = {path.name for path in (ROOT / "python/ztp").iterdir() if path.name != "__pycache__"}
    found = {path.name for path in INSTALLED.iterdir() if path.name != "__pycache__"}
    binary = {name for name in found if re.fullmatch(r"_core\..*\.so", name)}
    assert len(binary) == 1
    assert found - binary == expected | {"_core.pyi"}
    assert "py.typed" in found
    # nothing beside the package, either: no headers, static libraries, tests; shared ones where `make wheel` made it
    files = importlib.metadata.files("ztp") or []
    assert {path.parts[0] for path in files} <= {"ztp", "ztp.libs", f"ztp-{ztp.__version__}.dist-info"}


def test_the_stubs_say_what_everything_is() -> None:
    stub = (INSTALLED / "_core.pyi").read_text()
    for vague in (r"\bobject\b", r"\*args", r"\barg\d?:", r"\blist(?!\[)\b", r"-> dict:", r"NDArray(?!\[)(?=[,\]])"):
        assert not re.search(vague, re.sub(r'""".*?"""', "", stub, flags=re.S)), vague


def mypy(*arguments: str, cwd: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "build/.mypy_cache"), *arguments]
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return ran.stdout + ran.stderr


def test_mypy_finds_nothing_in_it(tmp_path: Path) -> None:
    output = mypy("--config-file", str(ROOT / "pyproject.toml"), "-p", "ztp", cwd=tmp_path)
    assert output.startswith("Success"), output


USE = """
import numpy as np
import ztp

world = ztp.simulate((30, 20, 10), 500, rank=3, edges={0: 40})
parts = ztp.split(world.X, holdout=0.1)
model = ztp.TensorFactorization(rank=5, sweeps=50, chains=2, dirichlet={"mode1": 0.2}, n_jobs=1)
model.fit(parts.train, network=world.network, missing=parts.test)
one: np.ndarray = model.predict_proba(parts.test)[:, 1]
score: float = model.score(parts.test, parts.test_y)
factor: np.ndarray = model.transform("mode1")
posterior: ztp.Posterior = model.posterior_
diagnosis: ztp.Diagnosis = posterior.diagnose()
sentences: list[str] = diagnosis.sentences
shape: tuple[int, ...] = posterior.shape
again = ztp.TensorFactorization.load(posterior.run_dir).components(top=3)
"""


def test_a_program_that_uses_it_is_checked(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    assert mypy("use.py", cwd=tmp_path).startswith("Success")
    (tmp_path / "wrong.py").write_text(
        USE + 'posterior.factor(1.5)\nrank: str = posterior.rank\nztp.simulate(3, "many")\n'
    )
    assert re.search(r"Found 4 errors in 1 file", mypy("wrong.py", cwd=tmp_path))


def test_the_reference_is_that_of_the_docstrings() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "scripts/python_reference.py"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs/python-api.md").read_text() == printed.stdout, (
        "docs/python-api.md is out of date: scripts/python_reference.py > docs/python-api.md"
    )
