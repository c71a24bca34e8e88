#!/bin/sh
# ranks.sh TRIBO DATA with|without (MPI): worlds and recordings dealt out over ranks: the bits of one process, and what is left
# where a rank dies; what is not shared over ranks is refused.
# Ends with Check's line; skipped where there is no mpirun.
tribo=$1 data=$2
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of OpenMPI; others do not ask
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$data" "$folder/data" && data=$folder/data # below words end at blanks, which the path may have
checks=0 failures=0
passes() { # NAME COMMAND...
    name=$1
    shift
    checks=$((checks + 1))
    "$@" >"$folder/said" 2>&1 && return
    failures=$((failures + 1))
    echo "failed: $name"
    tail -n 5 "$folder/said"
}

# Several processes of what is not shared over them would write the same file: they say so once, and write nothing.
refused() { # WORD COMMAND...
    word=$1
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    [ $? = 2 ] && [ "$(grep -c "$word" "$folder/err")" = 1 ] && [ ! -e "$folder/one.csv" ]
}
refused_input() { # COMMAND...
    "$@" >"$folder/out" 2>"$folder/err"
    [ $? = 3 ] && grep -q 'rank 1 of 2' "$folder/err"
}
ended() {
    echo "Checks: $checks, Failures: $failures, Errors: 0"
    [ $failures = 0 ]
    exit
}
motion="simulate $data/scenes/slide.xml --duration 0.1 --out $folder/one.csv"

worlds() { # WORLDS STEPS TABLE
    echo batch "$data/scenes/slide.xml" --randomise "$data/batch/cube.json" --gradient --threads 1 --worlds "$1" --steps "$2" --out "$3"
}
if [ "$3" = without ]; then
    passes "built without MPI" refused 'built without MPI' env OMPI_COMM_WORLD_SIZE=2 "$tribo" $motion
    passes "one process of one" env OMPI_COMM_WORLD_SIZE=1 PMI_SIZE=1 "$tribo" $motion
    ended
fi
command -v mpirun >/dev/null || {
    echo "there is no mpirun: skipped"
    exit 77
}
passes "two processes of simulate" refused 'mpirun started 2 processes' mpirun -n 2 "$tribo" $motion
passes "one process of simulate" mpirun -n 1 "$tribo" $motion

said() { grep -v ' a second by ' "$folder/$1.txt"; }

"$tribo" $(worlds 300 200 "$folder/alone.csv") >"$folder/alone.txt" 2>/dev/null
for n in 1 2 4 8; do
    mpirun -n $n "$tribo" $(worlds 300 200 "$folder/$n.csv") >"$folder/$n.txt" 2>/dev/null
    passes "the table of $n ranks" cmp "$folder/alone.csv" "$folder/$n.csv"
    said alone >"$folder/want" && said $n >"$folder/got"
    passes "the gradient of $n ranks" cmp "$folder/want" "$folder/got"
done

# One is killed as soon as there is a file: the others end, with a message, and the file stays.
killed() { # FILE COMMAND...
    file=$1
    shift
    "$@" >"$folder/out" 2>"$folder/err" &
    job=$!
    tries=0
    while [ ! -s "$file" ] && [ $tries -lt 600 ]; do
        sleep 0.2
        tries=$((tries + 1))
    done
    kill -9 "$(ps -o pid= --ppid $job | tail -n 1)"
    ! wait $job
}
passes "a rank that dies ends the job" killed "$folder/dead.csv" mpirun -n 2 "$tribo" $(worlds 3000000 200 "$folder/dead.csv")
passes "with a message" grep -q 'exited on signal' "$folder/err"
passes "and the table so far" [ "$(wc -l <"$folder/dead.csv")" -gt 2000 ]

# Fits: all that is printed and written, but how long it took and where it is.
fit() { # OUT MORE...
    out=$1
    shift
    echo identify "$data/scenes/collision.xml" --data "$data"/recordings/*-[123].csv --free floor/friction cube/mass --out "$folder/$out" "$@"
}
told() {
    sed 's/, [0-9.]* s[;.]/ s/' "$folder/$1.txt" "$folder/$1/result.json" "$folder/$1/report.html" "$folder/$1/identified.xml" |
        grep -v '"seconds"\|^<pre>tribo identify'
}
fits_of() { # KIND RANKS MORE...
    kind=$1 ranks=$2
    shift 2
    "$tribo" $(fit "$kind" "$@") >"$folder/$kind.txt" 2>/dev/null
    for n in $ranks; do
        mpirun -n $n "$tribo" $(fit "$kind-$n" "$@") >"$folder/$kind-$n.txt" 2>/dev/null
        told "$kind" >"$folder/want" && told "$kind-$n" >"$folder/got"
        passes "$kind by $n ranks" cmp "$folder/want" "$folder/got"
    done
}
fits_of shooting '2 8' --iterations 3 --validation 0.3
fits_of columns 3 --iterations 3 --free cube.p/gain cube.pz/bias
fits_of rollouts 4 --iterations 2 --loss rollout --estimate-start
fits_of folds 2 --iterations 1 --folds 2 --compare floor/friction
"$tribo" validate "$data/scenes/collision.xml" --data "$data"/recordings/*.csv >"$folder/want"
mpirun -n 4 "$tribo" validate "$data/scenes/collision.xml" --data "$data"/recordings/*.csv >"$folder/got" 2>/dev/null
passes "validate by 4 ranks" cmp "$folder/want" "$folder/got"

passes "a rank that dies ends the fit" killed "$folder/dead/result.json" mpirun -n 3 "$tribo" $(fit dead)
passes "with a message" grep -q 'exited on signal' "$folder/err"
passes "and the best so far" grep -q '"interrupted": true' "$folder/dead/result.json"
passes "as a scene too" "$tribo" check "$folder/dead/identified.xml"

# What one rank does not find, none waits for.
mkdir "$folder/there"
cp "$data/recordings/collision-1.csv" "$folder/there/one.csv"
without='[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && cd /; exec "$@"'
passes "a rank without the files" refused_input sh -c "cd '$folder/there' && exec mpirun -n 2 sh -c '$without' sh '$tribo' \
    identify '$data/scenes/collision.xml' --data one.csv --free floor/friction --out '$folder/none'"
ended
