# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091,SC2015,SC2016,SC2034,SC2154
# Part of asprof: what recordings are written as.

# The name that FILE stands for.
expand() {
	pattern=$file time=$(date +%Y%m%d-%H%M%S) awk -v pid="$pid" -v number="$file_number" 'BEGIN {
		rest = ENVIRON["pattern"]
		while ((at = index(rest, "%"))) {
			out = out substr(rest, 1, at - 1); c = substr(rest, at + 1, 1); rest = substr(rest, at + 2)
			if (c == "p") out = out pid
			else if (c == "t") out = out ENVIRON["time"]
			else if (c == "n") {
				max = 0
				if (match(rest, /^\{[^}]*\}/)) {
					max = substr(rest, 2, RLENGTH - 2) + 0; rest = substr(rest, RLENGTH + 1)
				}
				out = out (max > 0 ? number % max : number)
			} else if (c == "{" && (end = index(rest, "}")) && substr(rest, 1, end - 1) in ENVIRON) {
				out = out ENVIRON[substr(rest, 1, end - 1)]; rest = substr(rest, end + 1)
			} else out = out c
		}
		print out rest }'
}

# What fails is remembered: it may be one of a pipe. A recording that still grows has no end.
report() {
	eval "\"\$hostprof\" report \"\$recording\" ${event:+--event \"\$event\"} $*" 2>"$session/said" ||
		: >"$session/failed"
	if is_running; then sed '/ends in the middle/d' "$session/said"; else cat "$session/said"; fi >&2
}

# Sum of the event's samples, or with --total of its unit, whatever is filtered.
sum() { report -f collapsed "$@" | awk '{ n += $NF } END { printf "%.0f\n", n }'; }

# "WEIGHT SAMPLES STACK" with tabs between, the heaviest first; names as asprof prints them.
stacks() {
	report -f collapsed --annotate ${threads:+-t} "$report_args" >"$session/samples"
	report -f collapsed --annotate --total ${threads:+-t} "$report_args" >"$session/weights"
	case $event in alloc | live | lock) classes=1 ;; *) classes='' ;; esac
	# shellcheck disable=SC2016
	awk -v threads="$threads" -v dotted="$1" -v annotate="$annotate" -v cstack="$cstack" \
		-v classes="$classes" '
	# Takes the mark off f[j].
	function kind_of(j,  kind) {
		if (!match(f[j], /_\[[a-z0-9]\]$/)) return ""
		kind = substr(f[j], RSTART + 2, 1); f[j] = substr(f[j], 1, RSTART - 1)
		return kind
	}
	function java_name(s,  method, dot) {
		# A descriptor has slashes already.
		dot = index(s, "("); dot = dot ? dot : length(s)
		while (dot && substr(s, dot, 1) != ".") dot--
		method = substr(s, dot ? dot : 1); s = substr(s, 1, dot - (dot > 0))
		# A hidden class has its address behind a dot here.
		sub(/[\/+]0x/, "\001", s)
		if (!dotted) gsub(/\./, "/", s)
		sub(/\001/, ".0x", s)
		return s method
	}
	function put(s) { out = out (out == "" ? "" : ";") s }
	function convert(line,  n, j, first, last, begin) {
		n = split(line, f, ";"); out = ""; begin = 2; first = last = 0
		if (threads && f[2] ~ /^\[.* tid=[0-9]+\]$/) { put(f[2]); begin = 3 }
		for (j = begin; j <= n; j++) {
			kind[j] = kind_of(j)
			sub(/^\[compiling\] /, "", f[j])
			if (classes && j == n || j > begin && f[j - 1] ~ /^[vi]table stub$/ && kind[j] == "i")
				kind[j] = "class" kind[j]
			else if (kind[j] ~ /^[ji01]$/) { last = j; if (!first) first = j }
		}
		for (j = begin; j <= n; j++) {
			if (kind[j] ~ /^class/)
				put(f[j] (dotted ? "" : "_[" (kind[j] == "classk" ? "k" : "i") "]"))
			else if (kind[j] ~ /^[ji01]$/)
				put(java_name(f[j]) (annotate ? "_[" kind[j] "]" : ""))
			else if (f[j] ~ /^\[unwind/ || cstack == "mixed" || cstack != "no" && (!first || j > last))
				put(f[j] (kind[j] == "k" ? "_[k]" : ""))
		}
		return out == "" ? "[no_Java_frame]" : out
	}
	match($0, / [0-9]+$/) {
		count = substr($0, RSTART + 1); stack = convert(substr($0, 1, RSTART - 1))
		if (pass == 1) samples[stack] += count
		else weights[stack] += count
	}
	END { for (s in weights) printf "%.0f\t%.0f\t%s\n", weights[s], samples[s], s }
	' pass=1 "$session/samples" pass=2 "$session/weights" | sort -t '	' -k1,1nr -k3
}

