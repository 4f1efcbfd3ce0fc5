#!/bin/sh
# ztp data: every data set from a server on loopback, exactly; every way to fail has a message and leaves nothing.
command -v python3 >/dev/null 2>&1 || { echo "no python3: skipped"; exit 77; }
. "$2/tests/cli/common.sh.inc"
unset ZTP_DATA http_proxy https_proxy all_proxy ALL_PROXY HTTPS_PROXY 2>/dev/null || true
export no_proxy=127.0.0.1

python3 "$source_dir/tests/cli/data_server.py" "$work/port" 120 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
tries=0
while [ ! -e port ]; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { echo "FAILED: the server does not start"; exit 1; }
  sleep 0.1
done
home=http://127.0.0.1:$(cat port)

# same FILE 'TEXT': the file, unpacked, is exactly the text, where \t and \n are as in printf.
same() {
  printf "$2" >expected.txt
  case $1 in *.gz) gzip -dc "$1" >got.txt ;; *) cat "$1" >got.txt ;; esac
  cmp -s expected.txt got.txt || { echo "FAILED: $1 is not as expected:"; sed 's/^/    /' got.txt; failed=1; }
}

expect 0 'movielens-100k' "$ztp" data list
grep -q 'https://files.grouplens.org/datasets/movielens/' out.txt || { echo "FAILED: no home in the list"; failed=1; }
expect 0 '"name": "dblp-4area"' "$ztp" data list --json
expect 0 'Example' "$ztp" data --help
expect 0 'Example' "$ztp" data fetch --help
expect 2 'subcommand' "$ztp" data
expect 2 'there is no data set "nothing"; there are movielens-100k, kinship' "$ztp" data fetch nothing

# What each becomes.
expect 0 '4 ones, 2 user x 3 movie, in data/movielens-100k' "$ztp" data fetch movielens-100k --from $home/ok/
grep -q 'agrees with the published md5 [0-9a-f]\{32\}$' out.txt || { echo "FAILED: no checksum"; failed=1; }
grep -q '^Terms: Research use' out.txt || { echo "FAILED: no terms"; failed=1; }
movie='Harbour, The (1951)'
same data/movielens-100k/tensor.tsv.gz "#user\tmovie\nuser1\t$movie #10\nuser1\tÉté (1960)\nuser2\t$movie #10\nuser2\t$movie #30\n"
same data/movielens-100k/ratings.tsv.gz "#user\tmovie\trating\tunix_time\nuser1\t$movie #10\t5\t880000002\nuser1\tÉté (1960)\t1\t880000003\nuser2\t$movie #10\t3\t880000004\nuser2\t$movie #30\t4\t880000001\n"
same data/movielens-100k/movie-labels.tsv "#movie\tsource_id\trelease_date\tgenres\n$movie #10\t10\t01-Jan-1951\tDrama\nÉté (1960)\t20\t01-Jan-1960\tunknown|Drama\n$movie #30\t30\t\t\n"
same data/movielens-100k/user-labels.tsv '#user\tage\tgender\toccupation\nuser1\t30\tF\twriter\nuser2\t41\tM\tnone\n'

ZTP_DATA=elsewhere expect 0 'in elsewhere/kinship' "$ztp" data fetch kinship --from $home/ok
grep -q 'no checksum is published' out.txt || { echo "FAILED: does not say that there is no checksum"; failed=1; }
same elsewhere/kinship/tensor.tsv.gz '#person_i\tperson_j\tterm\nperson0\tperson1\tterm0\nperson0\tperson2\tterm1\nperson1\tperson1\tterm1\nperson2\tperson1\tterm0\n'
same elsewhere/kinship/person-labels.tsv '#person\tsection\tf1\tf2\nperson0\t1\t5\t0.5\nperson1\t2\t6\t-1\nperson2\t4\t7\t294\n'
same elsewhere/kinship/term-labels.tsv '#term\tones\nterm0\t2\nterm1\t2\n'

expect 0 '3 ones' "$ztp" data fetch umls --from $home/moved --out umls
same umls/tensor.tsv.gz '#concept_i\tconcept_j\trelation\nCell_Part\tCell_Part\tpart_of\nVirus\tCell_Part\taffects\nVirus\tVirus\tpart_of\n'
same umls/concept-labels.tsv '#concept\tsemantic_group\nCell_Part\tAnatomy\nVirus\tLiving_Beings\n'
same umls/relation-labels.tsv '#relation\tones\naffects\t1\nis\t0\npart_of\t2\n'

