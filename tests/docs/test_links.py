"""Links in the Markdown lead somewhere, as code hosts read it: to files of the repository, and to headings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import links
import pytest
from blocks import ROOT


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no clone: git does not tell which files are in the repository")
    return listed.stdout.splitlines()


def test_no_dead_links() -> None:
    names = tracked()
    files = {ROOT / name for name in names}
    files |= {folder for file in files for folder in file.parents}
    pages = [name for name in names if name.endswith(".md")]
    assert not list(links.dead_in_markdown(ROOT, pages, files.__contains__))
    assert sum(len(list(links.markdown_links((ROOT / page).read_text()))) for page in pages) > 100


def test_lists_are_lists_everywhere() -> None:
    """Code hosts see a list right below a sentence, the site does not."""
    item = re.compile(r" *(?:[-*]|\d+\.) ")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        above, in_list = "", False
        for number, line in enumerate(links.without_fences(page.read_text()).splitlines(), 1):
            assert not item.match(line) or in_list or not above, f"{page}:{number}: no empty line before a list"
            goes_on = not line or line.startswith(" ") or above
            in_list = bool(item.match(line) or (in_list and goes_on))
            above = line


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("[a](gone.md)", "page.md:3: gone.md: there is no such file"),
        ("[a](#gone)", "page.md:3: #gone: there is no such heading"),
        ("see ![a](pictures/gone.svg)", "page.md:3: pictures/gone.svg: there is no such file"),
        ("[a](page.md#Two-words)", "page.md:3: page.md#Two-words: there is no such heading"),
        ("[a](https://example.org/x) [b](#two-words) [`c`](page.md#two-words-1) `[d](gone.md)`", None),
    ],
)
def test_dead_links_are_found(link: str, message: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"# Two `words`\n\n{link}\n\n## Two words!\n")
    assert list(links.dead_in_markdown(tmp_path, ["page.md"], Path.exists)) == ([message] if message else [])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<a href="gone.html">', "gone.html: there is no such file"),
        ('<a href="#gone">', "#gone: there is no such anchor"),
        ('<img src="gone.png">', "gone.png: there is no such file"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
        ('<a href="https://example.org"><a href="?x#here" id="here"><img src="data:,x">', None),
    ],
)
def test_dead_links_of_the_site_are_found(body: str, message: str | None, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>{body}</p>")
    assert list(links.dead_in_site(tmp_path)) == ([f"page.html: {message}"] if message else [])


def test_styles_from_elsewhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p></p>")
    (tmp_path / "x.css").write_text('p { background: url("https://example.org/x.png"), url(data:x) }')
    assert list(links.dead_in_site(tmp_path)) == ["x.css: loads https://example.org/x.png"]
