"""The notebooks of examples/ run from the first cell to the last, which asserts what they tell."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# The data set of each that is not in the repository: a folder under $ZTP_DATA.
NOTEBOOKS = {"world": None, "movielens": "movielens-100k", "knowledge_base": "umls"}

# Twenty seconds on an idle machine with two cores; more where others use it.
TIMEOUT_SECONDS = 600


def read(name: str) -> Any:
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def execute(notebook: Any) -> None:
    """In memory, by a kernel of this interpreter: the file stays as it is."""
    kernel = manager.AsyncKernelManager(kernel_name="python3")
    kernel.kernel_spec.argv[0] = sys.executable
    client = nbclient.NotebookClient(
        notebook, km=kernel, timeout=TIMEOUT_SECONDS, resources={"metadata": {"path": str(EXAMPLES)}}
    )
    client.execute()


def test_all_are_listed() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_runs(name: str) -> None:
    data = NOTEBOOKS[name]
    if data is not None and not (Path(os.environ.get("ZTP_DATA", "")) / data / "tensor.tsv.gz").is_file():
        pytest.skip(f"the data set {data} is not under $ZTP_DATA (docs/data.md)")
    notebook = read(name)
    execute(notebook)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source)


@pytest.mark.parametrize("name", [name for name, data in NOTEBOOKS.items() if data is not None])
def test_says_what_it_needs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ZTP_DATA", str(tmp_path))
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    with pytest.raises(OSError, match=f"python -m ztp.datasets fetch {NOTEBOOKS[name]}"):
        for cell in read(name).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_has_no_outputs(name: str) -> None:
    """Some of the data may not be passed on, and outputs would have some of them."""
    notebook = read(name)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in notebook.cells:
        assert not cell.get("outputs"), cell.id
        assert cell.get("execution_count") is None, cell.id
        assert not cell.get("attachments"), cell.id