expect 0 '4 ones, 4 user_i x 4 user_j x 3 day, 2 edges' "$ztp" data fetch facebook-wosn --from $home/ok --out fb
same fb/tensor.tsv.gz '#user_i\tuser_j\tday\nu3\tu3\t2008-01-01\nu7\tu3\t2007-12-31\nu7\tu3\t2008-01-01\nu20\tu7\t1970-01-01\n'
same fb/network-user_i.tsv.gz '#user_i\tuser_i\nu3\tu7\nu20\tu100\n'
same fb/user-labels.tsv '#user\nu3\nu7\nu20\nu100\n'

expect 0 '4 ones, 3 entity_i x 3 entity_j x 2 relation' "$ztp" data fetch fb15k-237 --from $home/ok --out fb15k
same fb15k/tensor.tsv.gz '#entity_i\tentity_j\trelation\n/m/a\t/m/b\t/r/in\n/m/a\t/m/c\t/r/of\n/m/b\t/m/a\t/r/in\n/m/c\t/m/b\t/r/of\n'
same fb15k/split-valid.tsv.gz '#entity_i\tentity_j\trelation\n/m/a\t/m/b\t/r/in\n'
same fb15k/split-test.tsv.gz '#entity_i\tentity_j\trelation\n/m/c\t/m/b\t/r/of\n'

expect 0 'paper_term.txt: 1 lines with ids that are not listed were left out' "$ztp" data fetch dblp-4area --from $home/ok --out dblp
same dblp/tensor.tsv.gz '#author\tterm\tvenue\nauthor00001\tsparse #1\tSIGMOD\nauthor00001\ttensor\tSIGMOD\nauthor00002\tsparse #1\tSIGMOD\nauthor00002\ttensor\tSIGMOD\nauthor00003\tsparse #5\tAAAI\n'
same dblp/network-author.tsv.gz '#author\tauthor\nauthor00001\tauthor00002\n'
same dblp/author-labels.tsv '#author\tsource_id\tarea\tpapers\nauthor00001\t4\t-\t2\nauthor00002\t9\tData Mining\t1\nauthor00003\t11\t-\t1\n'
same dblp/venue-labels.tsv '#venue\tsource_id\tarea\tpapers\nAAAI\t36\tAI\t1\nSIGMOD\t40\tDatabase\t2\n'
same dblp/term-labels.tsv '#term\tsource_id\tpapers\nsparse #1\t1\t1\ntensor\t2\t2\nsparse #5\t5\t1\n'

# The folder is one that the other commands read, and says where it comes from.
expect 0 '4 entities' "$ztp" check fb/tensor.tsv.gz --network user_i=fb/network-user_i.tsv.gz --labels user_i=fb/user-labels.tsv \
  --labels user_j=fb/user-labels.tsv
expect 0 'ones        4 of 6 cells' "$ztp" check data/movielens-100k/tensor.tsv.gz --labels movie=data/movielens-100k/movie-labels.tsv
expect 0 'network     author: 1 edges' "$ztp" check dblp/tensor.tsv.gz --network author=dblp/network-author.tsv.gz
for text in "$home/ok/uml.mat\|$home/moved/uml.mat" 'SHA-256 [0-9a-f]\{64\}' 'no published checksum' '## Transformation' '## Terms' "$(date -u +%Y)"; do
  grep -q -- "$text" umls/README.md || { echo "FAILED: no $text in README.md"; failed=1; }
done
grep -q 'GPL-3.0' umls/TERMS.txt || { echo "FAILED: TERMS.txt"; failed=1; }
expect 0 '"sha256":"' "$ztp" data fetch umls --from $home/ok --out umls-json --json
python3 -c 'import json, sys; json.load(open("out.txt")); json.load(open("umls/fetch.json"))' || failed=1

