# What cases copy with `with`: made once, by the program itself. $ztp is the program; see also `helpers` in
# bad_inputs.py.
printf '#user\titem\nann\tx\nbob\ty\ncid\tx\nann\tz\ndan\tz\n' >ones.tsv
printf 'a\tx\nb\ty\nc\tz\n' >good.tsv
printf 'a\tx\t2\nb\ty\t3\nc\tz\t1\n' >counts.tsv
printf 'ann\tbob\nbob\tcid\n' >friends.tsv
printf 'ann\nbob\ncid\ndan\n' >users.txt
gzip -nc good.tsv >good.tsv.gz
zstd -q --check -c good.tsv >good.tsv.zst
"$ztp" convert ones.tsv ones.ztpt
"$ztp" convert counts.tsv counts.ztpt --likelihood count
"$ztp" fit ones.tsv --rank 2 --sweeps 10 --chains 1 --threads 1 --network user=friends.tsv --out run
"$ztp" fit ones.tsv --rank 2 --sweeps 10 --chains 1 --threads 1 --holdout 0.4 --zeros-per-one 1 --out held
"$ztp" fit ones.tsv --rank 2 --sweeps 10 --threads 1 --model quad --out quad
"$ztp" fit ones.tsv --rank 2 --sweeps 10 --chains 1 --threads 1 --model logistic --out logistic
"$ztp" fit ones.ztpt --rank 2 --sweeps 10 --chains 1 --threads 1 --method online --minibatch 2 --out online
printf '#subject\trelation\tobject\nann\tlikes\tbob\nbob\tlikes\tcid\ncid\tlikes\tann\nann\tleads\tcid\n' >facts.tsv
"$ztp" fit facts.tsv --sweeps 10 --chains 1 --threads 1 --tie subject=object --self-cells missing --columns 3 --out tied
