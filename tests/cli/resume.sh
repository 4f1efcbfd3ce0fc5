#!/bin/sh
# What a run is resumed from, that it ends as if it had not been interrupted, and what refuses to be resumed: damaged
# and foreign checkpoints, changed files, two processes at once, more sweeps, limits. (Kills and full disks:
# reliability.sh.)
. "$2/tests/cli/common.sh.inc"

fail() {
  echo "FAILED: $*"
  failed=1
}
same() {
  for file in draws.nc means.nc cells.tsv; do cmp "$1/$file" "$2/$file" || failed=1; done
}
damage() {
  printf '\377\377\377\377' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# lines RUN N PID: waits until the trace has N lines, or the process is gone.
lines() {
  while [ "$(wc -l 2>/dev/null <"$1/trace.tsv" || echo 0)" -lt "$2" ]; do
    kill -0 "$3" 2>/dev/null || break
    sleep 0.02
  done
}
several="--rank 6 --burn-in 40 --keep-every 4 --draws 100000 --holdout 0.1 --threads 2 --checkpoint 10"
options="--chains 1 $several"
fit="$options --sweeps 120"
"$ztp" simulate --dims 60,60,10 --ones 3000 --rank 3 --seed 1 --out sim >/dev/null
"$ztp" simulate --dims 60,60,10 --ones 3000 --rank 3 --seed 2 --out other >/dev/null
"$ztp" fit sim/tensor.tsv $fit --out whole >/dev/null 2>&1
"$ztp" fit sim/tensor.tsv $options --sweeps 200000 --out long >/dev/null 2>&1 &
pid=$!
lines long 45 $pid

# ---- two processes ---------------------------------------------------------------------------------------------------
expect 0 'status       running' "$ztp" info long
expect 4 'long: another ztp is writing to this run directory' "$ztp" resume long
expect 4 'long: another ztp is writing to this run directory' "$ztp" fit sim/tensor.tsv $fit --out long --force
kill -KILL $pid
wait $pid 2>/dev/null || true
expect 0 'status       killed' "$ztp" info long
expect 3 "long: no draws yet; 'ztp resume long' continues the fit" "$ztp" recommend long mode1=1 mode2=1

# ---- signals: the sweep is finished, and each has its exit code ------------------------------------------------------
for signal in INT:130 TERM:143 HUP:129; do
  # As if at a terminal: under nohup, and in the background of a script, some of them would be ignored.
  env --default-signal="${signal%:*}" "$ztp" resume long >/dev/null 2>log.txt &
  pid=$!
  sleep 0.3  # it cuts the trace to its checkpoint first
  lines long $(($(wc -l <long/trace.tsv) + 5)) $pid
  kill "-${signal%:*}" $pid
  code=0
  wait $pid || code=$?
  [ "$code" -eq "${signal#*:}" ] || fail "exit code $code after SIG${signal%:*}"
  grep -qF 'To continue: ztp resume long' log.txt || fail "SIG${signal%:*}: does not say how to go on"
  expect 0 'status       interrupted' "$ztp" info long
done
[ -e long/checkpoint-1-a.bin ] && [ -e long/checkpoint-1-b.bin ] || fail "two checkpoints are to be kept"

# ---- an interrupted fit: as if it had not been -----------------------------------------------------------------------
"$ztp" fit sim/tensor.tsv $options --sweeps 600 --out whole_600 >/dev/null 2>&1
"$ztp" fit sim/tensor.tsv $options --sweeps 600 --out stopped >/dev/null 2>log.txt &
interrupt $! stopped 60
grep -qF 'To continue: ztp resume stopped' log.txt || fail "does not name the command that goes on"
expect 0 'status       interrupted' "$ztp" info stopped
expect 0 'held-out AUC-ROC' "$ztp" resume stopped
same whole_600 stopped
for run in whole_600 stopped; do
  "$ztp" predict $run $run/test.tsv >$run.predictions
  cut -f1,2,4- $run/trace.tsv >$run.trace
done
cmp whole_600.predictions stopped.predictions || failed=1
cmp whole_600.trace stopped.trace || failed=1

# ---- a killed run before its first checkpoint starts again; a complete one has nothing to do -------------------------
cp -r whole early
rm early/chain-1.bin early/draws.nc early/means.nc
sed -i 's/"complete"/"running"/' early/status.json
expect 0 'held-out AUC-ROC' "$ztp" resume early
same whole early
expect 0 'early is complete: 20 draws. Nothing to do.' "$ztp" resume early

# ---- more sweeps: as if they had been asked for at the beginning -----------------------------------------------------
"$ztp" fit sim/tensor.tsv $options --sweeps 200 --out two_hundred >/dev/null 2>&1
cp -r whole more
expect 4 '--sweeps 50: more already has 120; the number can only be raised' "$ztp" resume more --sweeps 50
expect 0 'draws' "$ztp" resume more --sweeps 200 --threads 1
same two_hundred more
expect 0 '2 chains of 90 sweeps' sh \
  -c '"$1" fit sim/tensor.tsv '"$several"' --sweeps 60 --chains 2 --out chains >/dev/null 2>&1
  "$1" resume chains --sweeps 90 >/dev/null 2>&1 && "$1" info chains' - "$ztp"
"$ztp" fit sim/tensor.tsv $several --sweeps 90 --chains 2 --out ninety >/dev/null 2>&1
same ninety chains
expect 4 'keeps only its last iteration' sh -c \
  '"$1" fit sim/tensor.tsv --model quad --rank 3 --sweeps 5 --out quad >/dev/null 2>&1; "$1" resume quad --sweeps 9' - \
    "$ztp"

# A likelihood that costs extra is computed in the same sweeps, whatever the end was to be.
"$ztp" fit sim/tensor.tsv --rank 700 --chains 1 --sampler plain --burn-in 10 --keep-every 1 --draws 100 --sweeps 23 \
  --out wide \
  >/dev/null 2>&1
"$ztp" resume wide --sweeps 32 >/dev/null 2>&1
"$ztp" fit sim/tensor.tsv --rank 700 --chains 1 --sampler plain --burn-in 10 --keep-every 1 --draws 100 --sweeps 32 \
  --out wider \
  >/dev/null 2>&1
same wider wide
# Each chain goes on from where its own file is: from an earlier end, or from the beginning.
"$ztp" resume chains --sweeps 100 >/dev/null 2>&1
cp ninety/chain-1.bin chains/chain-1.bin
rm chains/chain-2.bin
expect 0 'draws' "$ztp" resume chains --sweeps 120
"$ztp" fit sim/tensor.tsv $several --sweeps 120 --chains 2 --out hundred_twenty >/dev/null 2>&1
same hundred_twenty chains
# Not without the rows and draws that it had by then.
for file in trace.tsv cells.tsv; do
  cp -r chains cut
  sed -i '/^1\t110\t/d' cut/$file
  expect 3 "cut/$file: the part of chain 2 that cut/chain-2.bin continues from is incomplete; the run cannot be resumed" \
    "$ztp" resume cut --sweeps 130
  rm -r cut
done
# The file of another chain is taken for a damaged one.
cp -r chains crossed
cp crossed/chain-1.bin crossed/chain-2.bin
expect 3 'chain 2 of crossed has no intact checkpoint: crossed/chain-2.bin: damaged: it is of chain 1' \
  "$ztp" resume crossed --sweeps 130
# What a kill left after the end goes.
: >early/draws.log
cp early/chain-1.bin early/checkpoint-1-a.bin
expect 0 'Nothing to do' "$ztp" resume early
[ ! -e early/draws.log ] && [ ! -e early/checkpoint-1-a.bin ] || fail "left behind in a complete run"
# A run is not taken for what a killed process left, whatever its name.
expect 0 'draws' "$ztp" fit sim/tensor.tsv $options --sweeps 60 --out run.partial-1
expect 0 'draws' "$ztp" fit sim/tensor.tsv $options --sweeps 60 --out run
[ -e run.partial-1/draws.nc ] || fail "a run was removed"
# Nobody to read the progress, or no room for it: the fit goes on.
expect 0 'complete' sh \
  -c '"$1" fit sim/tensor.tsv '"$options"' --sweeps 60 --out mute 2>/dev/full >/dev/null; "$1" info mute' - "$ztp"

# ---- the time of the fit, in draws.nc: that of its beginning, or what is asked for -----------------------------------
expect 0 'created      2019-01-17T00:00:00Z' "$ztp" info more
grep -qF '2019-01-17T00:00:00Z' more/draws.nc || fail "draws.nc does not tell when the fit began"
(unset SOURCE_DATE_EPOCH; "$ztp" fit sim/tensor.tsv $options --sweeps 50 --out today >/dev/null 2>&1)
cp -r today later
SOURCE_DATE_EPOCH=86400 "$ztp" resume later --sweeps 60 >/dev/null 2>&1
created=$("$ztp" info today | sed -n 's/^created *//p')
case $created in "$(date -u +%Y)"-*) ;; *) fail "not of now: $created" ;; esac
grep -qF "$created" later/draws.nc || fail "a run that went on is not of the time when it began"
for bad in '' now 1.5 12h -1 1e9 253402300800; do
  expect 2 "SOURCE_DATE_EPOCH is \"$bad\": it must be an integer number of seconds since 1970" \
    env SOURCE_DATE_EPOCH="$bad" "$ztp" fit sim/tensor.tsv $fit --out none
