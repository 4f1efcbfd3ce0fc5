#!/bin/sh
# A bare Debian or Ubuntu in build/chroots/NAME, where NAME is bookworm, trixie, jammy or noble. Needs root and the
# package debootstrap. Mounts are those of one command only, so nothing is left mounted.
#   scripts/chroot.sh make NAME [AS]         makes it, if it is not there yet; AS is its folder, instead of NAME. The
#                                            bare system is kept, as NAME.tar
#   scripts/chroot.sh run NAME COMMAND...    runs a command in it. The environment variable FILES names a folder that is
#                                            /files there
#   scripts/chroot.sh python NAME            the path of its Python, made to run outside of it, too
set -eu
cd "$(dirname "$0")/.."
top="$PWD/build/chroots"
scripts=/usr/share/debootstrap/scripts

# The key of Ubuntu's archive is in a package of it, whose checksum stands here.
ubuntu_key() {
  key="$top/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
  [ -e "$key" ] || {
    file=ubuntu-keyring_2021.03.26_all.deb
    curl -sSfo "$top/$file" "$mirror/pool/main/u/ubuntu-keyring/$file"
    echo "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f  $top/$file" | sha256sum -c --quiet
    dpkg -x "$top/$file" "$top/keys"
  }
}

# NAME.tar is the bare system.
make_tar() {
  name="$1" root="$top/$1.partial"
  [ ! -e "$top/$name.tar" ] || return 0
  mkdir -p "$top"
  rm -rf "$root"
  echo "Making a bare $name"
  case "$name" in
    bookworm | trixie) set -- "$name" "$root" ;;
    jammy | noble)
      # debootstrap knows the archive. Newer releases of Ubuntu are made as older ones.
      mirror=$(grep -o 'http://archive[^ ]*' "$scripts/gutsy" | head -n 1)
      ubuntu_key
      set -- --components=main,universe --keyring="$key" "$name" "$root" "$mirror" "$scripts/gutsy" ;;
    *) echo "no such release: $name" >&2; exit 2 ;;
  esac
  debootstrap --variant=minbase "$@" >"$top/$name.log" 2>&1 || { tail -n 20 "$top/$name.log"; exit 1; }
  tar -C "$root" --one-file-system -cf "$top/$name.tar.partial" .
  mv "$top/$name.tar.partial" "$top/$name.tar"
  rm -rf "$root"
}

make_chroot() {
  root="$top/${2:-$1}"
  [ ! -e "$root/made" ] || return 0
  make_tar "$1"
  root="$top/${2:-$1}"
  rm -rf "$root"
  mkdir "$root"
  tar -C "$root" -xf "$top/$1.tar"
  # Names of hosts, and where pip gets packages from, as here.
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  touch "$root/made"
}

run() {
  export ROOT="$top/$1" FILES="${FILES:-}"
  shift
  # pip trusts the same certificates as here.
  [ -z "${PIP_CERT:-}" ] || cp "$PIP_CERT" "$ROOT/etc/pip-certificates.pem"
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork sh -eu -c '
    mount -t proc proc "$ROOT/proc"
    mount --rbind /dev "$ROOT/dev"
    [ -z "$FILES" ] || { mkdir -p "$ROOT/files"; mount --bind "$FILES" "$ROOT/files"; }
    exec chroot "$ROOT" env -i PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin HOME=/root LC_ALL=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive ${PIP_CERT:+PIP_CERT=/etc/pip-certificates.pem} \
      ${CMAKE_BUILD_PARALLEL_LEVEL:+CMAKE_BUILD_PARALLEL_LEVEL="$CMAKE_BUILD_PARALLEL_LEVEL"} "$@"' - "$@"
}

# Its Python, to build with the compiler of this system. The headers are unpacked only: the chroot stays without a
# compiler.
python() {
  root="$top/$1"
  run "$1" sh -eu -c 'command -v python3 >/dev/null || { apt-get -qq update; apt-get -qq install -y --no-install-recommends python3 python3-venv; }' >"$top/python.log" 2>&1 ||
    { tail -n 20 "$top/python.log" >&2; exit 1; }
  version=$(basename "$(readlink "$root/usr/bin/python3")")
  here="$root/usr/bin/$version-outside"
  [ -e "$here" ] || {
    run "$1" sh -eu -c "cd /tmp; apt-get -qq download lib$version-dev 2>/dev/null; dpkg -x lib$version-dev_*.deb headers" >&2
    cp -r "$root/tmp/headers/usr/include/." "$root/usr/include/"
    ln -sfn ../x86_64-linux-gnu "$root/usr/include/$version/x86_64-linux-gnu"
    cp "$root/usr/bin/$version" "$here.tmp"
    # An older one runs with the libraries of this system.
    "$here.tmp" -c '' 2>/dev/null || patchelf --set-interpreter "$root/lib64/ld-linux-x86-64.so.2" --force-rpath \
      --set-rpath "$root/usr/lib/x86_64-linux-gnu" "$here.tmp"
    mv "$here.tmp" "$here"
  }
  echo "$here"
}

command="${1:-}"
[ $# -lt 2 ] || shift
case "$command" in
  make) make_chroot "$@" ;;
  run) run "$@" ;;
  python) python "$@" ;;
  *) sed -n '2,9p' "$0" >&2; exit 2 ;;
esac
