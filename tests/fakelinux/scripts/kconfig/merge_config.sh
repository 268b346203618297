#!/bin/sh
# merge_config.sh -m [-n] FRAGMENT...: writes .config in the current folder; a later line wins
set -e
while [ "${1#-}" != "$1" ]; do shift; done
awk '
/^CONFIG_/ { split($0, part, "="); name = part[1] }
/^# CONFIG_.* is not set$/ { name = $2 }
name != "" { if (!(name in line)) order[++count] = name; line[name] = $0; name = "" }
END { for (i = 1; i <= count; i++) print line[order[i]] }
' "$@" > .config
