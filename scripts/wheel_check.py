#!/usr/bin/env python3
"""Does a wheel that is installed need nothing of the system but the C and C++ runtime and zlib, and get on with other
HDF5 libraries?

    scripts/wheel_check.py alone|first|last

alone: which shared libraries of the system come into the process with ztp, by a fit and its answers. first, last: the
same with netCDF4 and h5py, which bring libraries of their own, imported after or before ztp; all three write and read.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile

RUNTIME = re.compile(r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libz)\.so.*")
BESIDE_IT = ["numpy", "pandas", "sklearn.base", "sklearn.utils.validation", "tqdm.auto"]


def libraries() -> set[str]:
    """The shared libraries of this process that are neither Python's nor of a package."""
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if ".so" in line}
    return {file for file in files if not file.startswith((sys.prefix, sys.base_prefix + "/lib/python"))}


def fit_and_ask(directory: str) -> None:
    import ztp

    world = ztp.simulate((30, 20, 10), 500, rank=3, edges={0: 40})
    model = ztp.TensorFactorization(rank=5, sweeps=60, out=os.path.join(directory, "run"), force=True)
    model.fit(world.X, network=world.network)
    again = ztp.Posterior(model.run_dir_)
    assert (again.predict_proba(world.X) == model.predict_proba(world.X)[:, 1]).all()
    assert abs(again.factor("mode1").sum(axis=0) - 1).max() < 1e-5


def others_write_and_read(directory: str) -> None:
    import h5py
    import netCDF4
    import numpy as np

    with netCDF4.Dataset(os.path.join(directory, "run/draws.nc")) as file:
        u = file["posterior/u_mode1"][:]
    with h5py.File(os.path.join(directory, "run/draws.nc")) as file:
        assert (file["posterior/u_mode1"][:] == u).all()
    with netCDF4.Dataset(os.path.join(directory, "four.nc"), "w") as file:
        file.createDimension("n", u.size)
        file.createVariable("u", "f4", ("n",), zlib=True)[:] = u.ravel()
    with h5py.File(os.path.join(directory, "four.nc")) as file:
        assert (file["u"][:] == u.ravel()).all()
    with h5py.File(os.path.join(directory, "five.h5"), "w") as file:
        file.create_dataset("u", data=np.asarray(u), compression="gzip")
    with h5py.File(os.path.join(directory, "five.h5")) as file:
        assert (file["u"][:] == u).all()


def main(order: str) -> None:
    modules = {"alone": ["ztp"], "first": ["ztp", "netCDF4", "h5py"], "last": ["netCDF4", "h5py", "ztp"]}[order]
    for name in BESIDE_IT:
        importlib.import_module(name)
    before = libraries()
    for name in modules:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as directory:
        fit_and_ask(directory)
        if order != "alone":
            others_write_and_read(directory)
            fit_and_ask(directory)
            others_write_and_read(directory)
    added = sorted(file for file in libraries() - before if not RUNTIME.fullmatch(os.path.basename(file)))
    if order == "alone" and added:
        sys.exit("ztp takes libraries from the system:\n" + "\n".join(added))
    print(
        f"{', '.join(modules)}: works"
        + ("; it loads nothing of the system but the C and C++ runtime and zlib" if order == "alone" else "")
    )


if __name__ == "__main__":
    main(sys.argv[1])
