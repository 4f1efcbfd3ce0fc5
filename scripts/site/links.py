"""Looks for links that lead nowhere, in the Markdown as code hosts show it and in the pages of the site.

    scripts/site/links.py build/docs       the site: files, anchors, and that nothing is loaded from elsewhere

tests/docs/test_links.py looks at the Markdown.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

FENCE = re.compile(r"^( *)```.*?^\1```$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[((?:`[^`]*`|[^][`])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)


def is_elsewhere(target: str) -> bool:
    return bool(re.match(r"[a-z]+:|//", target))


# ---- Markdown --------------------------------------------------------------------------------------------------------


def without_fences(text: str) -> str:
    """The same lines, empty where code is."""
    return FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """Of the headings of a page: their words in small letters with - for spaces, and numbers if there are several."""
    seen: Counter[str] = Counter()
    names = set()
    for heading in HEADING.findall(without_fences(text)):
        words = LINK.sub(r"\1", heading).replace("`", "").replace("*", "")
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        names.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return names


def markdown_links(text: str) -> Iterator[tuple[int, str]]:
    """Lines and targets. What is in code is no link."""
    for number, line in enumerate(without_fences(text).splitlines(), 1):
        targets = [match[2] for match in LINK.finditer(line)]
        code = [match.span() for match in CODE.finditer(line)]
        starts = [match.start() for match in LINK.finditer(line)]
        yield from (
            (number, target)
            for target, start in zip(targets, starts, strict=True)
            if not any(low < start < high for low, high in code)
        )


def dead_in_markdown(root: Path, pages: list[str], exists: Callable[[Path], bool]) -> Iterator[str]:
    """Links of pages to files that the repository lacks, or to headings that a page lacks."""
    for name in pages:
        page = root / name
        for line, target in markdown_links(page.read_text()):
            if is_elsewhere(target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not exists(file):
                yield f"{name}:{line}: {target}: there is no such file"
            elif anchor and (file.suffix != ".md" or anchor not in anchors(file.read_text())):
                yield f"{name}:{line}: {target}: there is no such heading"


# ---- the site --------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.anchors |= {value for key, value in attributes if key in ("id", "name") and value}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(str(given.get("href")))
        elif given.get("src"):
            self.loads.append(str(given["src"]))


def dead_in_site(site: Path) -> Iterator[str]:
    """Also what is loaded from elsewhere, which the site must do without."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html")) if path.name != "demo-report.html"}
    if not pages:
        yield f"{site}: there are no pages"
    for path, page in pages.items():
        where = path.relative_to(site)
        for target in page.links + page.loads:
            if is_elsewhere(target):
                if target in page.loads and not target.startswith("data:"):
                    yield f"{where}: loads {target}"
                continue
            address, _, anchor = target.partition("#")
            name = unquote(address.partition("?")[0])
            file = (path.parent / name).resolve() if name else path
            if not file.is_file():
                yield f"{where}: {target}: there is no such file"
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors | {"__top"}:
                yield f"{where}: {target}: there is no such anchor"
    for style in sorted(site.rglob("*.css")):
        for target in re.findall(r"(?:@import\s*|url\()[\"']?((?:[a-z]+:)?//[^\"')]+)", style.read_text()):
            yield f"{style.relative_to(site)}: loads {target}"


if __name__ == "__main__":
    dead = list(dead_in_site(Path(sys.argv[1])))
    print("\n".join(dead) or f"{sys.argv[1]}: no dead links")
    sys.exit(bool(dead))
