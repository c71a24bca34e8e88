#!/bin/sh
# cli.sh TRIBO: the command as a user meets it: exit status, what is said, what is written. Ends with Check's line.
tribo=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failures=0

# expect NAME STATUS OUT ERR ARGUMENTS...: run the command; its streams must match the patterns ("" = must be empty,
# "*" = anything).
expect() {
    name=$1 status=$2 out=$3 err=$4
    shift 4
    checks=$((checks + 1))
    "$tribo" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    wrong=
    [ $got = "$status" ] || wrong="exit status $got, not $status"
    matches "$out" "$folder/out" || wrong="$wrong; standard output does not match $out"
    matches "$err" "$folder/err" || wrong="$wrong; standard error does not match $err"
    [ -z "$wrong" ] && return
    failures=$((failures + 1))
    echo "failed: $name: $wrong"
    head -n 5 "$folder/out" "$folder/err"
}
matches() {
    case $1 in
    '') [ ! -s "$2" ] ;;
    '*') true ;;
    *) grep -q -e "$1" "$2" ;;
    esac
}
write() { printf '%s\n' "$2" >"$folder/$1"; }

expect "no verb" 2 '' 'which verb'
expect "unknown verb" 2 '' 'no verb fly' fly
expect "help" 0 '^  solve' '' --help
expect "version" 0 '^tribo [0-9]*\.[0-9]*\.[0-9]*$' '' --version
for verb in $("$tribo" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    expect "help of $verb" 0 "^usage: tribo $verb" '' "$verb" --help
    expect "$verb without anything" 2 '' "^tribo $verb: " "$verb"
    expect "unknown option of $verb" 2 '' 'no option --frob' "$verb" --frob
    expect "unknown short option of $verb" 2 '' 'no option -z' "$verb" -z
done

# ---- solve ----
good='{"id":1,"kind":"QP","n":2,"P":[1,-0.9,1],"q":[-0.1,1],"w":[1,0]}'
write one.jsonl "$good"
expect "a QP" 0 '^{"id":1,"status":"ok","x":\[0.\(1,\|10000\|09999\).*"grad_P":\[' '' solve "$folder/one.jsonl"
expect "options before the file" 0 '"status":"ok"' '' solve --tol 1e-8 -- "$folder/one.jsonl"
expect "two files" 2 '' 'one file of problems' solve "$folder/one.jsonl" "$folder/one.jsonl"
expect "tolerance of text" 2 '' 'tol takes a number' solve "$folder/one.jsonl" --tol tight
expect "tolerance of zero" 2 '' 'tol takes a number' solve "$folder/one.jsonl" --tol 0
expect "tolerance missing" 2 '' 'tol needs a value' solve "$folder/one.jsonl" --tol
expect "no such file" 3 '' 'none.jsonl: No such file' solve "$folder/none.jsonl"
expect "a folder" 3 '' "$folder: \|cannot be read" solve "$folder"
: >"$folder/empty.jsonl"
expect "an empty file" 3 '' 'there is no problem' solve "$folder/empty.jsonl"
write mixed.jsonl "$good

{\"id\":2,\"kind\":\"QP\",\"P\":[1],\"q\":[1,2]}
{\"id\":3,\"kind\":\"QCQP\",\"P\":[1,0,1],\"q\":[3,4],\"r\":[1]}
{"
expect "bad lines name their place" 3 '"id":3,"status":"ok","x":\[-0.[56]' 'mixed.jsonl:3: "P" has 1' solve "$folder/mixed.jsonl"
expect "and the others are answered" 3 '"id":1,"status":"ok"' 'mixed.jsonl:5: column' solve "$folder/mixed.jsonl"
printf '%s' "$good" >"$folder/open.jsonl"
expect "a last line without its end" 0 '"id":1' '' solve "$folder/open.jsonl"
write unbounded.jsonl '{"id":1,"kind":"QP","P":[0],"q":[-1]}'
expect "an unbounded QP" 4 '"status":"not_converged"' '*' solve "$folder/unbounded.jsonl"
write contact.jsonl '{"id":"slide","kind":"NCP","nc":1,"nv":3,"mu":[0.5],"M":[2,0,2,0,0,2],"J":[1,0,0,0,1,0,0,0,1],"vfree":[3,0,-1]}'
expect "a sliding point" 0 '"id":"slide","status":"ok","lambda":\[-\(1\|0.99999\).*"velocity":\[2.[45]' '' solve "$folder/contact.jsonl"
write delassus.jsonl '{"id":0,"kind":"NCP","nc":1,"mu":[0.5],"G":[0.5,0,0.5,0,0,0.5],"g":[3,0,-1]}'
expect "the same by its Delassus matrix" 0 '"lambda":\[-\(1\|0.99999\)' '' solve "$folder/delassus.jsonl"
write singular.jsonl '{"id":0,"kind":"NCP","nc":1,"nv":1,"mu":[0.5],"M":[-1],"J":[0,0,1],"vfree":[-1]}'
expect "an inertia below zero" 3 '' 'singular.jsonl:1: ' solve "$folder/singular.jsonl"
if [ -w /dev/full ]; then
    checks=$((checks + 1))
    "$tribo" solve "$folder/one.jsonl" >/dev/full 2>"$folder/err"
    [ $? = 1 ] || { failures=$((failures + 1)); echo "failed: a full disk is not noticed"; }
fi

echo "Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