# Folders that are there.
expect 4 'umls: exists; --force replaces it' "$ztp" data fetch umls --from $home/ok --out umls
expect 0 '3 ones' "$ztp" data fetch umls --from $home/ok --out umls/ --force
echo mine >umls/mine.txt
expect 4 'mine.txt in it would be lost' "$ztp" data fetch umls --from $home/ok --out umls --force
mkdir mine && echo mine >mine/tensor.tsv.gz
expect 4 "'ztp data fetch' did not make it" "$ztp" data fetch umls --from $home/ok --out mine --force
expect 4 'is not a folder' "$ztp" data fetch umls --from $home/ok --out port --force
[ "$(cat umls/mine.txt mine/tensor.tsv.gz)" = "mine
mine" ] || { echo "FAILED: files of the user are gone"; failed=1; }
expect 3 'damaged' "$ztp" data fetch kinship --from $home/cut --out elsewhere/kinship --force
[ -s elsewhere/kinship/tensor.tsv.gz ] || { echo "FAILED: a failed replacement took the old folder"; failed=1; }
mkdir locked && chmod a-w locked
[ "$(id -u)" -eq 0 ] || expect 6 'locked' "$ztp" data fetch umls --from $home/ok --out locked/umls
expect 6 'port' "$ztp" data fetch umls --from $home/ok --out port/umls

# What goes wrong on the way. refuse CODE 'MESSAGE' NAME HOW: nothing may be left.
mkdir no
refuse() {
  expect "$1" "$2" "$ztp" data fetch "$3" --from "$home/$4" --out no/data --timeout 1
  [ -z "$(ls -A no)" ] || { echo "FAILED: left behind by $3 from $4: $(ls -A no)"; failed=1; rm -rf no/*; }
}
refuse 3 'wrong checksum: MD5' movielens-100k badsum
grep -q "$home/badsum/ml-100k.zip: " out.txt || { echo "FAILED: does not name the address"; failed=1; }
refuse 6 '/nosum/ml-100k.zip.md5: the server refuses it (HTTP 404)' movielens-100k nosum
refuse 3 'there is no MD5 checksum in it' movielens-100k oddsum
refuse 6 "/truncated/alyawarradata.mat: cut short after" kinship truncated
refuse 6 'HTTP 404' kinship missing
refuse 6 'the server failed (HTTP 500); try again later' umls broken
refuse 6 'no byte came for 1 seconds' umls silent
refuse 6 'no byte came for 1 seconds' umls hang
refuse 6 'redirected more than 10 times' umls loop
refuse 6 'redirected to an address that is not followed' umls tofile
refuse 3 'larger than 67108864 bytes' umls huge
refuse 3 'larger than 67108864 bytes' facebook-wosn endless
refuse 3 '/cut-with-sum/ml-100k.zip: damaged' movielens-100k cut-with-sum
refuse 3 'damaged' fb15k-237 cut
refuse 3 'damaged' facebook-wosn cut
refuse 3 'damaged' kinship cut
refuse 3 'damaged' umls cut
refuse 3 'damaged' movielens-100k flipped
refuse 3 'damaged' fb15k-237 flipped
refuse 3 'damaged' kinship flipped
refuse 3 'damaged' facebook-wosn html
refuse 3 'damaged' fb15k-237 html
refuse 3 'not a MATLAB 5 file' kinship html
refuse 3 'not a MATLAB 5 file' umls empty
refuse 3 'there is no u.item in it' movielens-100k other
refuse 3 'there is no train.txt in it' fb15k-237 other
refuse 3 'u.data is in it twice' movielens-100k twice
refuse 3 'unpacks to more than 268435456 bytes' fb15k-237 bomb
refuse 3 'u.data in ml-100k.zip:2:3: "ten" is not a whole number' movielens-100k badline
refuse 3 'facebook-wall.txt.gz:6:1: 2 columns where 3 are expected' facebook-wosn badline
refuse 3 'valid.txt in FB15k-237.tar.gz:1:5: a name is empty' fb15k-237 badline
refuse 3 'paper_author.txt:2:5: "-9" is not a whole number' dblp-4area badline
refuse 3 'there is no array Rs in it' kinship badline
refuse 3 '1 names in the field names where 2 are expected' umls badline
refuse 3 'there is nothing in it' dblp-4area nothing
for address in file:///etc ftp://127.0.0.1 nonsense; do
  expect 2 'an address begins with http:// or https://' "$ztp" data fetch umls --from $address --out no/data
done
expect 6 'check the connection' "$ztp" data fetch umls --from http://127.0.0.1:1 --out no/data
[ -z "$(ls -A no)" ] || { echo "FAILED: left behind: $(ls -A no)"; failed=1; }

# Names in an archive are never paths: nothing is written but the folder.
expect 0 '4 ones' "$ztp" data fetch fb15k-237 --from $home/slip --out no/deep/er/slip
[ "$(cd no && find . -type f ! -path './deep/er/slip/*')" = "" ] || { echo "FAILED: an archive wrote elsewhere"; failed=1; }
rm -rf no/deep

# A signal in the middle of a download.
"$ztp" data fetch umls --from $home/silent --out no/data >log.txt 2>&1 &
pid=$!
sleep 0.5
kill -TERM $pid
code=0
wait $pid || code=$?
[ "$code" -eq 143 ] || { echo "FAILED: exit code $code after a signal"; failed=1; }
grep -q 'Interrupted; nothing was written' log.txt || { echo "FAILED: does not say that nothing was written"; failed=1; }
[ -z "$(ls -A no)" ] || { echo "FAILED: left behind by a signal: $(ls -A no)"; failed=1; }
finish
