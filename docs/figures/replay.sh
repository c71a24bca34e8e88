#!/bin/sh
# replay.sh -- pictures of the pages that `tribo view` writes, taken in Chromium; from the root of the project.
if ! command -v chromium >/dev/null; then
    echo "replay.sh: Chromium is not there, its pictures stay as they are" >&2
    exit 0
fi
python3 docs/figures/replay.py build/tools/tribo docs/figures
