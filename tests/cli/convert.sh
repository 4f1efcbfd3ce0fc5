#!/bin/sh
# ztp convert: what it makes is the same data to every command, and a signal leaves nothing behind. What is refused:
# tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

expect 0 'Example' "$ztp" convert --help
"$ztp" simulate --dims 60,50,40 --ones 6000 --rank 4 --seed 3 --mode-names user,item,week --edges user=100 --out sim \
  >/dev/null
tensor=sim/tensor.tsv
mkdir made
expect 0 '6,000 ones, 60 user x 50 item x 40 week' "$ztp" convert $tensor made/a.ztpt
expect 0 '"ones":6000' "$ztp" convert $tensor made/a.ztpt --force --json --threads 1 --memory 1
printf 'a\tx\t2\na\tx\t1\nb\ty\t0\n' >odd.tsv
expect 0 '1 repeated cells are added up' "$ztp" convert odd.tsv odd.ztpt --likelihood count
expect 0 '1 cells with value zero are ignored' "$ztp" convert odd.tsv odd.ztpt --values --force
[ "$(ls -A made)" = a.ztpt ] || { echo "FAILED: left in the directory: $(ls -A made)"; failed=1; }
gzip -c $tensor | "$ztp" convert - stdin.ztpt >/dev/null
cmp stdin.ztpt made/a.ztpt || { echo "FAILED: a stream gives another file"; failed=1; }

# The same fit, bit by bit, and the same report and split, from the text and from the file.
for run in text file; do
  [ $run = text ] && from=$tensor || from=made/a.ztpt
  "$ztp" fit $from --network user=sim/network-user.tsv --rank 4 --sweeps 30 --holdout 0.1 --out $run >/dev/null 2>&1
  "$ztp" predict $run $run/test.tsv >$run.predictions
  cut -f1,2,4- $run/trace.tsv >$run.trace
  sed -n 's/.*"fingerprint"/fingerprint/p' $run/options.json >$run.fingerprint
  "$ztp" check $from --json | sed '/"files"/,/"ones": /d; /"fit"/,$d' >$run.report
  "$ztp" split $from --holdout 0.1 --out $run-split >/dev/null
  cat $run-split/train.tsv $run-split/test.tsv $run-split/labels/* >$run.split
done
for what in predictions trace fingerprint report split; do
  [ -s text.$what ] || { echo "FAILED: nothing in text.$what"; failed=1; }
  cmp text.$what file.$what || { echo "FAILED: $what differs between text and file"; failed=1; }
done

# A signal in the middle: standard input that does not end keeps the conversion going until then.
for signal in INT TERM; do
  mkfifo pipe-$signal
  mkdir $signal
  "$ztp" convert pipe-$signal $signal/out.ztpt --format tsv >log.txt 2>&1 &
  pid=$!
  exec 3>pipe-$signal
  cat $tensor >&3
  sleep 0.3
  kill -$signal $pid
  while kill -0 $pid 2>/dev/null; do cat $tensor >&3 2>/dev/null || break; done
  code=0
  wait $pid || code=$?
  exec 3>&-
  [ "$code" -eq "$([ $signal = INT ] && echo 130 || echo 143)" ] ||
    { echo "FAILED: exit code $code after SIG$signal"; failed=1; }
  grep -q 'Interrupted; nothing was written' log.txt ||
    { echo "FAILED: does not say that nothing was written"; failed=1; }
  [ -z "$(ls -A $signal)" ] || { echo "FAILED: left behind: $(ls -A $signal)"; failed=1; }
done
finish
