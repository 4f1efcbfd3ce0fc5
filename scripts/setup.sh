#!/bin/sh
# Installs what ztp needs on Debian 12 (or a close relative) and is not there yet. Uses sudo where not root.
#   scripts/setup.sh build    compiler and libraries of the program
#   scripts/setup.sh test     the same, and what the tests need
#   scripts/setup.sh python   compiler and libraries, and what a virtual environment of Debian's Python needs to build
#                             the package ztp
#   scripts/setup.sh wheel    the same, and what the wheel's own HDF5 and netCDF need
#   scripts/setup.sh deb      compiler and libraries of the program, and what makes a Debian package
#   scripts/setup.sh chroots  what makes bare systems, to try the wheel and the Containerfile in
#   scripts/setup.sh bench    compiler and libraries of the program, and what the benchmarks need
#   scripts/setup.sh calibration   the same, and what the plots of the calibration tests need
#   scripts/setup.sh paper    compiler and libraries of the program, and what the plots of the paper's experiments need
set -eu
build="g++ make cmake ninja-build pkg-config libcli11-dev libfmt-dev nlohmann-json3-dev librandom123-dev
       libnetcdf-dev zlib1g-dev libzstd-dev libxxhash-dev libhwy-dev libeigen3-dev node-d3"
bench="libbenchmark-dev"
python="python3 python3-dev python3-venv"
# The report is tried in a real browser; text has no width without a font.
browser="chromium chromium-driver fonts-dejavu-core"
# The program is tried on several ranks.
mpi="openmpi-bin libopenmpi-dev"
test="libgtest-dev libboost-dev gzip zstd $python $bench $browser $mpi"

case "${1:-build}" in
  build) wanted="$build" ;;
  test) wanted="$build $test" ;;
  python) wanted="$build $python" ;;
  wheel) wanted="$build $python dpkg-dev git" ;;
  deb) wanted="$build dpkg-dev git" ;;
  chroots) wanted="$build $python dpkg-dev git debootstrap gnupg curl patchelf" ;;
  bench) wanted="$build $bench" ;;
  calibration) wanted="$build $test python3-matplotlib" ;;
  paper) wanted="$build python3-matplotlib" ;;
  *) echo "usage: $0 [build|test|python|wheel|deb|chroots|bench|calibration|paper]" >&2; exit 2 ;;
esac

missing=""
for package in $wanted; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing"
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || {
    echo "Not root and no sudo. As root, run: apt-get install$missing" >&2
    exit 1
  }
  sudo="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086  # the list is words on purpose
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
