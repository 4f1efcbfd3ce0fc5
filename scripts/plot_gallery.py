#!/usr/bin/env python3
"""The pictures of docs/gallery.md: runs the notebooks of examples/ and saves the figures that they leave in variables.

usage: plot_gallery.py IMAGES [NOTEBOOK...]        e.g. plot_gallery.py docs/images world

Needs what `pip install ".[test]"` installs and, but for world, the data sets under $ZTP_DATA. The same build of ztp and
the same versions of the libraries give the same files. Pictures show no rows of data that may not be passed on: of
MovieLens sums over many ratings, of UMLS facts without their names.
"""

import pathlib
import re
import sys

import nbclient
import nbformat

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
FIGURES = {"world": ("components", "cold"), "movielens": ("movielens",), "knowledge_base": ("knowledge",)}

# What is drawn over a figure before it is saved.
NAMELESS = {
    "knowledge": """
facts_axis = figure_knowledge.axes[1]
facts_axis.set_yticks(facts_axis.get_yticks(), [f"true fact {i + 1}" for i in range(len(facts_axis.get_yticks()))])
facts_axis.set_title("about one concept", fontsize=10, loc="left")
"""
}

STYLE = """
import matplotlib.pyplot as plt

plt.rcParams.update({"svg.hashsalt": "ztp", "svg.fonttype": "none", "font.family": "sans-serif"})
"""


def shorten(path):
    """Coordinates to a tenth of a point: half the size, and nothing to see."""
    text = path.read_text()
    short = lambda number: f"{float(number.group()):.1f}"  # noqa: E731
    text = re.sub(r' d="[^"]*"', lambda d: re.sub(r"-?\d+\.\d{2,}", short, d.group()), text)
    path.write_text(re.sub(r"[ \t]+\n", "\n", text))


def draw(name, images):
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    paths = [images / f"gallery-{figure}.svg" for figure in FIGURES[name]]
    how = "bbox_inches='tight', pad_inches=0.15, metadata={'Date': None, 'Creator': None}"
    save = [
        NAMELESS.get(figure, "") + f"figure_{figure}.savefig({str(path)!r}, {how})"
        for figure, path in zip(FIGURES[name], paths, strict=True)
    ]
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STYLE))
    notebook.cells.append(nbformat.v4.new_code_cell("\n".join(save)))
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    for path in paths:
        shorten(path)
        print(path)


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(FIGURES):
        sys.exit(__doc__)
    images = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or FIGURES:
        draw(name, images)


if __name__ == "__main__":
    main()
