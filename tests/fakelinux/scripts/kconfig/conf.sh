#!/bin/sh
# conf.sh SOURCE SRCARCH REQUESTED: writes .config. Knows config, bool, int, default, depends on, select, if, source.
set -e
if [ "$FAIL" = config ]; then
	echo "Kconfig:3: syntax error" >&2
	exit 1
fi
awk -v source="$1" -v srcarch="$2" -v requested="$3" '
function holds(expression, parts, count, i, name) {
	count = split(expression, parts, /[ \t]*&&[ \t]*/)
	for (i = 1; i <= count; i++) {
		name = parts[i]
		if (name == "") continue
		if (substr(name, 1, 1) == "!") { if (value[substr(name, 2)] == "y") return 0 }
		else if (value[name] != "y") return 0
	}
	return 1
}
function both(a, b) { return a == "" ? b : (b == "" ? a : a " && " b) }
function read_file(file, line, word) {
	while ((getline line < file) > 0) {
		split(line, word, /[ \t]+/)
		if (line ~ /^config /) {
			symbol = word[2]; order[++symbols] = symbol; depends[symbol] = block
		} else if (line ~ /^\tbool/) { kind[symbol] = "bool"; prompt[symbol] = line ~ /"/ }
		else if (line ~ /^\tint/) { kind[symbol] = "int"; prompt[symbol] = line ~ /"/ }
		else if (line ~ /^\tdefault /) { fallback[symbol] = word[3] }
		else if (line ~ /^\tdepends on /) { sub(/^\tdepends on /, "", line); depends[symbol] = both(depends[symbol], line) }
		else if (line ~ /^\tselect /) { selected[symbol] = selected[symbol] " " word[3] }
		else if (line ~ /^if /) { block = substr(line, 4) }
		else if (line ~ /^endif/) { block = "" }
		else if (line ~ /^source /) {
			gsub(/^source "|"$/, "", line); gsub(/\$\(SRCARCH\)/, srcarch, line)
			read_file(source "/" line)
		}
	}
	close(file)
}
BEGIN {
	read_file(source "/Kconfig")
	while ((getline line < requested) > 0)
		if (line ~ /^CONFIG_/) {
			at = index(line, "=")
			wanted[substr(line, 8, at - 8)] = substr(line, at + 1)
		}
	for (round = 0; round < 10; round++) {
		split("", forced)
		for (i = 1; i <= symbols; i++)
			if (value[order[i]] == "y") {
				count = split(selected[order[i]], list, " ")
				for (j = 1; j <= count; j++) forced[list[j]] = 1
			}
		for (i = 1; i <= symbols; i++) {
			name = order[i]
			value[name] = prompt[name] && name in wanted ? wanted[name] : (prompt[name] && kind[name] == "bool" ? "n" : fallback[name])
			if (!holds(depends[name])) value[name] = ""
			if (name in forced) value[name] = "y"
		}
	}
	for (i = 1; i <= symbols; i++) {
		name = order[i]
		if (value[name] == "n") print "# CONFIG_" name " is not set"
		else if (value[name] != "") print "CONFIG_" name "=" value[name]
	}
}' > .config.new
if cmp -s .config.new .config; then rm .config.new; else mv .config.new .config; fi
