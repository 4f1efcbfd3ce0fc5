#!/usr/bin/env python3
"""Puts the licences of everything in a wheel into it, and packs it so that the same files give the same bytes.

    scripts/wheel_pack.py WHEEL DEPENDENCIES FOLDER

DEPENDENCIES is what `ninja -t deps` says of its build: the headers that were compiled in. With the shared libraries in
the wheel, and those that build/wheel-libraries has built, they tell which packages have a part in it. A file that is of
no known package is an error. The result goes to FOLDER.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = ROOT / "build/wheel-libraries"
# Not in the headers: what the page of reports is made from.
D3 = ["/usr/share/nodejs/d3/dist/d3.min.js"]


def headers(dependencies: pathlib.Path) -> list[str]:
    lines = dependencies.read_text().splitlines()
    return sorted({os.path.realpath(line.strip()) for line in lines if line.startswith("    /")})


def shared_libraries(names: list[str]) -> list[str]:
    """Where the libraries of a wheel came from: libfmt-0123abcd.so.9.1.0 was libfmt.so.9.1.0."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    folders = sorted({os.path.dirname(path) for path in re.findall(r"=> (\S+)", known)})
    files = []
    for name in names:
        plain = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", name)
        found = [os.path.realpath(f"{folder}/{plain}") for folder in folders if os.path.exists(f"{folder}/{plain}")]
        if not found:
            sys.exit(f"{name}: nothing on this system is called {plain}")
        files.append(found[0])
    return files


def debian_packages(files: list[str]) -> dict[str, str]:
    """The package of each file."""
    # /lib is a link to /usr/lib, and the package may know either name.
    names = {name: file for file in files for name in (file, file.removeprefix("/usr"))}
    done = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True)
    owners = (line.rpartition(": ") for line in done.stdout.splitlines() if not line.startswith("diversion"))
    return {names[file]: packages.split(",")[0].split(":")[0] for packages, _, file in owners if file in names}


def of_debian(package: str) -> tuple[str, str, str]:
    form = "${source:Package} ${Version}"
    source, version = subprocess.run(
        ["dpkg-query", "-W", "-f", form, package], capture_output=True, text=True, check=True
    ).stdout.split()
    return package, f"{version}, of Debian's source package {source}", pathlib.Path(
        f"/usr/share/doc/{package}/copyright").read_text(errors="replace")  # fmt: skip


def built_here() -> list[tuple[str, str, str]]:
    """HDF5 and netCDF, from Debian's sources."""
    found = []
    for name in ("hdf5", "netcdf"):
        version = next(LIBRARIES.glob(f"{name}_*.dsc")).name.removesuffix(".dsc").partition("_")[2]
        text = (LIBRARIES / f"{name}-source/debian/copyright").read_text(errors="replace")
        found.append((name, f"{version}, built from Debian's source package", text))
    return found


def of_nanobind() -> tuple[str, str, str]:
    package = importlib.metadata.distribution("nanobind")
    texts = [file.locate().read_text() for file in package.files or [] if "LICENSE" in file.name.upper()]
    maps = [file for file in package.files or [] if file.name == "robin_map.h"]
    if not texts or not maps:
        sys.exit("nanobind has no licence file, or no robin_map.h")
    texts.append("robin_map:\n" + maps[0].locate().read_text().partition("#ifndef")[0])
    return "nanobind", f"{package.version}, with robin_map", "\n".join(texts)


def parts(dependencies: pathlib.Path, libraries: list[str]) -> list[tuple[str, str, str]]:
    """Name, version and licence of all that has a part in the wheel."""
    import nanobind

    here = (str(ROOT), os.path.dirname(os.path.realpath(nanobind.__file__)))
    python = tuple(os.path.realpath(sysconfig.get_path(name)) for name in ("include", "platinclude"))
    # The interpreter's own headers are of the interpreter that loads the wheel.
    files = [file for file in headers(dependencies) if not file.startswith((*here, *python))]
    files = [file for file in files if "/include/python3" not in file and "/python3." not in file]
    owners = debian_packages([*files, *D3, *shared_libraries(libraries)])
    unknown = [file for file in [*files, *D3] if file not in owners]
    if unknown:
        sys.exit("of no known package:\n" + "\n".join(unknown))
    packages = [*map(of_debian, sorted(set(owners.values()))), *built_here(), of_nanobind()]
    # Packages of one source have one text.
    names: dict[tuple[str, str], list[str]] = {}
    for name, version, text in sorted(packages):
        names.setdefault((version, text), []).append(name)
    return [(", ".join(group), version, text) for (version, text), group in names.items()]


def licences(found: list[tuple[str, str, str]]) -> str:
    listed = "\n".join(f"  {name} ({version})" for name, version, _ in found)
    texts = "\n".join(f"{'=' * 80}\n{name} ({version})\n{'=' * 80}\n{text.strip()}\n" for name, version, text in found)
    return (
        "This wheel contains ztp, which is under the Apache License 2.0 (LICENSE), and parts of the packages below:\n"
        "libraries, and what their headers compile to.\n\n"
        f"{listed}\n\nTheir licences, as the packages state them:\n\n{texts}"
    )


def record(files: dict[str, bytes], name: str) -> bytes:
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    lines = [f"{path},sha256={digest(data)},{len(data)}" for path, data in sorted(files.items()) if path != name]
    return "\n".join([*lines, f"{name},,", ""]).encode()


def main(wheel: str, dependencies: str, folder: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist() if not entry.endswith("/")}
    info = next(path.partition("/")[0] for path in files if path.endswith(".dist-info/WHEEL"))
    libraries = [os.path.basename(path) for path in files if path.startswith("ztp.libs/")]
    found = parts(pathlib.Path(dependencies), libraries)
    files = {path: data for path, data in files.items() if "/sboms/" not in path}  # names this machine's system
    files[f"{info}/licenses/THIRD-PARTY.txt"] = licences(found).encode()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    result = pathlib.Path(folder) / os.path.basename(wheel)
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, when)
            entry.external_attr = (0o100755 if ".so" in path else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(f"{result.name}: {result.stat().st_size / 1e6:.1f} MB, {len(libraries)} libraries beside the module:",
          " ".join(sorted(libraries)))
    print("With parts of:", ", ".join(name for name, _, _ in found))


if __name__ == "__main__":
    main(*sys.argv[1:])
