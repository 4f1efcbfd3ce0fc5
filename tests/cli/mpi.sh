#!/bin/sh
# Several processes that share a run draw the same bytes as one, whatever is fitted: draws, means, trace, watched cells.
. "$2/tests/cli/common.sh.inc"
several_processes

# Modes of many rows, and of fewer than there are processes; some entities have no ones.
"$ztp" simulate --dims 1500,1100,5 --ones 6000 --rank 5 --mode-names user,item,week --edges user=2000 --seed 3 \
  --out made >/dev/null
awk -F '\t' '!/^#/ { print $0 "\t" 1 + $1 % 7 * ($2 % 3) }' made/tensor.tsv >counts.tsv
"$ztp" simulate --kind relations --dims 900,6,900 --communities 6 --rank 40 --ones 5000 --mode-names s,r,o --seed 2 \
  --out rel >/dev/null
printf '7\n1400\n' >slices.tsv
grep -v -e '^7	' -e '^1400	' made/tensor.tsv >few.tsv
# Cells of entities that are there, in another order: hardly any of them is a one.
tail -n +2 few.tsv | head -n 40 >some.tsv
cut -f 1 some.tsv | sort -R --random-source=few.tsv >users.txt
cut -f 2- some.tsv | paste users.txt - | grep -v -x -F -f few.tsv >cells.tsv
"$ztp" convert made/tensor.tsv --labels user=made/labels/user.txt made.ztpt >/dev/null

# as_one RANKS NAME WORDS...: ztp fit WORDS draws the same with so many processes as with one.
as_one() {
  ranks=$1 name=$2
  shift 2
  case " $* " in *" --rank "*) short="" ;; *) short="--rank 7 " ;; esac
  short="$short --sampler plain --sweeps 12 --burn-in 6 --threads 1"
  if [ ! -d "one/$name" ]; then
    mkdir -p one
    # shellcheck disable=SC2086
    "$ztp" fit $short "$@" --out "one/$name" >out.txt 2>&1 || { echo "FAILED: $name alone"; cat out.txt; failed=1; return; }
  fi
  code=0
  # shellcheck disable=SC2086
  mpirun -n "$ranks" "$ztp" fit $short "$@" --out several >out.txt 2>&1 || code=$?
  [ "$code" -eq 0 ] || { echo "FAILED: $name with $ranks processes: exit code $code"; cat out.txt; failed=1; }
  for file in draws.nc means.nc cells.tsv watched.tsv test.tsv data.bin; do
    [ ! -e "one/$name/$file" ] || cmp "one/$name/$file" "several/$file" || { echo "FAILED: $name, $ranks"; failed=1; }
  done
  seconds=$(awk -F '\t' '{ for (i = 1; i <= NF; ++i) if ($i == "seconds") print i; exit }' "one/$name/trace.tsv")
  for run in "one/$name" several; do cut --complement -f "$seconds" "$run/trace.tsv" >"$(basename "$run").trace"; done
  cmp "$(basename "$name").trace" several.trace || { echo "FAILED: trace of $name with $ranks processes"; failed=1; }
  rm -rf several
}

held_out="--holdout 0.1 --zeros-per-one 2"
binary="made/tensor.tsv --chains 1 $held_out"
several="made/tensor.tsv --chains 3 $held_out"
relations="rel/tensor.tsv --chains 1 --tie s=o --self-cells missing --rank 60 $held_out"
shared="$relations --columns s=10,r=own"
shared_one_mode="$relations --columns s=10"
network="made/tensor.tsv --chains 1 --network user=made/network-user.tsv --labels user=made/labels/user.txt"
for ranks in ${ZTP_RANKS:-1 2 3 4 7}; do
  as_one "$ranks" binary $binary
  as_one "$ranks" chains $several
  as_one "$ranks" shared $shared
done
for ranks in ${ZTP_RANKS:-2 7}; do
  as_one "$ranks" counts counts.tsv --chains 1 --likelihood count $held_out
  as_one "$ranks" learned $network --learn dirichlet,gamma-shape
  as_one "$ranks" slices few.tsv --chains 1 $held_out --labels user=made/labels/user.txt --missing-slices user=slices.tsv --missing cells.tsv
  as_one "$ranks" small_dirichlet $binary --dirichlet 0.005
  as_one "$ranks" shared_one_mode $shared_one_mode
done
for ranks in ${ZTP_RANKS:-3 4}; do
  as_one "$ranks" tied rel/tensor.tsv --chains 1 --tie s=o --self-cells zero
  as_one "$ranks" tensor_file made.ztpt --chains 1 $held_out
  as_one "$ranks" auto made/tensor.tsv --chains 2 --rank auto
  as_one "$ranks" online made.ztpt --chains 1 --method online --minibatch 500
  as_one "$ranks" online_network $network --method online --minibatch 500
done

# With a GPU, if there is one (scripts/cuda_tests.sh has more); without, the error of one process.
if "$ztp" fit made/tensor.tsv --rank 7 --chains 1 --sweeps 2 --kernel cuda --out with_gpu >/dev/null 2>&1; then
  as_one 3 gpu $binary --kernel cuda
else
  expect 4 'or use --kernel cpu' mpirun -n 3 "$ztp" fit made/tensor.tsv --rank 7 --chains 1 --kernel cuda --out no_gpu
fi

# What several processes need, and what they do not do.
expect 0 'processes   4: each needs ' "$ztp" check made/tensor.tsv --rank 7 --chains 1 --ranks 4
expect 2 "'ztp info' runs in one process: start it without the MPI launcher" mpirun -n 2 "$ztp" info one/binary
expect 4 'the collapsed sampler moves counts one after another; use at most 1 process, or --chains 3' \
  mpirun -n 3 "$ztp" fit made/tensor.tsv --rank 7 --chains 1 --sampler collapsed --out refused
expect 4 'process 2 of the job has different options than the first' \
  mpirun -n 1 "$ztp" fit made/tensor.tsv --rank 7 --out refused : -n 1 "$ztp" fit made/tensor.tsv --rank 8 --out refused
[ ! -e refused ] || { echo "FAILED: a fit that was refused left something"; failed=1; }

# As on several machines: no memory in common.
export ZTP_SHARED_MEMORY=0
for ranks in ${ZTP_RANKS:-2 3 7}; do
  as_one "$ranks" binary $binary
  as_one "$ranks" chunks $binary --rank 300 --memory 64M
  as_one "$ranks" slices few.tsv --chains 1 $held_out --labels user=made/labels/user.txt --missing-slices user=slices.tsv --missing cells.tsv
  as_one "$ranks" shared_one_mode $shared_one_mode
done
as_one 3 learned $network --learn dirichlet,gamma-shape
as_one 4 tied rel/tensor.tsv --chains 1 --tie s=o --self-cells zero
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self
as_one 4 binary $binary
as_one 3 shared $shared
finish
