#!/bin/bash
# Runs examples/cluster/ztp.sbatch under a real Slurm of one node, which is set up for this alone in a scratch directory.
# Each fit is stopped and resumed in another way, and must have the same draws as one process without Slurm, byte for byte.
#   experiments/slurm.sh [time-limit] [mpirun] [other-ranks]      default: all; 4 to 10 minutes
#     time-limit    ranks started by srun; the job reaches its time limit of a minute, is requeued and resumed
#     mpirun        ranks started by mpirun; the job is told to stop, as shortly before its time limit
#     other-ranks   a job of three ranks is cancelled, and submitted again with two
# Needs build/release of `make mpi`, and Debian's slurm-wlm and munge: installs them if it may. Two cores will do: Slurm is
# told of four.
set -euo pipefail
. "$(dirname "$0")/common.sh.inc"
script=$here/examples/cluster/ztp.sbatch
wait_at_most=900
[ $# -gt 0 ] || set -- time-limit mpirun other-ranks

say() { echo "$(date +%T) $*"; }
fail() {
  say "FAILED: $*"
  tail -n 20 "$work"/log/*.log "$work"/ztp-*.log 2>/dev/null || true
  exit 1
}

# ---- Slurm

install_slurm() {
  command -v sbatch >/dev/null && command -v munged >/dev/null && return
  say "installing slurm-wlm and munge"
  local sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
}

# end PIDFILE: the daemon of this file, and waits until it is gone
end() {
  local pid
  [ -f "$1" ] && pid=$(cat "$1") && kill "$pid" 2>/dev/null || return 0
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
}

end_slurm() {
  if [ -f "$work/slurmctld.pid" ]; then
    squeue -h -o %i 2>/dev/null | xargs -r scancel 2>/dev/null || true
    for _ in $(seq 30); do
      [ -n "$(squeue -h -t R,CG 2>/dev/null)" ] || break
      sleep 1
    done
  fi
  for daemon in slurmctld slurmd munged; do end "$work/$daemon.pid"; done
  rm -rf "$work"
}

start_slurm() {
  local port=$((20000 + $$ % 20000)) host user
  host=$(hostname -s) user=$(id -un)
  mkdir "$work/state" "$work/spool" "$work/log"
  chmod 711 "$work"
  cat >"$work/slurm.conf" <<CONF
ClusterName=scratch
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthInfo=socket=$work/munge.socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/log/slurmctld.log
SlurmdLogFile=$work/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,sched_min_interval=0
SlurmdParameters=config_overrides
KillWait=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
  export SLURM_CONF=$work/slurm.conf
  (umask 077 && head -c 128 /dev/urandom >"$work/munge.key")
  trap end_slurm EXIT
  munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/log/munged.log" --seed-file="$work/munge.seed" 2>/dev/null
  slurmctld
  slurmd
  for _ in $(seq 30); do
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
    sleep 1
  done
  [ "$(sinfo -h -o %T)" = idle ] || fail "Slurm has not started"
  say "Slurm $(sinfo --version | cut -d' ' -f2) on one node; MPI: $(srun --mpi=list 2>&1 | xargs)"
}

# field of a job, as Slurm tells it
of_job() { scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -1; }

# submit NAME RANKS ARG...: the script with options of sbatch up to --; sets $job
submit() {
  local name=$1 ranks=$2
  shift 2
  job=$(cd "$work" && sbatch --parsable --nodes=1 --ntasks-per-node="$ranks" --cpus-per-task=1 --export=ALL "$@" \
    "$script" "run-$name" "$work/ones.ztpt" "${fit[@]}")
  log=$work/ztp-$job.log
  say "$name: submitted as job $job, with $ranks ranks"
}

# Until something is in the log of the job
wait_for_line() {
  for _ in $(seq $wait_at_most); do
    grep -q "$1" "$log" 2>/dev/null && return
    sleep 1
  done
  fail "job $job: no line \"$1\" in its log"
}

# Until the job is no longer in the queue; tells of every change
wait_for_job() {
  local before='' state now
  for _ in $(seq $((2 * wait_at_most))); do
    state=$(of_job "$job" JobState)
    now="$state, requeued $(of_job "$job" Restarts) times"
    [ "$now" = "$before" ] || say "job $job: $now"
    before=$now
    case $state in PENDING | RUNNING | COMPLETING | REQUEUED | CONFIGURING) ;; *) return ;; esac
    sleep 0.5
  done
  fail "job $job: still there after $wait_at_most s"
}

sweeps_done() { awk -F'\t' 'NR > 1 && $2 > n {n = $2} END {print n + 0}' "$work/run-$1/trace.tsv"; }

# check NAME: complete, stopped and gone on at least once, and the same bytes as `whole`
check() {
  grep -E '^[0-9-]{10} |^Interrupted|complete' "$log" | sort -u | sed 's/^/    /'
  [ "$(of_job "$job" JobState)" = COMPLETED ] || fail "$1: job $job is $(of_job "$job" JobState)"
  for file in draws.nc means.nc; do
    cmp "$work/whole/$file" "$work/run-$1/$file" || fail "$1: $file differs from that of one process"
  done
  say "$1: draws.nc and means.nc have the same bytes as those of one process"
}

# ---- what is tried

time_limit() {
  submit time-limit 2 --time=1 --signal=B:USR1@10
  wait_for_job
  [ "$(of_job "$job" Restarts)" -gt 0 ] || fail "the job was not requeued: it ended before its time limit"
  check time-limit
}

with_mpirun() {
  ZTP_LAUNCHER=mpirun submit mpirun 2 --time=20
  wait_for_line 'sweep '
  sleep 10
  say "mpirun: SIGUSR1 to the script, as before a time limit"
  scancel --batch --signal=USR1 "$job"
  wait_for_job
  [ "$(of_job "$job" Restarts)" -eq 1 ] || fail "the job was not requeued"
  check mpirun
}

other_ranks() {
  submit other-ranks 3 --time=20
  wait_for_line 'sweep '
  sleep 10
  say "other-ranks: cancelled"
  scancel "$job"
  wait_for_job
  grep -E '^Interrupted' "$log" | sort -u | sed 's/^/    /'
  say "other-ranks: $(sweeps_done other-ranks) of $sweeps sweeps are recorded"
  submit other-ranks 2 --time=20
  wait_for_job
  check other-ranks
}

[ -x "$ztp" ] && [ -f "$(dirname "$ztp")/libztp_mpi.so" ] || { echo "$ztp and libztp_mpi.so: run 'make mpi'" >&2; exit 1; }
export ZTP=$ztp SOURCE_DATE_EPOCH=1
# More ranks than cores wait for each other politely; Open MPI wants to be asked twice before it starts as root.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

install_slurm
start_slurm

"$ztp" simulate --dims 20000,20000,1000 --ones 500000 --rank 10 --seed 1 --no-truth --out "$work/sim" >/dev/null
"$ztp" convert "$work/sim/tensor.tsv" "$work/ones.ztpt" >/dev/null

# So many sweeps that two ranks need a minute or more for them: the fastest of some counts.
fit=(--rank 50 --draws 20 --chains 1 --method batch --sampler plain)
mpirun -n 2 "$ztp" fit "$work/ones.ztpt" "${fit[@]}" --sweeps 20 --threads 1 --out "$work/timed" >/dev/null 2>&1
sweeps=$(awk -F'\t' 'NR > 2 && (!fastest || $3 - before < fastest) {fastest = $3 - before} {before = $3}
  END {n = int(60 / fastest / 20) * 20; print n < 100 ? 100 : n}' "$work/timed/trace.tsv")
fit+=(--sweeps "$sweeps")
say "500,000 ones, rank 50, $sweeps sweeps"
"$ztp" fit "$work/ones.ztpt" "${fit[@]}" --out "$work/whole" >/dev/null 2>&1
say "one process, without Slurm: $(awk -F'\t' 'END {printf "%.0f", $3}' "$work/whole/trace.tsv") s of sampling"

for what in "$@"; do
  case $what in
    time-limit) time_limit ;;
    mpirun) with_mpirun ;;
    other-ranks) other_ranks ;;
    *) fail "there is no part $what" ;;
  esac
done
say "all done: no byte differs"
