#!/bin/sh
# Installs the wheels of build/wheel with pip in bare systems, and fits there: Ubuntu 22.04 (Python 3.10), Debian 12
# (3.11), Ubuntu 24.04 (3.12) and Debian 13 (3.13). Needs root. The systems are made by scripts/chroot.sh.
# Names of systems as arguments: those alone.
set -eu
cd "$(dirname "$0")/.."
wheels="$PWD/build/wheel"
cp scripts/wheel_fit.py "$wheels/"
# pip takes the wheel of its interpreter.
version=$(ls "$wheels"/*.whl | sed -n '1s/.*ztp-\([^-]*\)-.*/\1/p')
for name in ${*:-jammy bookworm noble trixie}; do
  scripts/chroot.sh make "$name"
  FILES="$wheels" scripts/chroot.sh run "$name" sh -eu -c "
    command -v python3 >/dev/null && [ -e /usr/share/doc/python3-venv ] || {
      apt-get -qq update
      apt-get -qq install -y --no-install-recommends python3 python3-venv
    } >/dev/null 2>&1
    rm -rf /venv
    python3 -m venv /venv
    /venv/bin/pip install -q --find-links /files ztp==$version
    /venv/bin/python /files/wheel_fit.py"
done