write_collapsed() { stacks "$dotted" | awk -F '\t' -v column=$((total ? 1 : 2)) '{ print $3 " " $column }'; }

write_text() {
	stacks 1 >"$session/stacks"
	printf -- '--- Execution profile ---\nTotal samples       : %s\n\n' "$(sum)"
	# shellcheck disable=SC2016
	awk -F '\t' -v whole="$(sum --total)" -v unit="$unit" -v traces="$traces" -v flat="$flat" '
	function percent(n) { return whole > 0 ? 100 * n / whole : 0 }
	NR <= traces {
		printf "--- %.0f %s (%.2f%%), %.0f sample%s\n", $1, unit, percent($1), $2, $2 == 1 ? "" : "s"
		n = split($3, f, ";")
		for (i = n; i > 0; i--) printf "  [%2d] %s\n", n - i, f[i]
		print ""
	}
	{ n = split($3, f, ";"); weight[f[n]] += $1; samples[f[n]] += $2 }
	END {
		if (!flat) exit
		printf "%12s  percent  samples  top\n  ----------  -------  -------  ---\n", unit
		sort = "sort -k1,1nr -k4 | head -n " flat
		for (m in weight)
			printf "%12.0f  %6.2f%%  %7.0f  %s\n", weight[m], percent(weight[m]), samples[m], m | sort
	}' "$session/stacks"
}

# To the file, else to standard output.
write() {
	case $format in
	jfr) cat "$recording" ;;
	flamegraph | tree) report -f html ${threads:+-t} "$html_args" "$report_args" ;;
	collapsed) write_collapsed ;;
	text) write_text ;;
	esac
}

render() {
	has_recording || fail 200 "[ERROR] Profiler has not started"
	# One recording may follow another in a file; and a file that grows would be read twice.
	recording=$session/all.jfr
	number=1
	while [ -e "$session/rec.$number.jfr" ]; do
		cat "$session/rec.$number.jfr"
		number=$((number + 1))
	done >"$recording"
	if [ -n "$several" ] && [ "$format" != jfr ] && [ "$format" != flamegraph ] && [ "$format" != tree ]; then
		fail 200 "[ERROR] Only JFR output supports multiple events"
	fi
	rm -f "$session/failed"
	name=$(expand)
	if [ -n "$name" ]; then
		make_empty 2>/dev/null || fail 200 "[ERROR] Could not open output file"
		write >"$name"
	else
		write
	fi
	[ ! -e "$session/failed" ] || fail 200 "[ERROR] The recording could not be shown"
	[ "$format" = jfr ] || [ "$(sum "$report_args")" != 0 ] || tell_empty
}

# Nobody else's link is followed, nobody else's file written: a new file is made (noclobber is O_EXCL), or what
# is there is this user's or root's, which others cannot replace where this could be a trap.
make_empty() (
	case $name in -*) name=./$name ;; esac
	umask "$user_umask"
	if [ -L "$name" ] || [ -f "$name" ] || [ -p "$name" ]; then
		[ -n "$(find "$name" -prune \( -user "$(id -u)" -o -user 0 \))" ] || exit
	elif [ ! -e "$name" ]; then
		set -C
	fi
	: >"$name"
)

tell_empty() {
	if [ "$(sum)" = 0 ]; then say "[INFO] No samples were collected"; else say "[INFO] All samples were filtered out"; fi
}
