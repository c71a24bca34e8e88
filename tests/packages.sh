#!/bin/sh
# packages.sh FOLDER: the Debian packages in FOLDER on a system that has nothing else: a chroot by mmdebstrap, into which
# they are installed, and the examples built against them by make, Meson and CMake, and run by Python. Needs root and a mirror of Debian.
set -e
packages=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mmdebstrap --mode=root --quiet --variant=apt --include=gcc,libc6-dev,make,cmake,meson,pkg-config \
    --skip=cleanup/apt bookworm "$root"
cp "$packages"/*.deb "$root/root/" && rm -f "$root"/root/*dbgsym*
cat >"$root/root/try" <<'END'
set -e
cd /root
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./*.deb >/dev/null
cp -r /usr/share/doc/tribo-doc/examples/embed . && cd embed
make && ./drop
meson setup by-meson && ninja -C by-meson && by-meson/drop
cmake -B by-cmake && cmake --build by-cmake && by-cmake/drop
cp /usr/share/doc/tribo-doc/examples/first/first.c .
scenes=$(pkg-config --variable=scenes tribo)
cc first.c -o first $(pkg-config --cflags --libs tribo) && ./first $scenes/slide.xml
mkdir data && ln -s $scenes data/scenes # where first.py looks
[ "$(python3 /usr/share/doc/tribo-doc/examples/python/first.py)" = "$(./first $scenes/slide.xml)" ]
tribo --version
tribo simulate slide --duration 0.5 --out slide.csv
tribo identify slide --data slide.csv --free floor/friction=0.5 --out fit
END
chroot "$root" sh /root/try
