#!/bin/sh
# The wheels of a release.
#   scripts/wheel_release.sh build     builds them: for Python 3.10 (of Ubuntu 22.04), 3.11 (of Debian 12), and 3.12 and
#                                      later (built with that of Ubuntu 24.04), and tries the second
#   scripts/wheel_release.sh chroots   tries each where its Python is (scripts/wheel_chroots.sh)
#   scripts/wheel_release.sh again     builds them once more from a clone of the same commit in another folder, and
#                                      compares the bytes. PYTHONS names other interpreters
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
  build)
    for name in jammy noble; do scripts/chroot.sh make "$name"; done
    # shellcheck disable=SC2046  # words
    exec scripts/wheel.sh $(for name in jammy noble; do scripts/chroot.sh python "$name"; done) "${PYTHON:-python3}" ;;
  chroots) exec scripts/wheel_chroots.sh ;;
  again)
    again="$PWD/build/again/a-longer-path-to-the-same-commit"
    rm -rf "$again"
    git clone -q . "$again"
    # shellcheck disable=SC2046
    "$again/scripts/wheel.sh" --no-test ${PYTHONS:-$(for name in jammy noble; do scripts/chroot.sh python "$name"; done) "${PYTHON:-python3}"}
    for wheel in "$again"/build/wheel/*.whl; do
      cmp "$wheel" "build/wheel/$(basename "$wheel")"
      echo "$(basename "$wheel"): the same bytes"
    done ;;
  *) sed -n '2,8p' "$0" >&2; exit 2 ;;
esac
