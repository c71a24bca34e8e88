#!/bin/sh
# bounce.sh -- the picture of the README; from the root of the project.
build/docs/figures/bounce docs/figures >/dev/null
