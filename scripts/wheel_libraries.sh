#!/bin/sh
# Builds HDF5 and netCDF for the wheel, from Debian's sources, without what the wheel has no use for: reading over the
# network, XML, encryption, tools. Both are static, in build/wheel-libraries/static. Debian's own builds bring 30 more
# libraries. They stay as long as this script and Debian's versions are the same.
set -eu
cd "$(dirname "$0")/.."
top="$PWD/build/wheel-libraries"
mkdir -p "$top/apt/lists/partial"
cd "$top"

# The archive of Debian's packages has the sources, too. apt checks their signatures.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u >apt/sources.list
sources() {
  apt-get -qq -o Dir::Etc::SourceList="$top/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$top/apt/lists" -o APT::Sandbox::User=root "$@"
}
sources update
made_from="$(sources source --print-uris hdf5 netcdf) $(cksum <"$OLDPWD/scripts/wheel_libraries.sh") $top"
[ "$(cat made-from 2>/dev/null)" != "$made_from" ] || exit 0

echo "Building HDF5 and netCDF"
rm -rf static build hdf5-* netcdf-*
sources source --download-only hdf5 netcdf
dpkg-source --no-check -x hdf5_*.dsc hdf5-source >sources.log
dpkg-source --no-check -x netcdf_*.dsc netcdf-source >>sources.log

# build SOURCE OPTIONS...: no path of this machine goes into the object files.
build() {
  source="$1"
  shift
  mkdir -p "build/$source"
  cd "build/$source"
  { cmake -G Ninja "../../$source" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$top/static" \
      -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
      -DCMAKE_C_FLAGS="-ffile-prefix-map=$top=. -fvisibility=hidden" "$@" && cmake --build . && cmake --install .; } >log 2>&1 ||
    { tail -n 30 log; exit 1; }
  cd "$top"
}
build hdf5-source -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF \
  -DHDF5_BUILD_JAVA=OFF -DHDF5_ENABLE_ROS3_VFD=OFF -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON \
  -DHDF5_ENABLE_EMBEDDED_LIBINFO=OFF
build netcdf-source -DENABLE_DAP=OFF -DENABLE_BYTERANGE=OFF -DENABLE_NCZARR=OFF -DENABLE_LIBXML2=OFF -DENABLE_TESTS=OFF \
  -DBUILD_UTILITIES=OFF -DENABLE_EXAMPLES=OFF -DENABLE_PLUGINS=OFF -DENABLE_FILTER_TESTING=OFF \
  -DENABLE_REMOTE_FORTRAN_BOOTSTRAP=OFF -DCMAKE_PREFIX_PATH="$top/static" -DHDF5_ROOT="$top/static"

# The names by which CMakeLists.txt asks for them. zlib is the system's.
mkdir -p static/pkgconfig
module() {
  printf 'Name: %s\nDescription: static\nVersion: %s\nCflags: -I%s/include\nLibs: %s\n' "$1" "$2" "$top/static" "$3" \
    >"static/pkgconfig/$1.pc"
}
version() { basename "$1"_*.dsc .dsc | sed 's/^[^_]*_//'; }
module hdf5 "$(version hdf5)" "-L$top/static/lib -lhdf5 -lz -ldl -lm"
module netcdf "$(version netcdf)" "-L$top/static/lib -lnetcdf -lhdf5_hl -lhdf5 -lz -ldl -lm"
echo "$made_from" >made-from
