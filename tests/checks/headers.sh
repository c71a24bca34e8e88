#!/bin/sh
# headers.sh SOURCE BUILD: each public header compiles alone, in C11 and in C++17.
status=0
for header in "$1"/include/tribo/*.h "$2"/include/tribo/version.h; do
    name=tribo/$(basename "$header")
    for language in 'c:c11' 'c++:c++17'; do
        printf '#include <%s>\nextern int not_empty;\n' "$name" |
            ${CC:-cc} -x "${language%:*}" -std="${language#*:}" -I"$1/include" -I"$2/include" \
                -Wall -Wextra -Wpedantic -Werror -fsyntax-only - ||
            { echo "$name does not compile alone in ${language#*:}"; status=1; }
    done
done
exit $status
