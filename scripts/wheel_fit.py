#!/usr/bin/env python3
"""A fit with the installed package ztp, and its answers: `python wheel_fit.py` prints one line."""

import os
import platform
import sys
import tempfile

import ztp


def main() -> None:
    world = ztp.simulate((60, 40, 12), 3000, rank=4, edges={0: 100})
    parts = ztp.split(world.X, holdout=0.1)
    with tempfile.TemporaryDirectory() as folder:
        model = ztp.TensorFactorization(rank=8, sweeps=200, chains=2, out=os.path.join(folder, "run"))
        model.fit(parts.train, missing=parts.test, labels=parts.labels, network=world.network)
        score = model.score(parts.test, parts.test_y)
        report = os.path.join(folder, "report.html")
        model.report(report)
        assert score > 0.85, score
        assert os.path.getsize(report) > 100_000
        again = ztp.Posterior(model.run_dir_)
        assert (again.predict_proba(parts.test) == model.predict_proba(parts.test)[:, 1]).all()
    with open("/etc/os-release") as file:
        name = next(line.split("=")[1].strip().strip('"') for line in file if line.startswith("PRETTY_NAME"))
    print(f"{name}, Python {platform.python_version()}, glibc {platform.libc_ver()[1]}: ztp {ztp.__version__} from "
          f"{os.path.basename(ztp._core.__file__)} fits; AUC-ROC {score:.4f}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
