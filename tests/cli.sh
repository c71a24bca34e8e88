#!/bin/sh
# cli.sh TRIBO DATA: the command as a user meets it: exit status, what is said, what is written. Ends with Check's line.
tribo=$1 data=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failures=0

# expect NAME STATUSES OUT ERR ARGUMENTS...: run the command; its streams must match the patterns ("" = must be empty,
# "*" = anything).
expect() {
    name=$1 status=$2 out=$3 err=$4
    shift 4
    checks=$((checks + 1))
    "$tribo" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    wrong=
    case " $status " in
    *" $got "*) ;;
    *) wrong="exit status $got, not $status" ;;
    esac
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
expect "a verb misspelt" 2 '' 'no verb idnetify; the nearest is identify' idnetify
expect "an option misspelt" 2 '' 'no option --duraton; the nearest is --duration' simulate slide --duraton 2
expect "an option cut short" 2 '' '--c can be --compare and --controls: more letters' identify slide --c x
expect "a word misspelt" 2 '' 'nearest is huber' identify slide --robust hubber
expect "help of a verb, asked otherwise" 0 '^usage: tribo solve' '' help solve
expect "commit and libraries" 0 '^OpenBLAS  *[^ ]' '' --version
expect "the same as JSON" 0 '"commit": "' '' --version --json
expect "help" 0 '^  solve' '' --help
expect "version" 0 '^tribo [0-9]*\.[0-9]*\.[0-9]*$' '' --version
for verb in $("$tribo" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    expect "help of $verb" 0 "^usage: tribo $verb" '' "$verb" --help
    expect "$verb without anything" 2 '' "^tribo $verb: " "$verb"
    expect "unknown option of $verb" 2 '' 'no option --frob' "$verb" --frob
    expect "unknown short option of $verb" 2 '' 'no option -z' "$verb" -z
done

TRIBO_SCENES="$data/scenes" expect "a scene misspelt" 3 '' 'the nearest is slide' simulate slid

# ---- solve ----
good='{"id":1,"kind":"QP","n":2,"P":[1,-0.9,1],"q":[-0.1,1],"w":[1,0]}'
write one.jsonl "$good"
expect "a QP" 0 '^{"id":1,"status":"ok","x":\[0.\(1,\|10000\|09999\).*"grad_P":\[' '' solve "$folder/one.jsonl"
expect "JSON, asked for" 0 '^{"id":1' '' solve --json "$folder/one.jsonl"
expect "options before the file" 0 '"status":"ok"' '' solve --tol 1e-8 -- "$folder/one.jsonl"
law_problem='{"id":7,"name":"p","kind":"NCP","nc":1,"nv":3,"mu":[0.5],"M":[1,0,1,0,0,1],"J":[1,0,0,0,1,0,0,0,1],"vfree":[1,0,-1]}'
echo "$law_problem" > "$folder/contact.jsonl"
expect "another solver" 0 '"status":"ok".*"ncp_residual"' '' solve "$folder/contact.jsonl" --solver pgs
expect "a solver of another law" 2 '' 'the law ncp has no solver lemke; it has ladder' solve "$folder/contact.jsonl" --solver lemke
expect "no such law" 2 '' 'law: .newton. is none of ncp, ccp' solve "$folder/contact.jsonl" --law newton
expect "an impossible number" 2 '' 'relaxation: .2.5. is no number above 0 and below 2' solve "$folder/contact.jsonl" --relaxation 2.5
expect "facets of a half" 2 '' 'facets: .4.5. is no integer' solve "$folder/contact.jsonl" --facets 4.5
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

# there NAME PATTERN: a file that was written has what it should
there() {
    checks=$((checks + 1))
    grep -q -e "$2" "$folder/$1" && return
    failures=$((failures + 1))
    echo "failed: $1 does not have $2"
}

# ---- simulate ----
slide=$data/scenes/slide.xml
expect "a simulation" 0 '^0.05,' '' simulate "$slide" --duration 0.05
expect "its summary" 0 '"not_converged": 0' '' simulate "$slide" --duration 0.05 --json
expect "a simulation into a file" 0 '' '' simulate "$slide" --duration 0.05 --out "$folder/slide.csv"
there slide.csv '^time,cube.px,'
expect "at the times of a file" 0 '^0.05,' '' simulate "$slide" --start "$folder/slide.csv" --dt 0.0003
expect "beyond the times of a file" 0 '^0.0\(6\|599999\)' '' simulate "$slide" --start "$folder/slide.csv" --duration 0.06
head -n 2 "$folder/slide.csv" >"$folder/row.csv"
expect "from one row" 0 '^0.05,' '' simulate "$slide" --start "$folder/row.csv" --duration 0.05
expect "one row alone" 0 '"rows": 1,' '' simulate "$slide" --start "$folder/row.csv" --json
expect "beyond a recording in a page" 0 '"steps": 60,' '*' view "$slide" --start "$folder/row.csv" --duration 0.06 --json --out "$folder/slide.html"
expect "its measures as columns" 0 ',measure.energy,' '' simulate "$slide" --duration 0.05 --measures
expect "and in the summary" 0 '"friction_loss": 0\.[0-9]' '' simulate "$slide" --duration 0.05 --measures --json
expect "a table with measures" 0 '' '' simulate "$slide" --duration 0.05 --measures --out "$folder/measured.csv"
expect "is a recording like others" 0 '^0.05,' '' simulate "$slide" --start "$folder/measured.csv"
expect "a page" 0 '' 'view: wrote' view "$slide" --duration 0.05 --out "$folder/slide.html"
expect "a page beside a recording" 0 '<html' '' view "$slide" --data "$folder/slide.csv" --out -
expect "the summary of a page" 0 '"frames":' 'view: wrote' view "$slide" --duration 0.05 --json --out "$folder/slide.html"
expect "a page and a summary in one" 2 '' 'both on standard output' view "$slide" --json --out -
expect "two starts" 2 '' 'not also --start' view "$slide" --data "$folder/slide.csv" --start "$folder/slide.csv"
expect "no key to view from" 3 '' 'there is no key' view "$slide" --key none --out "$folder/none.html"
cp "$folder/slide.csv" "$folder/page.html"
expect "a page over its recording" 2 '' 'nothing is written over' view "$slide" --data "$folder/page.html" --out "$folder/page.html"
for name in a.jpg a a.csv; do
    expect "a page by another name, $name" 2 '' "$name ends in none of .html, .glb, .png, .svg" view "$slide" --duration 0.01 --out "$folder/$name"
done
expect "a picture in capitals" 0 '' 'view: wrote' view "$slide" --duration 0.01 --out "$folder/A.PNG"
there A.PNG IHDR
expect "no such scene" 3 '' 'none.xml: No such file: there is no such scene in ' simulate "$folder/none.xml"
expect "the nearest scene" 3 '' 'the nearest is slide.xml' simulate "$data/scenes/slyde.xml"
# among the scenes that are named or installed; TRIBO_SCENES stands for the latter here
export TRIBO_SCENES="$data/scenes"
expect "a scene that is found" 0 '^0.05,' '' simulate slide --duration 0.05
expect "a scene that is not" 3 '' "nor in $data/scenes, .*nearest is slide.xml" simulate slid.xml
unset TRIBO_SCENES
# standard input and output
expect_input() { # as expect, with a file as standard input
    input=$1; shift
    checks=$((checks + 1))
    name=$1 status=$2 out=$3; shift 3
    "$tribo" "$@" <"$input" >"$folder/out" 2>"$folder/err"
    [ $? = "$status" ] && grep -q -e "$out" "$folder/out" "$folder/err" && return
    failures=$((failures + 1))
    echo "failed: $name"; head -n 5 "$folder/out" "$folder/err"
}
expect_input "$slide" "a scene from standard input" 0 '0.05,' simulate - --duration 0.05 --out -
expect_input "$folder/slide.csv" "rows from standard input" 0 '0.05,' simulate "$slide" --start -
expect_input "$slide" "two things from standard input" 2 'standard input is the scene already' simulate - --start -
printf '<mujoco>\n<nothing/></mujoco>' >"$folder/nothing.xml"
expect_input "$folder/nothing.xml" "what is wrong there" 3 'standard input:2: ' check -
expect "no time" 2 '' 'duration takes' simulate "$slide" --duration 0
expect "negative step" 2 '' 'dt takes' simulate "$slide" --dt -1
no_room='more contacts than there is room for (--ncon-max)' least=': at least 4$'
expect "more contacts than there is room for" 3 '' "$no_room$least" simulate "$slide" --ncon-max 3
expect "the same in a page" 4 '' "$no_room$least" view "$slide" --ncon-max 3 --out "$folder/few.html"
expect "the same in gradients" 3 '' "$no_room" gradcheck "$slide" --ncon-max 3
expect "room for them" 0 '^0.05,' '' simulate "$slide" --duration 0.05 --ncon-max 4
expect "room for none" 2 '' 'ncon-max takes a whole number from 1' simulate "$slide" --ncon-max 0
# ---- nothing is written over what was read, under whatever name ----
cp "$slide" "$folder/scene.xml" && mkdir "$folder/fit" && cp "$slide" "$folder/fit/identified.xml"
ln -s scene.xml "$folder/symbolic.xml" && ln "$folder/scene.xml" "$folder/hard.xml"
cp "$folder/slide.csv" "$folder/start.csv"
for out in scene.xml ../$(basename "$folder")/scene.xml symbolic.xml hard.xml; do
    expect "the scene as the output, $out" 2 '' 'nothing is written over an input' simulate "$folder/scene.xml" --out "$folder/$out"
done
expect "the start as the output" 2 '' 'nothing is written over an input' simulate "$slide" --start "$folder/start.csv" --out "$folder/start.csv"
expect "the fitted scene as the input" 2 '' 'nothing is written over an input' identify "$folder/fit/identified.xml" \
    --data "$folder/slide.csv" --free floor/friction --out "$folder/fit"
cp "$slide" "$folder/fit/report.html"
expect "the compared scene as the page" 2 '' 'nothing is written over an input' compare "$folder/fit/report.html" --out "$folder/fit"
cmp -s "$slide" "$folder/scene.xml" && cmp -s "$slide" "$folder/fit/identified.xml" && cmp -s "$folder/slide.csv" "$folder/start.csv" || {
    failures=$((failures + 1))
    echo "failed: an input was written over"
}
expect "no such folder" 1 '' 'nowhere/x.csv: ' simulate "$slide" --out "$folder/nowhere/x.csv"
write bad.csv 'time,cube.px
0,1
0,2'
expect "times that do not rise" 3 '' 'bad.csv:3: ' simulate "$slide" --start "$folder/bad.csv"
write bad.xml '<mujoco>
<worldbody><body><freejoint/><geom type="torus"/></body></worldbody></mujoco>'
expect "a shape nobody knows" 3 '' 'bad.xml:2: ' simulate "$folder/bad.xml"

# ---- compare ----
expect "a comparison" 0 '^ncp/ladder  *[0-9]' 'the reference, 320 steps' compare "$slide" --duration 0.02
expect "of some, as JSON" 0 '"solver": "pgs"' 'ccp/pgs' compare "$slide" --duration 0.02 --laws ncp/pgs,ccp --json
expect "of one, by the options of a law" 0 '^ncp/pgs ' '*' compare "$slide" --duration 0.02 --law ncp --solver pgs
expect "into a folder" 0 '^ncp' '*' compare "$slide" --duration 0.02 --laws ncp --out "$folder/compared/here"
there compared/here/report.html '</html>'
there compared/here/result.json '"energy_error": [0-9]'
expect "a solver that fails is a row" 0 '^ncp/pgs.* 20  *20$' '*' compare "$slide" --duration 0.02 --laws ncp/pgs --max-iter 1
expect "from a row of a file" 0 '^ncp/ladder' '*' compare "$slide" --duration 0.02 --laws ncp --start "$folder/slide.csv"
write push.csv 'time,cube.fx
0,3'
expect "under forces" 0 '^ncp/ladder' '*' compare "$slide" --duration 0.02 --laws ncp --controls "$folder/push.csv"
expect "a robot on its servos" 0 '^ncp/ladder  *[0-9].* 0  *0$' '*' compare "$data/scenes/quadruped.xml" --duration 0.02 --laws ncp/ladder
expect "a law nobody knows" 2 '' 'there is no law newton' compare "$slide" --laws ncp,newton
expect "an empty word" 2 '' 'there is no law' compare "$slide" --laws ncp,
expect "a solver of another law" 2 '' 'the law ncp has no solver lemke' compare "$slide" --laws ncp/lemke
expect "no steps" 2 '' 'are no step of' compare "$slide" --duration 1e-9
expect "too many steps" 2 '' 'are too many' compare "$slide" --duration 1e8
expect "no time limit" 2 '' 'limit takes' compare "$slide" --limit 0
expect "no finer steps" 2 '' 'finer takes' compare "$slide" --finer 0
expect "a scene that is not there" 3 '' 'none.xml: ' compare "$folder/none.xml"
expect "a folder that cannot be" 1 '' '/dev/null' compare "$slide" --duration 0.02 --laws ncp --out /dev/null/here

expect "without remarks" 0 '^ncp' '' compare "$slide" --duration 0.02 --laws ncp --quiet
# who reads no more ends it, without a word and without a file
checks=$((checks + 1))
{ "$tribo" simulate "$slide" --duration 20 2>"$folder/err"; echo $? >"$folder/status"; } | head -n 1 >/dev/null
[ "$(cat "$folder/status")" = 141 ] && [ ! -s "$folder/err" ] || { failures=$((failures + 1)); echo "failed: SIGPIPE"; }

# ---- actuators and keys ----
driven="$data/scenes/driven.xml"
expect "controls of the first key" 0 '^0,0,0,0.3,0,' '' simulate "$driven" --duration 0.01
expect "another key" 0 '^0,0.2,0.1,-1.2,0.2,' '' simulate "$driven" --duration 0.01 --key reach
expect "a key misspelt" 3 '' 'no key raech; the nearest is reach' simulate "$driven" --key raech
expect "a key nobody knows" 3 '' 'there is no key up' simulate "$driven" --key up
write held.xml '<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0" damping=".1"/><geom size=".05" pos=".3 0 0"/></body></worldbody>
<actuator><position joint="j" kp="20"/></actuator><keyframe><key qpos=".2" ctrl=".8"/></keyframe></mujoco>'
expect "what the first key holds" 0 '' '' simulate "$folder/held.xml" --duration 1 --out "$folder/held.csv"
expect "holds where it is validated" 0 '^mean  *501  *-  *-  *0.00  *-  *0.000 ' '' validate "$folder/held.xml" --data "$folder/held.csv"
expect "and where it is identified" 0 '^j/damping .* 0.2  *0.099[5-9]' '*' identify "$folder/held.xml" \
    --data "$folder/held.csv" --free j/damping=0.2 --out "$folder/held"
printf 'time,push.ctrl,elbow.tau,elbow.ctrl\n0,0.5,1,0.2\n' >"$folder/drive.csv"
expect "controls by name" 0 '^0.01,' '' simulate "$driven" --duration 0.01 --controls "$folder/drive.csv"
printf 'time,push.tau\n0,0.5\n' >"$folder/drive.csv"
expect "an actuator is no joint" 3 '' 'push.tau.* is unknown' simulate "$driven" --duration 0.01 --controls "$folder/drive.csv"

# ---- check ----
cat >"$folder/needs.xml" <<'END'
<mujoco><worldbody><body name="b"><freejoint/><geom size="0.1"/>
<flexcomp/></body></worldbody>
<actuator><muscle/></actuator></mujoco>
END
expect "what a scene needs" 3 'needs.xml:2: <flexcomp>: .*\[flexcomp\]' '' check "$folder/needs.xml"
expect "how often" 3 'missing: flexcomp (1), muscle (1)' '' check "$folder/needs.xml"
expect "left out in part" 3 'missing: muscle (1)' '' check "$folder/needs.xml" --lenient flexcomp
expect "left out" 0 'mass 4.18879 kg' '' check "$folder/needs.xml" --lenient flexcomp,muscle
expect "as JSON" 0 '"left_out": true' '' check "$folder/needs.xml" --lenient flexcomp --lenient muscle --json
expect "a refusal by another verb" 3 '' 'needs.xml:2: <flexcomp>: .* (and 1 more: ' simulate "$folder/needs.xml"
expect "leniency of another verb" 0 '^0.01,' '' simulate "$folder/needs.xml" --lenient flexcomp,muscle --duration 0.01
printf '<mujoco><option integrator="RK4"/>\n<worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>' >"$folder/rk4.xml"
expect "another way to step" 0 'rk4.xml:1: <option integrator>: .*, left out .integrator.' '' check "$folder/rk4.xml"
expect "another way to step, simulated" 0 '^0.01,' 'rk4.xml:1: steps are of first order' simulate "$folder/rk4.xml" --duration 0.01
expect "another way to step, known" 0 '^0.01,' '' simulate "$folder/rk4.xml" --duration 0.01 --lenient integrator
expect "a scene that is whole" 0 'nv 6' '' check "$slide"
sed 's/qpos="0 0 0.1 /qpos="0 0 0.07 /' "$slide" >"$folder/sunk.xml"
expect "what overlaps at the start" 0 '^at key start floor and cube overlap by 0.03 m' '' check "$folder/sunk.xml"
expect "what overlaps, as JSON" 0 '"depth": 0.0[23]' '' check "$folder/sunk.xml" --json
for one in "$data"/scenes/*.xml; do expect "nothing of ours overlaps" 0 '"overlaps": \[\]' '' check "$one" --json; done
echo '<mujoco><worldbody><geom size="1"/></worldbody></mujoco>' >"$folder/still.xml"
expect "nothing is missing, and it does not load" 3 '"text": "there is no body that moves' 'still.xml:1: there is no body' check "$folder/still.xml" --json
expect "a scene that is broken" 3 '' 'none.xml: ' check "$folder/none.xml"
expect "no scene to check" 2 '' 'which scene' check

# ---- gradcheck ----
expect "a gradient" 0 '^friction .*' '' gradcheck "$slide"
expect "of ten steps as JSON" 0 '"ok": true' '' gradcheck "$slide" --steps 10 --seed 3 --json
expect "from a row of a file" 0 'within 1e-06' '' gradcheck "$slide" --start "$folder/slide.csv"
expect "to a tolerance that cannot be" 4 'NOT within' '' gradcheck "$slide" --tol 1e-30
cat > "$folder/wedge.xml" << 'XML'
<mujoco>
<option timestep="0.01"/>
<worldbody>
<geom type="plane" size="0 0 1" zaxis="0.9931784793594142 0 0.11660406569807831" friction="0.1"/>
<geom type="plane" size="0 0 1" zaxis="-0.999990052509691 0 0.004460367884539837" friction="0.1"/>
<body pos="-0.16580749740862982 0 2.993160827933619" quat="0.9970742470789776 -0.0763394293794987 -0.0038921117416169876 -0.0002979934446273517">
<freejoint/><geom type="box" size="0.17840399120816647 0.08861773443035219 0.06460035518761766" mass="1" friction="0.1"/></body>
</worldbody>
<keyframe><key qpos="-0.16580749740862982 0 2.993160827933619 0.9970742470789776 -0.0763394293794987 -0.0038921117416169876 -0.0002979934446273517"
qvel="0 0 -0.10224331732576295 0 0 0"/></keyframe>
</mujoco>
XML
expect "in a narrow wedge, where a small compliance shows" 0 'within 1e-06' '' gradcheck "$folder/wedge.xml"
expect "no steps" 2 '' 'steps takes' gradcheck "$slide" --steps 0

# ---- validate and identify ----
recording=$data/recordings/collision-1.csv collision=$data/scenes/collision.xml
expect "a validation" 0 '^mean ' '' validate "$collision" --data "$recording"
expect "as JSON" 0 '"position_error_mean":' '' validate "$collision" --json --data "$recording" "$recording"
expect "a recording of other bodies" 3 '' 'collision-1.csv:1: ' validate "$slide" --data "$recording"
expect "an identification" '0 4' '^floor/friction ' 'descent' identify "$collision" --data "$recording" \
    --free floor/friction=0.3:0:1 --loss one-step --search 0 --iterations 3 --out "$folder/a/b"
there a/b/result.json '"std_error": [0-9]'
there a/b/identified.xml 'name="floor"'
there a/b/report.html '</html>'
there a/b/report.html 'href="#r0"'
there a/b/report.html '<details id="r0" open>'
there a/b/report.html 'autocorrelation'
there a/b/report.html 'class="warning"'
there a/b/result.json '"warnings": \['
expect "a parameter nobody knows" '2 3' '' 'floor/colour' identify "$collision" --data "$recording" --free floor/colour \
    --out "$folder/c"
expect "bounds of text" 2 '' 'free takes' identify "$collision" --data "$recording" --free floor/friction=1:a:b \
    --out "$folder/c"
expect "a start out of bounds" '2 3' '' 'friction' identify "$collision" --data "$recording" \
    --free floor/friction=2:0:1 --out "$folder/c"

expect "a column nobody has" 2 '' 'no parameter cube.q/bias' identify "$collision" --data "$recording" --free cube.q/bias \
    --out "$folder/fit"
expect "a camera in a rollout" 2 '' 'gain and bias of columns' identify "$collision" --data "$recording" \
    --free cube.p/gain --loss rollout --out "$folder/fit"
marked=$folder/marked.xml
sed 's|</body>|<site name="a" pos="0.1 0.1 0.1"/><site name="b" pos="-0.1 0.1 0.1"/><site name="c" pos="0.1 -0.1 0.1"/></body>|' "$slide" > "$marked"
{ echo time,a.px,a.py,a.pz,b.px,b.py,b.pz,c.px,c.py,c.pz
  for k in 0 1 2 3 4 5 6 7 8 9 10 11; do
      awk -v k="$k" 'BEGIN { x = 0.02 * k - 1.2e-4 * k * k; printf "%g,%.7f,0.1,0.2,%.7f,0.1,0.2,%.7f,-0.1,0.2\n", k / 100, x + 0.1, x - 0.1, x + 0.1 }'
  done; } > "$folder/seen.csv"
awk -F, -v OFS=, 'NR > 1 { for (i = 2; i <= NF; i++) $i *= 1000 } 1' "$folder/seen.csv" > "$folder/seen-mm.csv"
expect "friction by markers" '0' '^floor/friction  *1  *0.5  *0.24[45]' 'descent' identify "$marked" --data "$folder/seen.csv" \
    --free floor/friction=0.5 --out "$folder/fit"
expect "markers as a start" 0 '^seen.csv  *12 ' '' validate "$marked" --data "$folder/seen.csv" --estimate-start
expect "markers in millimetres" 3 '' 'seen-mm.csv: markers are 1e+03 times' identify "$marked" --data "$folder/seen-mm.csv" \
    --free floor/friction --out "$folder/fit"
for sign in -1 1; do
  awk -v sign=$sign 'BEGIN { print "time,cube.px,cube.py,cube.pz,cube.qw,cube.qx,cube.qy,cube.qz,floor.fx,floor.fy,floor.fz"
    srand(3); for (k = 0; k <= 40; k++) { t = 0.01 * k; n = rand() - 0.5
      printf "%g,%.9g,%.9g,0.1,1,0,0,0,%g,%g,%g\n", t, 2 * t - 0.981 * t * t + n / 500, (rand() - 0.5) / 500,
        0.2 * 0.8 * 9.81 + (rand() - 0.5) / 5, (rand() - 0.5) / 5, sign * 0.8 * 9.81 + (rand() - 0.5) / 5 } }' > "$folder/press$sign.csv"
done
expect "a mass by a plate" 0 '^cube/mass  *kg  *1  *0.[78][09]' 'descent' identify "$data/scenes/slide.xml" --data "$folder/press-1.csv" \
    --free cube/mass floor/friction --out "$folder/fit"
expect "forces beside a prediction" 0 '^mean .* [0-9.]*$' '' validate "$data/scenes/slide.xml" --data "$folder/press-1.csv"
expect "forces on the other side" 3 '' 'press1.csv: floor: its forces pull' validate "$data/scenes/slide.xml" --data "$folder/press1.csv"
printf 'time,cube.px,cube.fx\n0,0,1\n1,0,1\n' > "$folder/applied.csv"
expect "applied forces in a recording" 3 '' 'column .cube.fx. is unknown' validate "$data/scenes/slide.xml" --data "$folder/applied.csv"
expect "where a site is, of poses alone" 2 '' 'a/site_pos/x: nothing depends on it' identify "$marked" \
    --data "$folder/slide.csv" --free a/site_pos --out "$folder/fit"
expect "a misspelt parameter" 2 '' 'no parameter floor/fricton; the nearest is floor/friction' identify "$collision" \
    --data "$recording" --free floor/fricton --out "$folder/c"
expect "a misspelt group" 2 '' 'the nearest is cube/inertia' identify "$collision" --data "$recording" --free cube/intertia --out "$folder/c"
expect "parameters" 0 '^cube/mass  *0.6 kg  *0' '' params "$collision"
expect "where a marker sits is a parameter" 0 'site_pos/x .* m ' '' params "$data/scenes/quadruped.xml"
expect "parameters as JSON" 0 '"unit": "m/s^2"' '' params "$collision" --json
expect "parameters of nothing" 3 '' 'none.xml: ' params "$folder/none.xml"

printf 'time,cube.fx\n0,3\n0.3,0\n' > "$folder/push.csv"
expect "the best of candidate motions" 0 '^.*push.csv  *[+]- 0.000.*[+]- 0.00[0-9]* ' '' design "$data/scenes/slide.xml" --free floor/friction cube/mass \
    --candidates "$data/scenes/slide.xml" "$folder/push.csv" "$data/scenes/slide.xml+$folder/push.csv"
expect "what a slide leaves open" 0 'not determined' '' design "$data/scenes/slide.xml" --free floor/friction cube/mass --candidates "$data/scenes/slide.xml"
expect "a design as JSON" 0 '"cube/mass": null' '' design "$data/scenes/slide.xml" --free cube/mass --candidates "$data/scenes/slide.xml" --json
expect "more rows tell more" 0 '^.*driven.xml  *[+]- 0.00065' '' design "$data/scenes/driven.xml" --free rail/damping \
    --candidates "$data/scenes/driven.xml" --duration 2 --rotation 0.001 --rate 400
expect "a design of nothing" 2 '' '--candidates: which motions' design "$data/scenes/slide.xml" --free floor/friction
expect "a parameter that a candidate has not" 3 '' 'no parameter impact/restitution' design "$collision" --free impact/restitution \
    --candidates "$data/scenes/slide.xml"

expect "sets of free parameters compared" 0 '^none .*the best; advised' '*' identify "$collision" --loss one-step --search 0 --iterations 20 \
    --data "$data"/recordings/collision-[1-4].csv --free floor/friction floor/slop --compare floor/friction --compare none --folds 2 --out "$folder/cv"
there cv/result.json '"advised": true'
expect "a set of others" 2 '' 'cube/mass is not among those of --free' identify "$collision" --data "$recording" "$recording" \
    --free floor/friction --loss one-step --search 0 --compare cube/mass --out "$folder/cv"
expect "one part" 2 '' 'folds takes' identify "$collision" --data "$recording" --free floor/friction --folds 1 --out "$folder/cv"
expect "one recording" 2 '' 'cannot be held out' identify "$collision" --data "$recording" --loss one-step --search 0 --free floor/friction \
    --folds 3 --out "$folder/cv"

expect "noise by kind" '0 4' '^floor/friction ' '*' identify "$collision" --data "$recording" --free floor/friction --loss one-step --search 0 \
    --iterations 3 --noise position=0.001,rotation=0.01,velocity=out --out "$folder/noise"
expect "noise of another kind" 2 '' 'noise takes' identify "$collision" --data "$recording" --free floor/friction --noise colour=1 --out "$folder/noise"
expect "noise below zero" 2 '' 'noise takes' identify "$collision" --data "$recording" --free floor/friction --noise position=-1 --out "$folder/noise"

awk 'BEGIN { print "time,cube.px,cube.py,cube.pz"; for (k = 0; k < 120; k++) { t = k / 120; n = 1e-3 * sin(k * k)
    printf "%.3f,%.6f,%.6f,%.6f\n", t, 0.5 * (1 - exp(-2 * t)) + n, 1e-3 * sin(7 * k * k), 0.1 + 1e-3 * sin(11 * k * k) } }' >"$folder/viscous.csv"
expect "times that are not even, and a motion that no friction makes" 0 'does not explain the recordings' '*' identify "$slide" \
    --data "$folder/viscous.csv" --free floor/friction --estimate-start --out "$folder/viscous"
for bow in 0 0.02 other; do
    for i in 1 2 3; do
        awk -v i=$i -v bow=$bow 'function gauss() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
            BEGIN { srand(i); v = 1 + 0.4 * i; a = (bow == "other" && i == 3 ? 0.257 : 0.25) * 9.81; print "time,cube.px,cube.py,cube.pz,cube.qw,cube.qx,cube.qy,cube.qz"
            for (k = 0; k < 61; k++) { t = k / 100; s = t < v / a ? t : v / a; yaw = bow * (1 - (2 * t / 0.6 - 1) ^ 2)
            printf "%.2f,%.6f,%.6f,%.6f,1,%.6f,%.6f,%.6f\n", t, v * s - a * s * s / 2 + 1e-3 * gauss(), 1e-3 * gauss(),
                0.1 + 1e-3 * gauss(), 5e-3 * gauss(), 5e-3 * gauss(), yaw / 2 + 5e-3 * gauss() } }' >"$folder/bow-$bow-$i.csv"
    done
done
expect "slides that turn a little, which no friction makes" 0 'how cube turns (rotation, z) is within that, but goes slowly' '*' identify "$slide" \
    --data "$folder"/bow-0.02-?.csv --free floor/friction --out "$folder/bow"
expect "the same, straight" 0 '^floor/friction .* 0.2[45]' '*' identify "$slide" --data "$folder"/bow-0-?.csv --free floor/friction --out "$folder/straight"
expect "the same, one of them on another floor" 0 'each by itself asks for other parameters' '*' identify "$slide" --data "$folder"/bow-other-?.csv \
    --free floor/friction --out "$folder/other"
there straight/result.json '"warnings": \[\]'

# ---- optimize ----
cart=$data/scenes/cart-pole.xml tasks=$data/tasks
expect "steps that are too long" 3 '' 'at [0-9.]* s: something moves too fast for steps of this length' simulate "$cart" --dt 0.5 --duration 30
expect "a swing-up" 0 '^cost 9.0785' 'pass  *[0-9]* ' optimize "$cart" "$tasks/cart-pole.json" --out "$folder/swing"
there swing/result.json '"converged": true'
there swing/controls.csv '^time,rail.tau$'
there swing/feedback.txt '^tribo-policies 1'
expect "replayed by simulate" 0 '' '' simulate "$cart" --start "$folder/swing/trajectory.csv" --controls "$folder/swing/controls.csv" \
    --out "$folder/swing/replay.csv"
checks=$((checks + 1))
cmp -s "$folder/swing/replay.csv" "$folder/swing/trajectory.csv" || { failures=$((failures + 1)); echo "failed: a replay differs"; }
expect "begun from what was found" 0 '^cost 9.0785.* [0-9] passes' '*' optimize "$cart" "$tasks/cart-pole.json" --guess "$folder/swing/controls.csv"
printf 'time,pivot.tau\n0,1\n' >"$folder/pivot.csv"
expect "begun from controls of others" 3 '' 'pivot.csv:1: none of its columns has numbers of the task.s controls, as rail.tau' optimize "$cart" "$tasks/cart-pole.json" \
    --guess "$folder/pivot.csv"
expect "more passes than there can be" 2 '' 'iterations takes a number from 1 to 100000000, not 99999999999999' optimize "$cart" "$tasks/cart-pole.json" \
    --iterations 99999999999999
expect "the same bits with one worker" 0 '*' '*' optimize "$cart" "$tasks/cart-pole.json" --workers 1 --out "$folder/one.csv"
checks=$((checks + 1))
cmp -s "$folder/one.csv" "$folder/swing/trajectory.csv" || { failures=$((failures + 1)); echo "failed: workers change bits"; }
write free.xml '<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body name="b"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
write turning.json '{"knots": 4, "terms": [{"what": "control"}, {"what": "state", "target": {"time": [0, 0.04], "values":
    [[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, -0.99500417, 0, 0, -0.09983342, 0, 0, 0, 0, 0, 0]]}}]}'
expect "rotations of states that turn the short way" 0 'was 0.01750' '*' optimize "$folder/free.xml" "$folder/turning.json"
expect "several files on standard output" 2 '' 'is standard output, and no folder' optimize "$cart" "$tasks/cart-pole.json" --out -
expect "an acrobot" 0 '^cost 53.79' '*' optimize "$data/scenes/acrobot.xml" "$tasks/acrobot.json"
for guess in 1 1.25; do # of whole second derivatives far from a minimum it depends which of three is found
    write upright.json "$(sed "s/\"guess\": \[1\]/\"guess\": [$guess]/" "$tasks/acrobot.json")"
    expect "an acrobot by second derivatives from $guess N m" 0 '^cost 3.600855' '*' optimize "$data/scenes/acrobot.xml" \
        "$folder/upright.json" --method newton
done
expect "a hop" '0 4' '^cost' '*' optimize "$data/scenes/hopper.xml" "$tasks/hop.json" --iterations 40 --out "$folder/hop"
checks=$((checks + 1)) # where a hard law's search ends is decided by rounding: that it hops at all is not. It began at 3.84
awk '/"cost":/ { cost = $2 + 0 } /"state_end"/ { getline; getline; height = $1 + 0 }
    END { exit !(cost < 0.5 && height > 0.12) }' "$folder/hop/result.json" || { failures=$((failures + 1)); echo "failed: no hop"; }
# ends FILE.csv COLUMN FROM TO: a column's last number
ends() {
    checks=$((checks + 1))
    awk -F, -v name="$2" -v from="$3" -v to="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        END { exit !(at && $at >= from && $at <= to) }' "$folder/$1" && return
    failures=$((failures + 1))
    echo "failed: $1 ends with $2 outside $3 to $4"
}
expect "a hop of half a metre" '0 4' '^cost' '*' optimize "$data/scenes/hop.xml" "$tasks/hop-high.json" --out "$folder/high.csv"
ends high.csv height.q 0.4 0.6
expect "a ball bounced into a box" '0 4' '^cost' '*' optimize "$data/scenes/bin.xml" "$tasks/bounce-in.json" --out "$folder/bin"
ends bin/trajectory.csv ball.px 1.48 1.52
expect "it stays there" 0 '' '' simulate "$data/scenes/bin.xml" --controls "$folder/bin/controls.csv" --duration 3 --out "$folder/bin/after.csv"
ends bin/after.csv ball.px 1.38 1.62
ends bin/after.csv ball.pz 0.05 0.07
expect "a spinner turned and kept there" '0 4' '100 plans.*acted to the end' '*' optimize "$data/scenes/spinner.xml" "$tasks/spinner.json" --iterations 400 --receding 100 \
    --passes 10 --act-dt 0.001 --out "$folder/spinner.csv"
ends spinner.csv pin.q 1.5 2.5
expect "a cube turned about its edge" '0 4' '^cost' '*' optimize "$data/scenes/pivot.xml" "$tasks/pivot.json" --out "$folder/pivot.csv"
ends pivot.csv pitch.q 0.35 0.75
expect "a catapult" '0 4' '^cost' '*' optimize "$data/scenes/catapult.xml" "$tasks/catapult.json" --out "$folder/catapult.csv"
ends catapult.csv along.q 2.1 2.3
ends catapult.csv up.q 2.225 2.425
expect "a worm that jumps" '0 4' '^cost' '*' optimize "$data/scenes/jumpworm.xml" "$tasks/jumpworm.json" --out "$folder/worm.csv"
ends worm.csv up.q 0.5 9
expect "a finger, from noise down to the hard law" '0 4' '^cost -2[45]\..*law -2[45]' '*' optimize "$data/scenes/finger.xml" "$tasks/finger.json"
expect "a cube pushed from rest, by the hard law" 0 '^cost 50, was 50' '*' optimize "$data/scenes/push.xml" "$tasks/push.json" --stages none
expect "a cube pushed from rest, by a smoothed law" 0 '^cost 8.8399.*law 8.8399.*converged' '*' optimize "$data/scenes/push.xml" "$tasks/push.json"
expect "pushed on another law" 0 '60 knots, 1.2 s; 12 plans' '*' optimize "$data/scenes/push.xml" "$tasks/push.json" --receding 60 --every 5 \
    --act-law lcp,facets=8 --act-dt 0.0005 --out "$folder/receding"
expect "acted late" 0 '60 knots, 1.2 s' '*' optimize "$data/scenes/push.xml" "$tasks/push.json" --receding 60 --act-delay 3 --out "$folder/late"
expect "acted at once" 0 '60 knots, 1.2 s' '*' optimize "$data/scenes/push.xml" "$tasks/push.json" --receding 60 --out "$folder/prompt"
checks=$((checks + 1)) # the first control acts until the next has come, three knots late
awk -F, 'NR > 1 { u[FILENAME, FNR] = $2 } END { exit !(u[ARGV[1], 2] == u[ARGV[1], 5] && u[ARGV[1], 5] == u[ARGV[2], 2] &&
    u[ARGV[1], 6] != u[ARGV[1], 5]) }' "$folder/late/controls.csv" "$folder/prompt/controls.csv" || { failures=$((failures + 1)); echo "failed: no delay"; }
expect "a delay of nothing" 2 '' 'act-delay takes' optimize "$data/scenes/push.xml" "$tasks/push.json" --receding 60 --act-delay 0
there receding/result.json '"acted": 60'
expect "a trot, feet by a phase" 0 '30 knots, 0.3 s; 15 plans.*acted to the end' '*' optimize "$data/scenes/quadruped.xml" "$tasks/trot.json" --iterations 5 --receding 30 --every 2 \
    --passes 1 --act-dt 0.002
expect "few passes" 4 '"outcome": "not converged"' '*' optimize "$cart" "$tasks/cart-pole.json" --iterations 3 --method ilqr --json
expect "out of time" 4 'out of time$' 'out of time' optimize "$cart" "$tasks/cart-pole.json" --time 1e-6
expect "a search for two seconds" 4 'out of time$' 'out of time' optimize "$data/scenes/hopper.xml" "$tasks/hop.json" --time 2
checks=$((checks + 1))
near=$(awk '$3 == "pass" { if (n++ > 1 && $1 < t + 0.5) near++; t = $1 } END { print (n > 1 ? near + 0 : "none") }' "$folder/err")
[ "$near" = 0 ] || { failures=$((failures + 1)) && echo "failed: a line of progress at most every second: $near are closer"; }
expect "no task" 2 '' 'which task' optimize "$cart"
expect "stages of text" 2 '' 'stages takes' optimize "$cart" "$tasks/cart-pole.json" --stages soft
expect "a method nobody knows" 2 '' 'method takes' optimize "$cart" "$tasks/cart-pole.json" --method simplex
expect "an option of receding alone" 2 '' 'go with --receding' optimize "$cart" "$tasks/cart-pole.json" --every 3
# what is wrong with a receding horizon is said before the first plan
before() {
    expect "$@"
    checks=$((checks + 1))
    grep -q '^pass ' "$folder/err" || return 0
    failures=$((failures + 1))
    echo "failed: $1: said after the first plan"
}
before "steps that do not fit a knot" 2 '' 'no whole number of steps' optimize "$cart" "$tasks/cart-pole.json" --receding 2 --act-dt 0.0033
before "another scene to act on" 3 '' 'are not those of the scene' optimize "$cart" "$tasks/cart-pole.json" --receding 2 --act-scene "$slide"
before "a law to act on that is not" 2 '' '--act-law: ' optimize "$cart" "$tasks/cart-pole.json" --receding 2 --act-law bogus
before "noise of a law to act on that has none" 2 '' '--act-law: noise counts for nothing without' optimize "$cart" "$tasks/cart-pole.json" --receding 2 --act-law raisim,noise=3
before "plans that are too short" 2 '' '--every: a plan has only' optimize "$cart" "$tasks/cart-pole.json" --receding 2 --every 999999
cp "$tasks/cart-pole.json" "$folder/swing/result.json"
expect "a folder that cannot be made" 1 '' '/proc/none: ' optimize "$cart" "$tasks/cart-pole.json" --iterations 1 --out /proc/none/such
expect "a folder within another, with a slash" 4 '*' '*' optimize "$cart" "$tasks/cart-pole.json" --iterations 1 --out "$folder/outer/inner/"
expect "the task as the output" 2 '' 'nothing is written over an input' optimize "$cart" "$folder/swing/result.json" --out "$folder/swing"
# wrong NAME PATTERN TASK [SCENE]: a task that is answered by file and line
wrong() {
    printf '%b' "$3" >"$folder/task.json"
    expect "$1" 3 '' "$2" optimize "${4:-$cart}" "$folder/task.json"
}
wrong "an empty task" 'task.json:1: the file is empty: a task is' ''
wrong "an object without keys" 'task.json:1: there is no "knots": .*"knots": 100' '{}'
wrong "no terms" 'task.json:1: there is no "terms": .*"on": "rail"' '{"knots": 100}'
wrong "a term of nothing" 'task.json:2: terms\[0\]: there is no "what": .*joint-velocity' '{"knots": 100,\n"terms": [{}]}'
wrong "a term of no joint" 'terms\[0\]: there is no "on": .*rail, pivot' '{"knots": 100, "terms": [{"what": "joint"}]}'
wrong "a joint misspelt" 'task.json:3: terms\[1\].on: there is no joint .pivto.; the nearest is pivot' \
    '{"knots": 100, "terms": [{"what": "control"},\n {"what": "joint",\n "on": "pivto"}]}'
wrong "a joint of another machine" 'there is no joint .shoulder.; there are rail, pivot' '{"knots": 9, "terms": [{"what": "joint", "on": "shoulder"}]}'
wrong "a key misspelt" 'task.json:2: terms\[0\].wieght: there is no such key; the nearest is weight' '{"knots": 9, "terms": [{"what": "control",\n"wieght": 1}]}'
wrong "a kind misspelt" 'no kind of term .contrl.; the nearest is control' '{"knots": 9, "terms": [{"what": "contrl"}]}'
wrong "a norm misspelt" 'no norm .hubert.; the nearest is huber' '{"knots": 9, "terms": [{"what": "control", "norm": "hubert"}]}'
wrong "steps that are too long" 'the first guess: step [0-9]* of 60: something moves too fast for steps of 0.5 s' '{"knots": 60, "dt": 0.5, "terms": [{"what": "control"}]}'
wrong "a thousand million knots" 'knots: 1e+09 is not a number of knots' '{"knots": 1e9, "terms": [{"what": "control"}]}'
wrong "more than fits" 'steps are too many' '{"knots": 1000000, "substeps": 100000, "terms": [{"what": "control"}]}'
wrong "a number too large" 'task.json:1: column .*overflow' '{"knots": 1e999}'
wrong "no number" 'invalid token near .NaN' '{"knots": 9, "dt": NaN}'
wrong "a weight below zero" 'weight: -1 is not' '{"knots": 9, "terms": [{"what": "control", "weight": -1}]}'
wrong "a weight out of range" 'weight: 1e+308 is not' '{"knots": 9, "terms": [{"what": "control", "weight": 1e308}]}'
wrong "a key twice" 'duplicate object key' '{"knots": 9, "knots": 8}'
wrong "half a task" 'task.json:2: column' '{"knots": 9,\n'
wrong "no text" 'task.json:1: column .*0xff' '{"knots": 9, "\0377": 1}'
wrong "a target too long" 'target: has 2 numbers, not 3' '{"knots": 9, "terms": [{"what": "com", "target": [1, 2]}]}'
wrong "too few rows" 'target: has 2 rows for 9 knots' '{"knots": 9, "terms": [{"what": "com", "target": [[1, 2, 3], [1, 2, 3]]}]}'
wrong "times that do not rise" 'target.time: 0 does not come after 1' \
    '{"knots": 9, "terms": [{"what": "com", "target": {"time": [1, 0], "values": [[1, 2, 3], [1, 2, 3]]}}]}'
wrong "times longer than their period" 'target: its times span 1 s, .*period' \
    '{"knots": 9, "terms": [{"what": "com", "target": {"time": [0, 1], "period": 1, "values": [[1, 2, 3], [1, 2, 3]]}}]}'
wrong "a period of nothing" 'target.period: 0 is not' \
    '{"knots": 9, "terms": [{"what": "com", "target": {"time": [0], "period": 0, "values": [[1, 2, 3]]}}]}'
wrong "a turn that is none" 'length 1, not 2' '{"knots": 9, "terms": [{"what": "rotation", "on": "pole", "target": [2, 0, 0, 0]}]}'
wrong "a knot beyond the task" 'at\[1\]: 20 is not a knot' '{"knots": 9, "terms": [{"what": "control", "at": [5, 20]}]}'
wrong "the joint of a free body" 'body .cube. moves freely, without a joint' '{"knots": 9, "terms": [{"what": "joint", "on": "cube"}]}' "$data/scenes/push.xml"
wrong "a law without that solver" 'task.json:2: stages\[1\]: ' '{"knots": 9, "stages": [{"law": "stochastic", "noise": 0.1},\n{"law": "ncp", "solver": "lemke"}], "terms": [{"what": "control"}]}'
wrong "a word of no law" 'stages\[0\].noize: .*nearest is noise' '{"knots": 9, "stages": [{"noize": 0.1}], "terms": [{"what": "control"}]}'
wrong "a word of two parts" 'stages\[0\].dry_compliance: .*no number above 0' \
    '{"knots": 9, "stages": [{"softness": "physical", "compliance": 1, "dry_compliance": -1}], "terms": [{"what": "control"}]}'
wrong "noise of a law that has none" 'task.json:2: stages\[0\].noise: counts for nothing without "law": "stochastic"' '{"knots": 9,\n"stages": [{"noise": 0.1}], "terms": [{"what": "control"}]}'
wrong "compliance of hard contact" 'law.dry-compliance: counts for nothing without "softness": "physical"' \
    '{"knots": 9, "law": {"dry-compliance": 1}, "terms": [{"what": "control"}]}'
wrong "a path that nobody takes" 'law.kappa: counts for nothing without "solver": "interior"' '{"knots": 9, "law": {"kappa": 1e-3}, "terms": [{"what": "control"}]}'
wrong "softness of another kind" 'stages\[0\].impratio: .* "softness": "mujoco"' \
    '{"knots": 9, "stages": [{"softness": "physical", "compliance": 1, "impratio": 2}], "terms": [{"what": "control"}]}'
wrong "bounds of six columns" 'bounds.cube: is neither .* like "cube.fx"' \
    '{"knots": 9, "controls": ["cube"], "bounds": {"cube": [1, 1, 0, 0, 0, 0]}, "terms": [{"what": "control"}]}' "$data/scenes/push.xml"
wrong "bounds that hold nothing" 'bounds.rail: from 1 to -1' '{"knots": 9, "bounds": {"rail": [1, -1]}, "terms": [{"what": "control"}]}'
wrong "a control twice" 'controls\[1\]: is there twice' '{"knots": 9, "controls": ["rail", "rail.tau"], "terms": [{"what": "control"}]}'
wrong "a key of the scene misspelt" 'start: there is no key of the scene .hag.; the nearest is hang' '{"knots": 9, "start": "hag", "terms": [{"what": "control"}]}' \
    "$data/scenes/acrobot.xml"
wrong "no file of a guess" 'task.json:2: guess: .*none.csv: cannot be read' '{"knots": 9,\n"guess": "none.csv", "terms": [{"what": "control"}]}'
wrong "a guess that is too much" 'task.json:2: the first guess: step 1 of 9: ' '{"knots": 9,\n"guess": [1e12], "controls": ["rail"], "terms": [{"what": "control"}]}'
wrong "a target of no kind" 'target: is neither a number, a number for each knot' '{"knots": 9, "terms": [{"what": "joint", "on": "rail", "target": null}]}'
wrong "less itself" 'task.json:2: terms\[0\]: it is of pole and of the same' '{"knots": 9, "terms": [\n{"what": "position", "on": "pole", "less": "pole"}]}'
wrong "a constraint that weighs nothing" 'task.json:2: terms\[0\]: a constraint needs' '{"knots": 9, "terms": [\n{"what": "joint", "on": "rail", "norm": "limit", "weight": 0}]}'
wrong "bounds beyond an actuator's range" "bounds.elbow: from 20 to 30 there is nothing of the actuator's range, -15 to 15" \
    '{"knots": 9, "bounds": {"elbow": [20, 30]}, "terms": [{"what": "control"}]}' "$data/scenes/acrobot.xml"
wrong "a group of parameters" 'parameters.gravity: is a group: there is gravity/x, gravity/y, gravity/z' '{"knots": 9, "parameters": {"gravity": -3}, "terms": [{"what": "control"}]}'
wrong "a mass below zero" 'parameters: body pole: mass' '{"knots": 9, "parameters": {"pole/mass": -1}, "terms": [{"what": "control"}]}'
wrong "a term of the whole on a part" 'takes no "on"' '{"knots": 9, "terms": [{"what": "com", "on": "pole"}]}'
push=$data/scenes/push.xml
wrong "a contact force of nobody" 'there is no "on": the body that contact-force is of; there are cube' '{"knots": 9, "terms": [{"what": "contact-force"}]}' "$push"
wrong "a contact force of a body misspelt" 'terms\[0\].on: there is no body .cubo.; the nearest is cube' '{"knots": 9, "terms": [{"what": "contact-force", "on": "cubo"}]}' "$push"
wrong "a contact force with nobody" 'terms\[0\].with: .floor. is a geom of the world, and of no body' '{"knots": 9, "terms": [{"what": "contact-force", "on": "cube", "with": "floor"}]}' "$push"
wrong "a contact force of itself" 'terms\[0\]: it is of cube and of the same' '{"knots": 9, "terms": [{"what": "contact-force", "on": "cube", "with": "cube"}]}' "$push"
wrong "a contact force at the end" 'contact forces has nothing at the last' '{"knots": 9, "terms": [{"what": "contact-force", "on": "cube", "at": "final"}]}' "$push"
arm=$data/scenes/arm-7.xml
wrong "a geom for a body" 'task.json:2: terms\[0\].on: .stylus. is a geom, of body link 7: ' '{"knots": 9, "terms": [{"what": "position",\n"on": "stylus"}]}' "$arm"
wrong "a contact force of a geom" 'terms\[0\].on: .stylus. is a geom, of body link 7: ' '{"knots": 9, "terms": [{"what": "contact-force", "on": "stylus"}]}' "$arm"
wrong "a contact force with a geom of the world" 'terms\[0\].with: .table. is a geom of the world' '{"knots": 9, "terms": [{"what": "contact-force", "on": "link 7", "with": "table"}]}' "$arm"
wrong "the position of a joint" 'terms\[0\].on: .joint 3. is a joint: joint and joint-velocity' '{"knots": 9, "terms": [{"what": "position", "on": "joint 3"}]}' "$arm"
wrong "with, of something else" 'only a contact-force' '{"knots": 9, "terms": [{"what": "position", "on": "cube", "with": "cube"}]}' "$push"
# a cube that rests is pushed with 2 N, and the floor holds it: its contact forces are asked for, and how it is done is told
printf '{"knots": 5, "guess": [1], "controls": ["cube.fx"], "terms": [{"what": "contact-force", "on": "cube", "target": [-2, 0, 0], "weights": {"x": 1}}, {"what": "control", "weight": 1e-9}]}' >"$folder/task.json"
expect "a contact force" 0 '^contact-force cube .*e-[12]' '*' optimize "$push" "$folder/task.json" --out "$folder/force"
expect "the same, receding on another law" 0 '^contact-force cube .*e-[12]' '*' optimize "$push" "$folder/task.json" --receding 8 --act-law ccp --act-dt 0.001 --out "$folder/force"
# every key that the reader knows is in the guide, and none besides
keys() { "$tribo" optimize "$cart" "$folder/task.json" 2>&1 | sed 's/.*there are //; s/, /\n/g' | sort; }
guide() { sed -n "/^| $1 |/,/^\$/s/^| \`\([^\`]*\)\`.*/\1/p" "$data/../docs/control.md" | sort; }
printf '{"%s": 1}' zzzzzzzzzzzzzzzzzzzz >"$folder/task.json"
checks=$((checks + 2))
[ "$(keys)" = "$(guide 'key of a task')" ] || { failures=$((failures + 1)); echo "failed: keys of a task in docs/control.md"; }
printf '{"knots": 9, "terms": [{"%s": 1}]}' zzzzzzzzzzzzzzzzzzzz >"$folder/task.json"
[ "$(keys)" = "$(guide 'key of a term')" ] || { failures=$((failures + 1)); echo "failed: keys of a term in docs/control.md"; }

# the three tasks of the guide, as they stand in it
for file in box.xml push.json pole.xml balance.json arm.xml reach.json; do
    awk -v mark="<!-- file $file -->" '$0 == mark { on = 1; next } on && NF && !/^    [^$]/ { exit } on' "$data/../docs/control.md" | sed 's/^    //' >"$folder/$file"
done
sed '/"guess"/d' "$folder/push.json" >"$folder/still.json"
expect "a pusher that touches nothing" 0 '^cost 24.5, was 24.5; ' 'no control changes the cost from here' optimize "$folder/box.xml" "$folder/still.json"
expect "a box pushed to a place" '0 4' '^cost 0.2' '*' optimize "$folder/box.xml" "$folder/push.json" --out "$folder/pushed-box.csv"
tail -n 1 "$folder/pushed-box.csv" | awk -F, '$2 < 0.99 || $2 > 1.01 { print "failed: where the box is pushed"; exit 1 }' || failures=$((failures + 1))
expect "a pole balanced" 0 '300 knots, 6 s; 60 plans' '*' optimize "$folder/pole.xml" "$folder/balance.json" --iterations 100 --receding 300 --every 5 --passes 2 \
    --act-dt 0.001 --out "$folder/balanced.csv"
tail -n 1 "$folder/balanced.csv" | awk -F, '$4 * $4 > 1e-4 || $2 * $2 > 0.16 { print "failed: how the pole is balanced"; exit 1 }' || failures=$((failures + 1))
sed 's/ damping="0.5" armature="0.05"//' "$folder/arm.xml" >"$folder/light.xml"
expect "an arm without motors" 4 'not converged$' 'joint j[123] comes to a speed of [0-9]* and has neither armature' optimize "$folder/light.xml" "$folder/reach.json" --iterations 20
expect "an arm that reaches" 0 '^cost 0.5368.*converged' '*' optimize "$folder/arm.xml" "$folder/reach.json"

# ---- an interrupt: the best so far within a second, whatever is under way; until then a line a second ----
for signal in INT TERM; do
    checks=$((checks + 1))
    rm -f "$folder/err" # that of the signal before would be read until the shell has emptied it
    "$tribo" identify "$collision" --data "$data"/recordings/*.csv --free floor/friction=0.3 impact/restitution=0.2 cube/mass=1 \
        --optimizer adam --search 0 --out "$folder/$signal" >"$folder/out" 2>"$folder/err" &
    child=$!
    for wait in $(seq 300); do # progress is printed once a second, so that any one line may be missing
        grep -qs ' \([2-9]\|[1-9][0-9]*[0-9]\) descent  loss' "$folder/err" && break
        sleep 1
    done
    kill -s $signal $child
    sleep 1
    kill -0 $child 2>/dev/null && echo "failed: still there a second after SIG$signal" && failures=$((failures + 1))
    wait $child
    [ $? = $([ $signal = INT ] && echo 130 || echo 143) ] ||
        { failures=$((failures + 1)); echo "failed: exit status after SIG$signal"; }
    there $signal/result.json '"interrupted": true'
    there $signal/identified.xml 'name="floor"'
    there err 'interrupted; what follows'
    awk '/ s  / { if ($1 - last > 1.5) bad = 1; last = $1 } END { exit bad }' "$folder/err" ||
        { failures=$((failures + 1)); echo "failed: more than a second without a line"; cat "$folder/err"; }
done

# ---- the same of a search, and of the first plan of a receding horizon ----
for more in "" "--receding 10"; do
    checks=$((checks + 1))
    rm -rf "$folder/err" "$folder/stopped"
    "$tribo" optimize "$data/scenes/hopper.xml" "$tasks/hop.json" --stages 0.1,0.05,0.03 $more --out "$folder/stopped" >"$folder/out" 2>"$folder/err" &
    child=$!
    for wait in $(seq 100); do
        grep -qs ' pass ' "$folder/err" && break
        sleep 1
    done
    kill -s INT $child
    wait $child
    [ $? = 130 ] || { failures=$((failures + 1)); echo "failed: exit status of an interrupted search"; }
    there stopped/result.json '"interrupted": true'
    there stopped/controls.csv '^0.66,'
    there err 'interrupted; what follows'
done

# ---- what a recording is ----
write push.csv 'time,cube.fx
0,6
0.25,2
0.6,0'
expect "a pushed cube" 0 '' '' simulate "$slide" --duration 1 --controls "$folder/push.csv" --out "$folder/pushed.csv"
expect "its mass from its push" 0 '^cube/mass  *kg  *0.7  *\(1\|0.99999\|1.0000\)' '*' identify "$slide" --data "$folder/pushed.csv" \
    --controls "$folder/push.csv" --free cube/mass=0.7 floor/friction=0.3 --out "$folder/pushed"
awk -F, '$1 < 0.2 || $1 > 0.3' "$folder/pushed.csv" >"$folder/gap.csv"
expect "a gap over which a push changes" 0 '^cube/mass  *kg  *0.7  *\(1\|0.999\|1.000\)' '*' identify "$slide" --data "$folder/gap.csv" \
    --controls "$folder/push.csv" --free cube/mass=0.7 floor/friction=0.3 --late 0 --out "$folder/gap"
expect "validated under its push" 0 '^mean .* 0.00000 ' '' validate "$slide" --data "$folder/pushed.csv" --controls "$folder/push.csv"
awk -F, -v OFS=, 'NR > 1 { $1 *= 1000 } 1' "$folder/pushed.csv" >"$folder/slow.csv"
expect "milliseconds beside a push in seconds" 0 '^mean .* 0.00000 ' 'slow.csv: times are in milliseconds' validate "$slide" \
    --data "$folder/slow.csv" --controls "$folder/push.csv"
awk -F, -v OFS=, 'NR == 1 || NR < 152 || NR > 211 { if (NR > 211) $1 -= 0.06; print }' "$folder/pushed.csv" >"$folder/lost.csv"
expect "rows lost beside a push" 0 '^mean .* 0.00000 ' 'lost.csv: 60 rows are missing.*later times moved' validate "$slide" \
    --data "$folder/lost.csv" --controls "$folder/push.csv"
awk -F, -v OFS=, 'function off(by) { return by * (rand() + rand() + rand() + rand() - 2) }
    BEGIN { srand(7) } NR == 1 || NR % 10 == 2 {
        if (NR > 1) { $1 += 0.03; for (i = 2; i <= 8; i++) if (i != 5) $i += off(i < 5 ? 1e-3 : 2e-3) }
        NF = 8; print }' "$folder/pushed.csv" >"$folder/late.csv"
expect "a clock that is late" 0 '^late  *s  *0  *0.0[23]' 'late.csv: the recordings are 0.0[23].* behind the controls ([23]\.[0-9]* samples)' identify "$slide" \
    --data "$folder/late.csv" --controls "$folder/push.csv" --free cube/mass=0.7 floor/friction=0.3 --out "$folder/late"
expect "a clock that is known" 0 '^cube/mass  *kg  *0.7  *\(0.99\|1.00\)' '*' identify "$slide" --data "$folder/late.csv" --late 0.03 \
    --controls "$folder/push.csv" --free cube/mass=0.7 floor/friction=0.3 --out "$folder/known"
expect "no time" 2 '' '--late takes seconds, not soon' validate "$slide" --data "$folder/late.csv" --controls "$folder/push.csv" --late soon
awk -F, -v OFS=, 'NR > 1 { $1 += 0.08 } { print }' "$folder/late.csv" >"$folder/later.csv"
expect "too late" 3 '' 'later.csv: the recordings are 6 samples or more behind the controls' identify "$slide" --data "$folder/later.csv" \
    --controls "$folder/push.csv" --free cube/mass=0.7 floor/friction=0.3 --out "$folder/later"
awk -F, -v OFS=, 'NR > 1 { $1 += 100 } { print }' "$folder/push.csv" >"$folder/tomorrow.csv"
expect "a push that comes when all is over" 3 '' 'pushed.csv: it ends before its controls begin' validate "$slide" \
    --data "$folder/pushed.csv" --controls "$folder/tomorrow.csv"
expect "one push for each" 0 '^mean .* 0.00000 ' '' validate "$slide" --data "$folder/pushed.csv" "$folder/pushed.csv" \
    --controls "$folder/push.csv" "$folder/push.csv"
expect "two pushes for three" 2 '' '2 files for 3 recordings' validate "$slide" --data "$folder/pushed.csv" "$folder/pushed.csv" \
    "$folder/pushed.csv" --controls "$folder/push.csv" "$folder/push.csv"
expect "a push that is not there" 3 '' 'none.csv: ' validate "$slide" --data "$folder/pushed.csv" --controls "$folder/none.csv"
awk -F, -v OFS=, '{ $1 = NR > 1 ? 1000 * $1 : $1; print }' "$recording" >"$folder/ms.csv"
expect "milliseconds end in a message" 3 '' 'ms.csv: rows are 10 s apart: are the times in milliseconds' identify "$collision" \
    --data "$folder/ms.csv" --free floor/friction --out "$folder/ms"
awk -F, -v OFS=, 'NR > 1 { for (i = 2; i < 16; i += 7) for (j = i; j < i + 3; j++) $j *= 1000 } { print }' "$recording" >"$folder/mm.csv"
expect "millimetres are mended" 0 '^mean ' 'mm.csv: positions are in millimetres' validate "$collision" --data "$folder/mm.csv"
expect "unless they are wanted" '0 3' '*' '*' validate "$collision" --data "$folder/mm.csv" --as-is
for file in "$data"/recordings/collision-[12].csv "$folder/calm.csv"; do
    [ -f "$file" ] || awk 'BEGIN { while ((getline line < ARGV[1]) > 0) { print line; break }
        for (k = 0; k < 40; k++) printf "%g,-0.5,%.4f,0.1,1,0,0,0,0,0,%.4f,1,0,0,0\n", k / 100, 1e-4 * sin(k * k), 0.1 + 1e-4 * cos(k * k) }' \
        "$recording" >"$file"
    awk -F, -v OFS=, 'NR > 1 { for (i = 5; i < 16; i += 7) { w = $i; for (j = i; j < i + 3; j++) $j = $(j + 1); $(i + 3) = w } } 1' \
        "$file" >"$folder/last-$(basename "$file")"
done
expect "an order that one recording does not tell" 0 '*' '' validate "$collision" --data "$folder/last-calm.csv"
expect "is that of most others" 0 '*' 'last-calm.csv: cube: quaternions are x y z w, as in most of the other recordings' \
    validate "$collision" --data "$folder/last-calm.csv" "$folder/last-collision-1.csv" "$folder/last-collision-2.csv"
expect "not of one other" 0 '*' 'last-collision-1.csv: quaternions are x y z w: only' \
    validate "$collision" --data "$folder/last-calm.csv" "$folder/last-collision-1.csv"
checks=$((checks + 1))
grep -q 'calm' "$folder/err" && echo "failed: one other is not most" && failures=$((failures + 1))

# ---- batch ----
cube=$data/batch/cube.json
expect "many worlds" 0 '^return: mean 1.0' '*' batch "$slide" --worlds 50 --steps 1000 --randomise "$cube" --gradient --threads 1 \
    --out "$folder/worlds.csv" --keep "$folder/worst" --worst 2
cp "$folder/worlds.csv" "$folder/first.csv"
expect "by other threads" 0 '"worlds": 50' '*' batch "$slide" --worlds 50 --steps 1000 --randomise "$cube" --gradient --threads 3 \
    --out "$folder/worlds.csv" --json
expect "no bit depends on threads" 0 '*' '*' check "$(cmp "$folder/worlds.csv" "$folder/first.csv" >/dev/null && echo "$slide")"
worst=$(ls "$folder/worst/"*.xml | head -n 1)
expect "a world is a scene" 0 '' '*' simulate "$worst" --duration 1 --out "$folder/again.csv"
expect "that moves as it did" 0 '*' '*' check "$(tail -n 1 "$folder/again.csv" | cut -d, -f2 | cut -c1-9 |
    grep -qFf - "${worst%.xml}.csv" && echo "$slide")"
write frictoin.json '{"randomise": [
  {"name": "cube/frictoin", "range": [1, 2]}]}'
expect "no such parameter" 3 '' 'frictoin.json:2: randomise\[0\]: there is no parameter .cube/frictoin' batch "$slide" --worlds 2 --steps 2 \
    --randomise "$folder/frictoin.json"
write negative.json '{"randomise": [{"name": "cube/mass", "range": [-3, 2]}]}'
expect "worlds that are none" 4 'failed: .*mass' '*' batch "$slide" --worlds 20 --steps 2 --randomise "$folder/negative.json"
expect "a table on standard output" 0 '^world,status' '2 worlds of 2 steps' batch "$slide" --worlds 2 --steps 2 --randomise "$cube" --out -
expect "and nothing else" 0 '*' '*' check "$(grep -q worlds "$folder/out" || echo "$slide")"
expect "a table and JSON" 2 '' 'both on standard output' batch "$slide" --worlds 2 --steps 2 --randomise "$cube" --out - --json
expect "randomisers from standard input" 3 '' 'standard input:1: ' batch "$slide" --worlds 2 --steps 2 --randomise -
expect "a scene and randomisers from there" '2 3' '' 'standard input' batch - --worlds 2 --steps 2 --randomise -
expect "with drag" 0 'damping .*by from -' '*' batch "$data/../bench/scenes/s5-drag.xml" --worlds 20 --steps 200 --randomise "$data/batch/drag.json" --gradient
expect "in units" 0 'gravity/z  *m/s^2  *by mean' '*' batch "$slide" --worlds 2 --steps 2 --randomise "$cube" --gradient
expect "a gradient of no return" 3 '' 'negative.json: it says no .return.' batch "$slide" --worlds 2 --steps 2 --randomise "$folder/negative.json" --gradient
expect "a table that a terminal is wide enough for" 0 '*' '*' check "$("$tribo" compare "$slide" --duration 0.02 --quiet | awk 'length > 100 { exit 1 }' && echo "$slide")"
echo '{"randomise": []}' >"$folder/nothing.json"
expect "nothing drawn" 3 '' 'nothing.json:1: randomise: is empty' batch "$slide" --worlds 2 --steps 2 --randomise "$folder/nothing.json"
expect "no worlds" 2 '' 'worlds takes a number' batch "$slide" --worlds 0 --steps 2 --randomise "$cube"
expect "no file of what is drawn" 3 '' 'none.json: ' batch "$slide" --worlds 2 --steps 2 --randomise "$folder/none.json"

echo "Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
