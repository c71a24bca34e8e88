#!/bin/sh
# embed.sh BUILD ROOT: what is installed is whole. Installs into a temporary folder, and builds examples/embed against it
# by make, Meson and CMake; README's line for a first program too. Ends with Check's line; 77: a tool is not there.
build=$1 root=$2
command -v cmake >/dev/null && command -v pkg-config >/dev/null || exit 77
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
checks=0 failures=0
log=$folder/log
meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root" >"$log" 2>&1 || { cat "$log"; exit 1; }
config=$(find "$folder/root" -name tribo.pc)
library=$(dirname "$(dirname "$config")")
prefix=${library%/lib*}
export PKG_CONFIG_PATH="$library/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$folder/root" LD_LIBRARY_PATH="$library"

# right NAME COMMAND...: it must end well
right() {
    name=$1; shift
    checks=$((checks + 1))
    "$@" >"$log" 2>&1 && return
    failures=$((failures + 1))
    echo "failed: $name"; tail -n 15 "$log"
}
says() { "$1" ${3:+"$3"} | grep -q "$2"; }
cp -r "$root/examples/embed" "$folder/embed" && cd "$folder/embed" || exit 1
right "make" make
right "what it says" says ./drop 'height 0.100000 m'
right "Meson" sh -c 'meson setup by-meson && ninja -C by-meson'
right "what that says" says by-meson/drop 'height 0.100000 m'
right "CMake" sh -c 'cmake -B by-cmake -DCMAKE_PREFIX_PATH="$1" && cmake --build by-cmake' - "$prefix"
right "what that says" says by-cmake/drop 'height 0.100000 m'
right "a version that CMake is to refuse" sh -c 'sed "s/tribo REQUIRED/tribo 9 REQUIRED/" CMakeLists.txt >9.txt; mkdir 9
    mv 9.txt 9/CMakeLists.txt; cp drop.c 9; ! cmake -S 9 -B 9/build -DCMAKE_PREFIX_PATH="$1"' - "$prefix"
# a first program, as README has it
cp "$root/examples/first/first.c" .
line=$(sed -n 's/^    \(cc first.c .*\) && .*/\1/p' "$root/README.md")
right "README's line for a first program" sh -c "$line"
scenes=$PKG_CONFIG_SYSROOT_DIR$(PKG_CONFIG_SYSROOT_DIR= pkg-config --variable=scenes tribo)
right "what it says" says ./first 'position 0.754259500' "$scenes/slide.xml"
checks=$((checks + 1))
./first nowhere.xml 2>&1 | grep -q 'nowhere.xml: cannot be opened' || { failures=$((failures + 1)); echo "failed: a scene that is not there"; }
# the rest of what is installed
for file in bin/tribo include/tribo/tribo.h include/tribo/version.h share/man/man1/tribo-identify.1 share/tribo/scenes/slide.xml \
    share/tribo/tasks/hop.json share/bash-completion/completions/tribo share/zsh/site-functions/_tribo \
    share/doc/tribo/README.md share/doc/tribo/docs/command.md share/doc/tribo/examples/embed/drop.c share/doc/tribo/examples/first/first.c; do
    right "$file" test -s "$prefix/$file"
done
for header in "$root"/include/tribo/*.h; do right "header" test -s "$prefix/include/tribo/$(basename "$header")"; done
right "what is not for users stays here" sh -c '! ls "$1" | grep -v "libtribo\.\|pkgconfig\|cmake"' - "$library"
right "the command runs" "$prefix/bin/tribo" simulate "$scenes/slide.xml" --duration 0.01
echo "Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
