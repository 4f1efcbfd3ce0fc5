"""A server on loopback for test_datasets.py: small files in the formats of the public homes, and every way in which a
home can fail.

The first part of a path says how it is served, the rest is the file: /ok/ml-100k.zip, /truncated/ml-100k.zip. All
contents are made up.
"""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import struct
import tarfile
import threading
import time
import zipfile
import zlib


# MATLAB 5 files
def element(order, kind, data, pad=True):
    if 0 < len(data) <= 4 and kind != 14:  # small: in the place of the tag
        return struct.pack(order + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(data)) + data + (b"\0" * (-len(data) % 8) if pad else b"")


def array(order, name, kind, dims, content):
    head = element(order, 6, struct.pack(order + "II", kind, 0))
    head += element(order, 5, struct.pack(f"{order}{len(dims)}i", *dims)) + element(order, 1, name.encode())
    return element(order, 14, head + content)


def doubles(order, name, dims, numbers):
    return array(order, name, 6, dims, element(order, 9, struct.pack(f"{order}{len(numbers)}d", *numbers)))


def small_numbers(order, name, dims, numbers):  # class double, stored as bytes: what MATLAB does with whole numbers
    return array(order, name, 6, dims, element(order, 2, bytes(numbers)))


def text(order, name, rows):  # column by column, 16 bits a character
    width = max(map(len, rows))
    letters = [row.ljust(width)[j] for j in range(width) for row in rows]
    codes = struct.pack(f"{order}{len(letters)}H", *map(ord, letters))
    return array(order, name, 4, [len(rows), width], element(order, 4, codes))


def cells(order, name, strings):
    return array(order, name, 1, [len(strings), 1], b"".join(text(order, "", [s]) for s in strings))


def structure(order, name):
    return array(order, name, 2, [1, 1], element(order, 5, struct.pack(order + "i", 8)) + element(order, 1, b""))


def mat_file(order, arrays, compress):
    body = b""
    for one in arrays:
        body += element(order, 15, zlib.compress(one), pad=False) if compress else one
    return b"MATLAB 5.0 MAT-file, made up".ljust(124) + struct.pack(order + "HH", 0x100, 0x4D49) + body


def relations(size, count, ones):
    numbers = [0] * (size * size * count)
    for i, j, r in ones:
        numbers[i + size * (j + size * r)] = 1
    return numbers


KIN = relations(3, 2, [(0, 1, 0), (2, 1, 0), (1, 1, 1), (0, 2, 1)])
kin_arrays = [
    structure("<", "notes"),
    small_numbers("<", "Rs", [3, 3, 2], KIN),
    small_numbers("<", "atts", [1, 3], [1, 2, 4]),
    doubles("<", "features", [3, 2], [5, 6, 7, 0.5, -1, 294]),
]
uml_numbers = [float(x) for x in relations(2, 3, [(0, 0, 2), (1, 0, 0), (1, 1, 2)])]
uml_numbers[3] = float("nan")
UML = [
    doubles(">", "Rs", [2, 2, 3], uml_numbers),
    cells(">", "names", ["Cell_Part", "Virus"]),
    text(">", "relnames", ["affects", "is", "part_of"]),
    cells(">", "gnames", ["Anatomy", "Living_Beings"]),
]


def archive_zip(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def archive_tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            if content is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content or b""))
    return gzip.compress(out.getvalue())


movie_files = {
    "u.data": b"2\t30\t4\t880000001\n1\t10\t5\t880000002\n1\t20\t1\t880000003\n2\t10\t3\t880000004\n",
    "u.item": "10|Harbour, The (1951)|01-Jan-1951||http://x/|0|1\n20|Été (1960)|01-Jan-1960||http://x/|1|1\n"
    "30|Harbour, The (1951)|||http://x/|0|0\n".encode("latin-1"),
    "u.user": b"1|30|F|writer|00001\n2|41|M|none|00002\n",
    "u.genre": b"unknown|0\nDrama|1\n\n",
}


def movies(**changed):
    return archive_zip([("ml-100k/" + name, changed.get(name[2:], content)) for name, content in movie_files.items()])


triples = [
    ("./train.txt", b"/m/b\t/r/in\t/m/a\n/m/a\t/r/of\t/m/c\n"),
    ("./._train.txt", b"not this one"),
    ("./valid.txt", b"/m/a\t/r/in\t/m/b\n"),
    ("./test.txt", b"/m/c\t/r/of\t/m/b\r\n/m/c\t/r/of\t/m/b\r\n"),
]
wall = b"7\t3\t1199145600\n7\t3\t1199145599\n7\t3\t1199145000\n3\t3\t1199145600\n20\t7\t0\n"
links = b"3\t7\t\\N\n7\t3\t1199145600\n7\t7\t\\N\n20\t100\t1199145600\n"

