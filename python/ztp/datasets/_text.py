"""The data sets whose sources are text: MovieLens, Facebook, FB15k-237 and DBLP."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import dataclass

from ._sources import Converted, Lines, Source, cell_table, distinct, gunzip, table, untar, unzip


def convert_movielens(sources: dict[str, Source]) -> Converted:
    archive = "ml-100k.zip"
    files = unzip(sources[archive], ["u.data", "u.item", "u.user", "u.genre"])

    # u.genre: name|number, in the order of the numbers.
    genres: list[bytes] = []
    lines = Lines(f"u.genre in {archive}", files["u.genre"], b"|", 2)
    for _ in lines:
        if lines.number(1) != len(genres):
            lines.fail(1, "genres are not in order")
        genres.append(lines.label(0))

    # u.item: id|title|release date|video date|address|a 0 or 1 for each genre, in ISO 8859-1.
    movies: dict[int, int] = {}  # places, by source id
    titles: list[bytes] = []
    dates: list[bytes] = []
    genres_of: list[bytes] = []
    text = files["u.item"].decode("latin-1").encode()
    lines = Lines(f"u.item in {archive}", text, b"|", 5 + len(genres))
    for fields in lines:
        movie = lines.number(0)
        if movie in movies:
            lines.fail(0, f"movie {movie} is there twice")
        movies[movie] = len(titles)
        titles.append(lines.label(1))
        dates.append(fields[2])
        genres_of.append(b"|".join(genre for g, genre in enumerate(genres) if lines.number(5 + g, 1) == 1))
    source_ids = list(movies)
    titles = distinct(titles, source_ids)

    # u.user: id|age|gender|occupation|zip code. The zip codes are left out: they are not needed, and tell where
    # people live.
    users: list[list[bytes]] = []
    lines = Lines(f"u.user in {archive}", files["u.user"], b"|", 5)
    for _ in lines:
        if lines.number(0) != len(users) + 1:
            lines.fail(0, "users are not in order")
        users.append([b"user%d" % lines.number(0), b"%d" % lines.number(1), lines.label(2), lines.label(3)])

    ratings: dict[tuple[int, int], tuple[int, int]] = {}
    lines = Lines(f"u.data in {archive}", files["u.data"], b"\t", 4)
    for _ in lines:
        user, movie = lines.number(0), lines.number(1)
        if not 1 <= user <= len(users):
            lines.fail(0, f"user {user} is not in u.user")
        if movie not in movies:
            lines.fail(1, f"movie {movie} is not in u.item")
        ratings[user - 1, movies[movie]] = lines.number(2, 5), lines.number(3, 2**63 - 1)

    rated = [(users[u][0], titles[m], b"%d" % stars, b"%d" % time) for (u, m), (stars, time) in sorted(ratings.items())]
    movie_ids = [b"%d" % i for i in source_ids]
    return Converted(
        files={
            "tensor.tsv.gz": table("user\tmovie", (row[:2] for row in rated)),
            "ratings.tsv.gz": table("user\tmovie\trating\tunix_time", rated),
            "movie-labels.tsv": table(
                "movie\tsource_id\trelease_date\tgenres", zip(titles, movie_ids, dates, genres_of, strict=True)
            ),
            "user-labels.tsv": table("user\tage\tgender\toccupation", users),
        },
        modes={"user": len(users), "movie": len(titles)},
        ones=len(rated),
    )


def convert_facebook(sources: dict[str, Source]) -> Converted:
    # owner of the wall, author, unix time
    year_2100 = 4102444800
    lines = Lines("facebook-wall.txt.gz", gunzip(sources["facebook-wall.txt.gz"]), b"\t", 3)
    posts = {(lines.number(0), lines.number(1), lines.number(2, year_2100) // 86400) for _ in lines}
    # two users, and the time at which they became friends or \N, which is not used
    lines = Lines("facebook-links.txt.gz", gunzip(sources["facebook-links.txt.gz"]), b"\t", 3)
    links = {(lines.number(0), lines.number(1)) for _ in lines}

    users = sorted({user for post in posts for user in post[:2]} | {user for link in links for user in link})
    edges = sorted({(min(link), max(link)) for link in links if link[0] != link[1]})
    days = {day for _, _, day in posts}
    first = datetime.date(1970, 1, 1)
    user_label = {user: b"u%d" % user for user in users}
    day_label = {day: str(first + datetime.timedelta(day)).encode() for day in days}
    return Converted(
        files={
            "tensor.tsv.gz": table(
                "user_i\tuser_j\tday", ((user_label[i], user_label[j], day_label[day]) for i, j, day in sorted(posts))
            ),
            "network-user_i.tsv.gz": table("user_i\tuser_i", ((user_label[i], user_label[j]) for i, j in edges)),
            "user-labels.tsv": table("user", ([user_label[user]] for user in users)),
        },
        modes={"user_i": len(users), "user_j": len(users), "day": len(days)},
        ones=len(posts),
        edges=len(edges),
    )


def convert_fb15k_237(sources: dict[str, Source]) -> Converted:
    archive = "FB15k-237.tar.gz"
    header = "entity_i\tentity_j\trelation"
    parts: dict[str, set[tuple[bytes, bytes, bytes]]] = {}
    for name, text in untar(sources[archive], ["train.txt", "valid.txt", "test.txt"]).items():
        lines = Lines(f"{name} in {archive}", text, b"\t", 3)  # head, relation, tail
        parts[name] = {(lines.label(0), lines.label(2), lines.label(1)) for _ in lines}
    ones = sorted(set().union(*parts.values()))
    entities = {entity for head, tail, _ in ones for entity in (head, tail)}
    return Converted(
        files={
            "tensor.tsv.gz": table(header, ones),
            "split-valid.tsv.gz": table(header, sorted(parts["valid.txt"])),
            "split-test.tsv.gz": table(header, sorted(parts["test.txt"])),
            "entity-labels.tsv": table("entity", ([entity] for entity in sorted(entities))),
        },
        modes={
            "entity_i": len(entities),
            "entity_j": len(entities),
            "relation": len({relation for _, _, relation in ones}),
        },
        ones=len(ones),
    )


@dataclass
class _Entities:
    """Of a mode of DBLP, in the order of their file."""

    places: dict[int, int]  # by source id
    labels: list[bytes]
    areas: list[bytes]
    papers: list[int]

    def table(self, header: str, with_areas: bool) -> bytes:
        ids, papers = (b"%d" % i for i in self.places), (b"%d" % n for n in self.papers)
        columns = [self.labels, ids, self.areas, papers] if with_areas else [self.labels, ids, papers]
        return table(header, zip(*columns, strict=True))


def convert_dblp(sources: dict[str, Source]) -> Converted:
    authors = _entities(sources, "author.txt", people=True)
    terms = _entities(sources, "term.txt")
    venues = _entities(sources, "conf.txt")
    _read_areas(sources, "author_label.txt", authors)
    _read_areas(sources, "conf_label.txt", venues)
    notes: list[str] = []
    by_author = _papers(sources, "paper_author.txt", authors, notes)
    by_term = _papers(sources, "paper_term.txt", terms, notes)
    by_venue = _papers(sources, "paper_conf.txt", venues, notes)
    # (a, t, v): author a has a paper at venue v whose title has term t.
    ones = {
        (author, term, venue)
        for paper, of_paper in by_author.items()
        for author in of_paper
        for term in by_term.get(paper, ())
        for venue in by_venue.get(paper, ())
    }
    edges = {(a, b) for of_paper in by_author.values() for a in of_paper for b in of_paper if a < b}
    labels = [authors.labels, terms.labels, venues.labels]
    return Converted(
        files={
            "tensor.tsv.gz": cell_table("author\tterm\tvenue", sorted(ones), labels),
            "network-author.tsv.gz": cell_table("author\tauthor", sorted(edges), [authors.labels, authors.labels]),
            "author-labels.tsv": authors.table("author\tsource_id\tarea\tpapers", with_areas=True),
            "term-labels.tsv": terms.table("term\tsource_id\tpapers", with_areas=False),
            "venue-labels.tsv": venues.table("venue\tsource_id\tarea\tpapers", with_areas=True),
        },
        modes={"author": len(labels[0]), "term": len(labels[1]), "venue": len(labels[2])},
        ones=len(ones),
        edges=len(edges),
        notes=notes,
    )


def _entities(sources: dict[str, Source], file: str, people: bool = False) -> _Entities:
    """id TAB name. Names of people are not taken over: they are not needed, and some are damaged in the source."""
    places: dict[int, int] = {}
    labels: list[bytes] = []
    lines = Lines(file, sources[file].data, b"\t", 2, or_more=True)
    for _ in lines:
        source = lines.number(0)
        if source in places:
            lines.fail(0, f"id {source} is there twice")
        places[source] = len(labels)
        labels.append(b"author%05d" % (len(labels) + 1) if people else lines.label(1))
    return _Entities(places, distinct(labels, list(places)), [b"-"] * len(labels), [0] * len(labels))


def _read_areas(sources: dict[str, Source], file: str, entities: _Entities) -> None:
    """id TAB number of the area TAB name"""
    names = [b"Database", b"Data Mining", b"AI", b"Information Retrieval"]
    lines = Lines(file, sources[file].data, b"\t", 2, or_more=True)
    for _ in lines:
        area = names[lines.number(1, 3)]
        place = entities.places.get(lines.number(0))
        if place is not None:
            entities.areas[place] = area


def _papers(sources: dict[str, Source], file: str, entities: _Entities, notes: list[str]) -> dict[int, set[int]]:
    """paper TAB entity. The entities of each paper; ids that are not in the list of entities are left out and
    counted."""
    papers: dict[int, set[int]] = defaultdict(set)
    unknown = 0
    lines = Lines(file, sources[file].data, b"\t", 2, or_more=True)
    for _ in lines:
        place = entities.places.get(lines.number(1))
        if place is None:
            unknown += 1
        else:
            papers[lines.number(0)].add(place)
    for of_paper in papers.values():
        for place in of_paper:
            entities.papers[place] += 1
    if unknown:
        notes.append(f"{file}: {unknown} lines with ids that are not listed were left out")
    return papers