done

# ---- damaged checkpoints: the other one is taken; without any, it says so --------------------------------------------
# Of a run stopped in its middle.
"$ztp" fit sim/tensor.tsv $options --sweeps 100000 --out middle >/dev/null 2>&1 &
interrupt $! middle 60
"$ztp" resume middle --sweeps 100001 >/dev/null 2>&1 &  # leaves the newest checkpoint in either file
interrupt $! middle "$(($(wc -l <middle/trace.tsv) + 25))"
cp -rp middle wounded
newest=$(ls -t wounded/checkpoint-1-?.bin | head -1)
damage "$newest" 3000
"$ztp" resume wounded >/dev/null 2>log.txt &
interrupt $! wounded "$(($(wc -l <wounded/trace.tsv) + 25))"
grep -qF "ztp: warning: $newest: damaged: the file has a wrong checksum in section" log.txt ||
  fail "no warning: $(cat log.txt)"
"$ztp" resume middle >/dev/null 2>&1 &
interrupt $! middle "$(($(wc -l <wounded/trace.tsv) + 25))"
length=$(wc -l <wounded/trace.tsv)
for run in middle wounded; do head -n "$length" $run/trace.tsv | cut -f1,2,4- >$run.trace; done
cmp middle.trace wounded.trace || fail "from the older checkpoint it went another way"
for file in wounded/checkpoint-1-?.bin; do damage "$file" 3000; done
expect 3 'chain 1 of wounded has no intact checkpoint' "$ztp" resume wounded
rm wounded/checkpoint-1-?.bin
: >wounded/checkpoint-1-a.bin
mkdir wounded/checkpoint-1-b.bin  # cannot be read at all
expect 3 'remove them to start the chain again' "$ztp" resume wounded

