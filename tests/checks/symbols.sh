#!/bin/sh
# symbols.sh LIBRARY.so: the shared library exports names that begin with tribo_ and nothing else.
strange=$(nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ && $3 !~ /^tribo_/ { print $3 }')
[ -z "$strange" ] || echo "exported without the prefix: $strange"
nm -D --defined-only "$1" | grep -q ' T tribo_version' || { echo "tribo_version is not exported"; exit 1; }
[ -z "$strange" ]
