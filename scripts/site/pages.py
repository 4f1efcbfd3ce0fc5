"""Puts together what mkdocs makes the site of: a copy of the Markdown, in the same folders, so that links stay right.

    scripts/site/pages.py build/docs-source build/demo/report.html

Notebooks become pages, folders that pages link to become lists of their files, and files that they link to come along.
A link to something else of the repository, such as a folder of tests, becomes plain text.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import links

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "data/world/README.md", "data/states/README.md"]
FOLDERS = ["examples", "examples/cpp", "examples/cluster", "docs/tables"]
# Search shows these first, as they are for users.
USERS = ("commands", "python", "relations", "online", "data", "report")
FIRST = {"README.md", *(f"docs/{name}.md" for name in USERS)}
SHOWN = {".cpp": "cpp", ".txt": "cmake", ".sbatch": "sh"}
DEMO = """---
hide: [toc]
---

# The report of the demo

`make demo` fits [data/world](data/world/README.md) and writes this page. [It can have the whole window](demo-report.html),
too. [What its views show](docs/report.md).

<iframe class="demo-report" src="demo-report.html" title="The report of the demo"></iframe>
"""


def notebook_page(notebook: Path) -> str:
    parts = [f"*[{notebook.name}]({notebook.name}) is a notebook. Run it to see its outputs: they are not kept.*"]
    for cell in json.loads(notebook.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    title, _, rest = parts[1].partition("\n")
    return "\n\n".join([title, parts[0], rest, *parts[2:]]) + "\n"


def folder_page(folder: Path) -> str:
    """Short files of code are shown, others can be had."""
    shown, listed = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix in SHOWN:
            shown.append(f"## {path.name}\n\n```{SHOWN[path.suffix]}\n{path.read_text()}```\n")
        elif path.suffix == ".ipynb":
            listed.append(f"- [{path.name}]({path.stem}.md)")
        elif path.is_file():
            listed.append(f"- [{path.name}]({path.name})")
        elif str(path.relative_to(ROOT)) in FOLDERS:
            listed.append(f"- [{path.name}]({path.name}/index.md)")
    title = f"---\nsearch: {{exclude: true}}\n---\n\n# {folder.relative_to(ROOT)}\n\n"
    return title + "\n".join(listed) + "\n\n" + "\n".join(shown)


def with_links(text: str, page: Path, out: Path) -> str:
    """The links of a page, as they are in the site; brings the files along."""

    def changed(match: re.Match[str]) -> str:
        whole, label, target = match[0], match[1], match[2]
        if links.is_elsewhere(target) or target.startswith("#"):
            return whole
        name, _, anchor = target.partition("#")
        place = Path(os.path.normpath(page.parent / name))
        if str(place) in FOLDERS:
            return whole.replace(target, f"{name}/index.md")
        if place.suffix == ".ipynb":
            return whole.replace(target, f"{name.removesuffix('.ipynb')}.md")
        if not (ROOT / place).is_file():
            return label
        if place.suffix != ".md":
            copy(place, out)
        elif not any(place.match(pattern) for pattern in PAGES):
            return label
        return whole

    return links.LINK.sub(changed, text)


def copy(place: Path, out: Path) -> None:
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / place, out / place)


def write(text: str, place: Path, out: Path) -> None:
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    (out / place).write_text(text)


def main(out: Path, report: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    for path in [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]:
        place = path.relative_to(ROOT)
        head = "---\nsearch: {boost: 2}\n---\n\n" if str(place) in FIRST else ""
        write(head + with_links(path.read_text(), place, out), place, out)
    for name in FOLDERS:
        write(folder_page(ROOT / name), Path(name, "index.md"), out)
        for path in (ROOT / name).iterdir():
            if path.suffix in (".tsv", ".ipynb"):
                copy(path.relative_to(ROOT), out)
    for notebook in ROOT.glob("examples/*.ipynb"):
        write(notebook_page(notebook), notebook.relative_to(ROOT).with_suffix(".md"), out)
    write(DEMO, Path("demo.md"), out)
    shutil.copyfile(report, out / "demo-report.html")
    for name in ("iframe-worker.js", "site.css"):
        (out / "assets").mkdir(exist_ok=True)
        shutil.copyfile(Path(__file__).parent / name, out / "assets" / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