# ---- what does not belong together -----------------------------------------------------------------------------------
"$ztp" fit other/tensor.tsv $fit --out foreign >/dev/null 2>&1
cp -r middle swapped
cp foreign/chain-1.bin swapped/checkpoint-1-a.bin
expect 4 'swapped/checkpoint-1-a.bin: of other data' "$ztp" resume swapped
"$ztp" fit sim/tensor.tsv $fit --gamma-shape 0.2 --out shaped >/dev/null 2>&1
cp shaped/chain-1.bin swapped/checkpoint-1-a.bin
expect 4 'written with gamma_shape 0.2, but options.json says 0.1' "$ztp" resume swapped
cp -r middle edited
sed -i 's/"gamma_shape": 0.1/"gamma_shape": 0.3/' edited/options.json
expect 3 'edited/options.json: damaged or changed: it is not the file that edited/manifest.json lists' \
  "$ztp" resume edited
cp -r middle data
cp foreign/data.bin data/data.bin
expect 3 'data/data.bin: the data are not those the run was started with' "$ztp" resume data
for file in draws.nc means.nc labels/mode1.txt test.tsv; do
  cp -r whole changed
  damage changed/$file 50
  case $file in
    means.nc) set -- components changed ;;
    test.tsv) set -- evaluate changed ;;
    *) set -- predict changed whole/test.tsv ;;
  esac
  expect 3 "changed/$file: damaged or changed: it is not the file that changed/manifest.json lists" "$ztp" "$@"
  rm -r changed
done

# ---- limits ----------------------------------------------------------------------------------------------------------
for bad in 0 1.5 10x m -3 1e99h; do
  expect 4 "--checkpoint $bad: must be a number of sweeps, such as 50, or a time, such as 30s, 10m or 2h" \
    "$ztp" fit sim/tensor.tsv --checkpoint="$bad" --out none
done
for bad in 0 8X -1G G 1e30; do
  expect 4 "--memory $bad: must be a size" "$ztp" fit sim/tensor.tsv --memory="$bad" --out none
done
expect 4 'of memory, and --memory allows 25.0 MiB; --rank' "$ztp" fit sim/tensor.tsv --rank 50000 --memory 25M \
  --out none
expect 4 "with --method online and a file of 'ztp convert', the ones stay on disk" \
  "$ztp" fit sim/tensor.tsv --rank 50000 --memory 25M --out none
expect 4 'its ones need more than' "$ztp" fit sim/tensor.tsv --memory 10K --out none
printf 'sptensor\n2\n2000000000 2000000000\n1\n7 7 1\n' >vast.tns
expect 4 'of memory, and the machine has' "$ztp" fit vast.tns --rank 50 --out none
[ ! -e none ] || fail "a refused fit left a directory"

# ---- nowhere to write ------------------------------------------------------------------------------------------------
: >file
expect 6 'cannot create' "$ztp" fit sim/tensor.tsv $fit --out file/run
expect 6 'cannot write' sh -c 'ulimit -f 20; "$1" fit sim/tensor.tsv '"$fit"' --out limited' - "$ztp"
expect 6 'File too large' sh -c 'ulimit -f 20; "$1" fit sim/tensor.tsv '"$fit"' --out limited' - "$ztp"
"$ztp" fit sim/tensor.tsv $options --sweeps 200000 --out gone >/dev/null 2>log.txt &
pid=$!
lines gone 15 $pid
mv gone elsewhere
code=0
wait $pid || code=$?
[ "$code" -eq 6 ] || fail "exit code $code although the run directory vanished"
grep -qE 'ztp: cannot (write|finish|open) gone/' log.txt ||
  fail "what is wrong with a directory that vanished: $(cat log.txt)"
[ "$(ls -dA .*.ztp-partial* 2>/dev/null | wc -l)" -eq 0 ] || fail "left behind: $(ls -dA .*.ztp-partial*)"
finish
