#!/bin/sh
# A folder with ztp, libztp_mpi.so and this machine's Open MPI that runs several processes on one machine, where nothing
# is installed: any Linux of the same architecture with a shell. FOLDER/bin/mpirun starts ranks of FOLDER/bin/ztp.
#   scripts/cluster_bundle.sh FOLDER BUILD      BUILD: where `make mpi` has put ztp and libztp_mpi.so
set -eu
[ $# -eq 2 ] || { echo "usage: $0 FOLDER BUILD" >&2; exit 2; }
folder=$1 build=$2
scripts=$(cd "$(dirname "$0")" && pwd)
info() { ompi_info --parsable --path "$1" | cut -d : -f 3; }
plugins=$(info pkglibdir) data=$(info pkgdatadir) prefix=$(info prefix)
# PMIx has a prefix of its own.
pmix=$(pkg-config --variable=prefix pmix 2>/dev/null) || pmix=
[ -d "$pmix/lib/pmix" ] || pmix=$(dirname "$(dirname "$(find /usr/lib -type d -path '*/lib/pmix' | head -n 1)")")
if [ ! -d "$plugins" ] || [ ! -d "$pmix/lib/pmix" ]; then
  echo "there is no Open MPI 4 with PMIx here" >&2
  exit 1
fi

# Plugins for networks and batch systems need libraries of their own, and are of no use on one machine.
needed() {
  for plugin in "$@"; do
    ldd "$plugin" | grep -q -E 'libfabric|libuc[pst]|libpsm|libibverbs|librdmacm|libslurm|liblustre|libcuda' || echo "$plugin"
  done
}
# shellcheck disable=SC2046
"$scripts/bundle.sh" "$folder" "$build/ztp" "$build/libztp_mpi.so" "$(command -v orterun)" \
  $(needed "$plugins"/*.so "$pmix/lib/pmix"/*.so)
# Each where Open MPI and PMIx look below their prefix, and libztp_mpi.so where the loader finds it.
mkdir -p "$folder$plugins" "$folder$pmix/lib/pmix" "$folder$data" "$folder/bin"
mv "$folder/libztp_mpi.so" "$folder/lib/"
for plugin in "$folder"/*.so; do
  if [ -e "$plugins/$(basename "$plugin")" ]; then mv "$plugin" "$folder$plugins/"; else mv "$plugin" "$folder$pmix/lib/pmix/"; fi
done
cp "$data"/*.txt "$folder$data/"
if [ -d "$pmix/share/pmix" ]; then
  mkdir -p "$folder$pmix/share"
  cp -RL "$pmix/share/pmix" "$folder$pmix/share/"
fi

cat >"$folder/bin/ztp" <<'END'
#!/bin/sh
exec "$(dirname "$0")/../run" ztp "$@"
END
cat >"$folder/bin/mpirun" <<END
#!/bin/sh
here=\$(cd "\$(dirname "\$0")/.." && pwd)
export OPAL_PREFIX="\$here$prefix" PMIX_INSTALL_PREFIX="\$here$pmix" PMIX_MCA_mca_base_component_path="\$here$pmix/lib/pmix"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Ranks talk through memory, and no other machine is asked for anything.
export OMPI_MCA_btl=self,vader OMPI_MCA_plm=isolated
export HOME="\${HOME:-/tmp}" # PMIx needs one, also where there is no /etc/passwd
exec "\$here/run" orterun "\$@"
END
chmod +x "$folder/bin/ztp" "$folder/bin/mpirun"
