#!/bin/sh
# site.sh ROOT: the documentation as a site can be made, and its links lead somewhere. 77: there is no pandoc.
command -v pandoc >/dev/null || exit 77
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
python3 "$1/docs/site/site.py" "$1" "$folder" && python3 "$1/tests/checks/links.py" "$folder" --without-api
