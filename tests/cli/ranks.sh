#!/bin/sh
# The program as an MPI launcher starts it, where it has no library to talk to other processes.
. "$2/tests/cli/common.sh.inc"

# Alone in its folder, whatever was built beside it.
mkdir alone
cp "$ztp" alone/
alone="$work/alone/$(basename "$ztp")"
unset LD_LIBRARY_PATH

expect 4 'this process was started by an MPI launcher, but libztp_mpi.so was not found' \
  env OMPI_COMM_WORLD_SIZE=2 "$alone" --version
expect 4 "build it with 'make mpi', where Open MPI's development package (libopenmpi-dev) is installed" \
  env PMI_RANK=0 PMI_SIZE=2 "$alone" --version
expect 4 'or start the program without the launcher' env PMIX_RANK=1 "$alone" --version

# One process, or the script of a batch job, needs none.
expect 0 'ztp 1.' env OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0 "$alone" --version
expect 0 'ztp 1.' env SLURM_PROCID=0 SLURM_NTASKS=4 "$alone" --version

printf 'nothing' >alone/libztp_mpi.so
expect 4 'libztp_mpi.so cannot be loaded: ' env OMPI_COMM_WORLD_SIZE=2 "$alone" --version
finish
