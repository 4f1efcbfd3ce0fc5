#!/bin/sh
# Builds build/deb/ztp_VERSION_ARCHITECTURE.deb: the program with its manual page, the library, its headers and its CMake
# package. The same commit gives the same bytes, in every folder (see wheel.sh).
set -eu
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
out="$PWD/build/deb"
root="$out/root"
version=$(sed -n 's/^project(ztp VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)
libraries="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
# Whoever publishes the package names an address that is read.
maintainer="${DEBFULLNAME:-The ztp developers} <${DEBEMAIL:-ztp@example.org}>"
when=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
rm -rf "$root" "$out/debian" "$out"/*.deb

CXXFLAGS="-ffile-prefix-map=$PWD=." cmake -G Ninja -S . -B "$out/cmake" -DCMAKE_BUILD_TYPE=Release -DZTP_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="$libraries" >/dev/null
cmake --build "$out/cmake"
DESTDIR="$root" cmake --install "$out/cmake" --strip >/dev/null
strip --strip-debug --enable-deterministic-archives "$root/usr/$libraries"/*.a

documents="$root/usr/share/doc/ztp"
mkdir -p "$documents" "$root/usr/share/man/man1" "$root/DEBIAN" "$out/debian"
{
  printf 'ztp (%s) unstable; urgency=medium\n\n  * What is new: CHANGELOG.md.gz.\n\n' "$version"
  printf ' -- %s  %s\n' "$maintainer" "$when"
} | gzip -9n >"$documents/changelog.gz"
gzip -9nc CHANGELOG.md >"$documents/CHANGELOG.md.gz"
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n'
  printf 'Files: *\nCopyright: The ztp developers\nLicense: Apache-2.0\n\n'
  printf 'License: Apache-2.0\n On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n\n'
  printf 'Comment:\n The program contains D3, which its reports use; its notice follows.\n .\n'
  sed 's/^$/./; s/^/ /' /usr/share/doc/node-d3/copyright
} >"$documents/copyright"
scripts/man_page.sh "$root/usr/bin/ztp" "$SOURCE_DATE_EPOCH" | gzip -9n >"$root/usr/share/man/man1/ztp.1.gz"

# What the program needs, by the symbols that it uses; and what a program of one's own needs to be built with the library.
printf 'Source: ztp\n\nPackage: ztp\nArchitecture: any\n' >"$out/debian/control"
depends=$(cd "$out" && dpkg-shlibdeps -O "$root/usr/bin/ztp" 2>/dev/null | sed 's/^shlibs:Depends=//')
cat >"$root/DEBIAN/control" <<END
Package: ztp
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: science
Priority: optional
Depends: $depends
Suggests: cmake, g++, libfmt-dev, libhwy-dev, libnetcdf-dev, libxxhash-dev, libzstd-dev, pkg-config, zlib1g-dev
Installed-Size: $(du -k -s "$root/usr" | cut -f1)
Description: Bayesian factorization of massive sparse binary tensors
 ztp takes a list of things that happened, such as who bought what in which
 week. It finds the topics behind the list, and gives every cell that is not on
 the list a probability, with its uncertainty.
 .
 The package has the program ztp, and the library with its headers and its CMake
 package. To build programs with the library, install what is suggested, too.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod 644 {} +
chmod 755 "$root/usr/bin/ztp"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/ztp_${version}_$architecture.deb" >/dev/null
if command -v lintian >/dev/null; then lintian --allow-root --fail-on error "$out"/*.deb; fi
ls -l "$out"/*.deb
