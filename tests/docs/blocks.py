"""The blocks of code in README.md, CONTRIBUTING.md, docs/ and the notes on the data.

    tests/docs/blocks.py README.md cpp      prints the C++ of a page, as a program

A block of sh, python or cpp is run by the tests, or stands below a comment that says why not:

    <!-- not run: needs a GPU -->
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))
PAGES = ["README.md", "CONTRIBUTING.md", *DOCS, "data/world/README.md", "data/states/README.md"]
CODE = ("sh", "python", "cpp")
MARKER = re.compile(r"<!-- not run: (\S.*) -->")
EQUATION = re.compile(r"^ +\(M\d+[a-z]?\)", re.M)


class BadBlockError(ValueError):
    """A block that is neither run nor says why not."""


@dataclass
class Block:
    page: str
    line: int  # of its first line
    language: str
    text: str
    reason: str | None  # why it is not run

    @property
    def runs(self) -> bool:
        return self.language in CODE and self.reason is None


def is_signature(text: str) -> bool:
    """As in the Python reference: what stands behind def."""

    def compiles(source: str) -> bool:
        try:
            compile("from __future__ import annotations\n" + source, "", "exec")
        except SyntaxError:
            return False
        return True

    return not compiles(text) and compiles(f"def {text.strip()}: ...")


def fenced(page: str, lines: list[str], start: int) -> tuple[Block, int]:
    """The block whose fence is at the position start, and the position behind it."""
    fence = lines[start].strip()
    end = next((i for i in range(start + 1, len(lines)) if lines[i].strip() == "```"), None)
    if end is None:
        raise BadBlockError(f"{page}:{start + 1}: a block has no end")
    above = next((line for line in reversed(lines[:start]) if line.strip()), "")
    marked = MARKER.fullmatch(above.strip())
    block = Block(page, start + 2, fence[3:], "\n".join(lines[start + 1 : end]) + "\n", marked[1] if marked else None)
    if block.language not in (*CODE, "text"):
        raise BadBlockError(f"{page}:{start + 1}: {fence} is not one of ```sh, ```python, ```cpp and ```text")
    if block.reason is not None and block.language == "text":
        raise BadBlockError(f"{page}:{start + 1}: text is never run, so it needs no reason")
    if block.language == "python" and is_signature(block.text):
        block.reason = "a signature"
    return block, end + 1


def indented(page: str, lines: list[str], start: int) -> int:
    """The position behind an indented block, which must be an equation: others are fenced."""
    end = start
    while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
        end += 1
    if not EQUATION.search("\n".join(lines[start:end])):
        fences = "```sh, ```python, ```cpp or ```text and ```"
        raise BadBlockError(f"{page}:{start + 1}: an indented block. Put it between {fences}")
    return end


def blocks_of(page: str, text: str) -> list[Block]:
    lines = text.split("\n")
    found: list[Block] = []
    in_list, i = False, 0
    while i < len(lines):
        line = lines[i]
        if line.lstrip().startswith("```"):
            block, i = fenced(page, lines, i)
            found.append(block)
            continue
        starts_paragraph = i == 0 or not lines[i - 1].strip()
        if line.startswith("    ") and starts_paragraph and not in_list:
            i = indented(page, lines, i)
            continue
        if line.strip() and not line.startswith(" "):
            in_list = bool(re.match(r"(?:[-*]|\d+\.) ", line)) or (in_list and not starts_paragraph)
        i += 1
    markers = sum(MARKER.fullmatch(line.strip()) is not None for line in lines)
    if markers != sum(block.reason is not None and block.reason != "a signature" for block in found):
        raise BadBlockError(f"{page}: a comment 'not run' without a block below it")
    return found


def read(page: str) -> list[Block]:
    return blocks_of(page, (ROOT / page).read_text())


def program(blocks: list[Block]) -> str:
    """Includes, and the rest as main."""
    lines = [line for block in blocks for line in block.text.splitlines()]
    includes = [line for line in lines if line.startswith("#include")]
    rest = [line for line in lines if not line.startswith("#include")]
    return "\n".join([*includes, "int main() {", *rest, "}"]) + "\n"


if __name__ == "__main__":
    print(program([block for block in read(sys.argv[1]) if block.runs and block.language == sys.argv[2]]), end="")
