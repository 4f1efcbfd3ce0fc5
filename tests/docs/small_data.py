"""Small files for the commands of the docs to work on.

    tests/docs/small_data.py FOLDER

Three groups of users buy three groups of items in three groups of weeks, and know each other.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

USERS = ["alice", "bob", *(f"user{i}" for i in range(28))]
ITEMS = ["kettle", "teapot", *(f"item{i}" for i in range(16))]
WEEKS = [f"2024-{i:02d}" for i in range(1, 13)]


def write(folder: Path) -> None:
    chance = random.Random(1)

    def in_group(labels: list[str], group: int) -> str:
        return labels[chance.randrange(len(labels) // 3) * 3 + group]

    ones: set[tuple[str, ...]] = set()
    while len(ones) < 520:
        group = chance.randrange(3)
        ones.add((in_group(USERS, group), in_group(ITEMS, group), in_group(WEEKS, group)))
    rows = sorted(ones)
    chance.shuffle(rows)
    friends = {tuple(sorted((in_group(USERS, g), in_group(USERS, g)))) for g in (0, 1, 2) for _ in range(20)}
    edges = sorted(edge for edge in friends if edge[0] != edge[1])
    facts: list[tuple[str, ...]] = [(user, verb, friend) for user, friend in edges for verb in ("knows", "likes")]
    files: dict[str, list[tuple[str, ...]]] = {
        "ones.tsv": [("#user", "item", "week"), *rows[:500]],
        "today.tsv": [("#user", "item", "week"), *rows[500:]],
        "cells.tsv": [(user, item, WEEKS[0]) for user in USERS[:3] for item in ITEMS[:3]],
        "friends.tsv": edges[:-5],
        "new.tsv": edges[-5:],
        "facts.tsv": facts,
    }
    for name, lines in files.items():
        (folder / name).write_text("".join("\t".join(line) + "\n" for line in lines))
    table = [("user", "item", "week"), *rows[:500]]
    (folder / "ones.csv").write_text("".join(",".join(line) + "\r\n" for line in table))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