GOOD = {
    "ml-100k.zip": movies(),
    "alyawarradata.mat": mat_file("<", kin_arrays, True),
    "uml.mat": mat_file(">", UML, False),
    "facebook-wall.txt.gz": gzip.compress(wall),
    "facebook-links.txt.gz": gzip.compress(links),
    "FB15k-237.tar.gz": archive_tar(triples),
    "author.txt": b"4\tAnn A\n9\tBob\0B\n11\tCat C\n",
    "term.txt": b"1\tsparse\n2\ttensor\n5\tsparse\n",
    "conf.txt": b"36\tAAAI\n40\tSIGMOD \n",
    "author_label.txt": b"9\t1\tBob\0B\n",
    "conf_label.txt": b"36\t2\tAAAI\t\n40\t0\tSIGMOD \t\n",
    "paper_author.txt": b"100\t4\n100\t9\n101\t11\n102\t4\n",
    "paper_term.txt": b"100\t2\n100\t1\n101\t5\n101\t77\n102\t2\n",
    "paper_conf.txt": b"100\t40\n101\t36\n102\t40\n",
}
BAD_LINE = {
    "ml-100k.zip": movies(data=b"1\t10\t5\t880000002\n1\tten\t5\t880000002\n"),
    "alyawarradata.mat": mat_file("<", kin_arrays[:1], True),
    "uml.mat": mat_file(">", [UML[0], cells(">", "names", ["One"]), UML[2]], False),
    "facebook-wall.txt.gz": gzip.compress(wall + b"1\t2\n"),
    "FB15k-237.tar.gz": archive_tar(triples[:2] + [("valid.txt", b"a\tb\t\n")] + triples[3:]),
    "paper_author.txt": b"100\t4\n100\t-9\n",
}
OTHER = {  # archives that are fine but for what is in them
    "ml-100k.zip": archive_zip([("ml-100k/u.data", movie_files["u.data"]), ("../u.user", b"x")]),
    "FB15k-237.tar.gz": archive_tar(triples[1:] + [("train.txt", None)]),
}
TWICE = {"ml-100k.zip": archive_zip([("a/u.data", b"1\n"), ("b/u.data", b"2\n")])}
SLIP = {"FB15k-237.tar.gz": archive_tar([("../../../" + name[2:], content) for name, content in triples])}
BOMB = {
    "FB15k-237.tar.gz": gzip.compress(bytes(16 << 20)) * 17,
    "alyawarradata.mat": mat_file("<", [element("<", 15, zlib.compress(bytes(16 << 20)), pad=False)] * 17, False),
}


def flipped(body, at):
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


FLIPPED = {  # in the first file of the zip; near the end of the others
    "ml-100k.zip": flipped(GOOD["ml-100k.zip"], 50),
    "FB15k-237.tar.gz": flipped(GOOD["FB15k-237.tar.gz"], -20),
    "alyawarradata.mat": flipped(GOOD["alyawarradata.mat"], -20),
}
NOTHING = {name: b"" for name in GOOD if name.endswith(".txt")}
CUT = {"ml-100k.zip": GOOD["ml-100k.zip"][:300]}  # with a checksum that agrees
SETS = {
    "badline": BAD_LINE,
    "bomb": BOMB,
    "cut-with-sum": CUT,
    "flipped": FLIPPED,
    "nothing": NOTHING,
    "other": OTHER,
    "slip": SLIP,
    "twice": TWICE,
}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def answer(self, status, body, length=None, **headers):
        self.send_response(status)
        if length is not False:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        how, _, name = self.path.lstrip("/").partition("/")
        name = name.rpartition("/")[2]
        contents = SETS.get(how, {})
        body = contents.get(name, GOOD.get(name))
        if name.endswith(".md5"):
            base = name[:-4]
            known = contents.get(base, GOOD.get(base))
            body = f"MD5 ({base}) = {hashlib.md5(known).hexdigest()}\n".encode() if known else None
            wrong = {"badsum": f"{'0' * 32}  {base}\n".encode(), "nosum": None, "oddsum": b"<html>sorry</html>"}
            body = wrong.get(how, body)
        try:
            self.serve(how, name, body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the program gave up, as it should

    def serve(self, how, name, body):
        if how == "loop":
            self.answer(302, b"", Location=f"/loop/again/{name}")
        elif how == "moved":
            self.answer(301, b"", Location=f"/ok/{name}")
        elif how == "tofile":
            self.answer(302, b"", Location="file:///etc/passwd")
        elif how == "encoded":
            self.answer(200, body, **{"Content-Encoding": "gzip"})
        elif how == "html":
            self.answer(200, b"<html>This page has moved.</html>")
        elif how == "empty":
            self.answer(200, b"")
        elif how == "broken":
            self.answer(500, b"no")
        elif how == "truncated":
            self.answer(200, body[: len(body) // 2], length=len(body))
        elif how == "cut":
            self.answer(200, body[: len(body) // 2])
        elif how == "silent":
            time.sleep(30)
        elif how == "hang":
            self.answer(200, body[:100], length=len(body))
            self.wfile.flush()
            time.sleep(30)
        elif how == "huge":
            self.answer(200, b"", length=1 << 40)
        elif how == "endless":
            self.answer(200, b"", length=False)
            while True:
                self.wfile.write(bytes(1 << 20))
        elif body is None or how == "missing":
            self.answer(404, b"nothing here")
        else:
            self.answer(200, body)


class Server:
    """Serves until the end of the with statement. `address` has no slash at its end."""

    def __enter__(self) -> Server:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.block_on_close = False  # some requests are made to hang
        self._server.shutdown()
        self._server.server_close()
