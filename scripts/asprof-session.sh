# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091,SC2015,SC2016,SC2034,SC2154
# Part of asprof: processes, sessions, and the recorder that runs in the background.

# When a process that runs began, in clock ticks since the boot: with the pid it is one process.
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 !~ /[ZX]/ { print $20 }'; }

is_alive() { [ -n "$2" ] && [ "$(start_of "$1")" = "$2" ]; }

nap() { sleep 0.2 2>/dev/null || sleep 1; }

# is_own DIR TEST…: of this user, and what more find(1) is to test
is_own() {
	own=$1
	shift
	[ -n "$(find "$own" -prune -type d -user "$(id -u)" "$@" 2>/dev/null)" ]
}

# Where only this user may write; as root not below a directory of somebody else.
find_state() {
	base=/tmp
	[ "$(id -u)" != 0 ] || [ ! -d /run ] || base=/run
	[ -z "${XDG_RUNTIME_DIR:-}" ] || ! is_own "$XDG_RUNTIME_DIR" || base=$XDG_RUNTIME_DIR
	state=$base/hostprof-asprof-$(id -u)
	mkdir -m 700 "$state" 2>/dev/null
	is_own "$state" -perm 0700 || fail 1 "$state is not a directory of this user alone"
}

find_session() {
	find_state
	for old in "$state"/*-*; do
		[ -d "$old" ] || continue
		old_name=${old##*/}
		is_alive "${old_name%-*}" "${old_name#*-}" || rm -rf "$old"
	done
	start=$(start_of "$pid")
	[ -n "$start" ] || fail 1 "Process $pid not found"
	session=$state/$pid-$start
}

is_running() {
	[ -f "$session/recorder" ] && read -r recorder recorder_start <"$session/recorder" &&
		is_alive "$recorder" "$recorder_start"
}

# A loop's session goes on between its recorders.
is_supervised() {
	[ -f "$session/supervisor" ] && read -r supervisor supervisor_start <"$session/supervisor" &&
		is_alive "$supervisor" "$supervisor_start"
}

# Of several that start at once one begins; a lock whose owner was killed is nobody's.
take_lock() {
	lock=$state/starting.$pid
	owner=$(readlink "$lock") && ! is_alive "${owner%-*}" "${owner#*-}" && rm -f "$lock"
	ln -sn "$$-$(start_of $$)" "$lock" 2>/dev/null || fail 200 "[ERROR] Profiler already started"
	trap 'rm -f "$lock"' EXIT
}

drop_lock() {
	trap - EXIT
	rm -f "$lock"
}

has_recording() { [ -s "$session/rec.1.jfr" ]; }

uptime_of_session() { echo $(($(date +%s) - $(cat "$session/since"))); }

# What the recorder said. A hint belongs to its sentence.
tell_log() {
	[ "$level" = error ] || [ ! -f "$session/log" ] ||
		sed -n "s/^hostprof: warning: /[WARN] /p; ${debug:+s/^hostprof: /[DEBUG] /p}" "$session/log" >&2
}

# By pid or by what jps would print; "jps" is the JVM that started last.
find_pid() {
	case $1 in
	[0-9]*) pid=${1%%[!0-9]*} ;;
	*)
		found=$("$hostprof" list 2>/dev/null | awk -v want="$1" '$1 ~ /^[0-9]+$/ {
			name = $NF
			sub(name ~ /\.jar$/ ? ".*/" : ".*[./]", "", name)
			if (want == "jps" || name == want) print $1 }')
		[ -n "$found" ] || fail 1 "No Java process"
		if [ "$1" = jps ]; then
			found=$(for one in $found; do echo "$(start_of "$one") $one"; done | sort -n | tail -n 1)
			found=${found#* }
		fi
		[ "$found" = "${found%%[!0-9]*}" ] || fail 1 "Multiple Java processes found"
		pid=$found
		;;
	esac
}

save_settings() {
	for name in pid record_args limit loop file file_number output format traces flat threads \
		event unit several report_args html_args total dotted annotate cstack level user_umask; do
		eval "value=\$$name"
		printf '%s=%s\n' "$name" "$(quote "$value")"
	done >"$session/settings"
}

# In the background, of its own session, until the recorder ends or its target does.
supervise() {
	session=$1
	. "$session/settings"
	echo "$$ $(start_of $$)" >"$session/supervisor"
	number=$(find "$session" -name 'rec.*.jfr' | wc -l)
	while :; do
		number=$((number + 1))
		eval "exec \"\$hostprof\" record $record_args -o \"\$session/rec.$number.jfr\"" 2>"$session/log" &
		echo "$! $(start_of $!)" >"$session/recorder"
		while is_running; do
			[ -n "$(start_of "$pid")" ] || kill -TERM "$recorder" 2>/dev/null
			nap
		done
		# Whoever found the target gone may have removed the session before us.
		kill -TERM $! 2>/dev/null
		wait $!
		code=$?
		[ ! -e "$session/stopping" ] && [ $code = 0 ] && [ -n "$file" ] || break
		render
		[ -n "$loop" ] && [ -n "$(start_of "$pid")" ] && [ ! -e "$session/stopping" ] || break
		rm -f "$session"/rec.*.jfr
		number=0
		file_number=$((file_number + 1))
		# Who stops it writes the next file, and not the first one again.
		echo "file_number='$file_number'" >>"$session/settings"
		date +%s >"$session/since"
	done
	rm -f "$session/recorder"
	echo "$code" >"$session/ended"
}

begin() {
	take_lock
	! is_running && ! is_supervised || fail 200 "[ERROR] Profiler already started"
	[ "$action" = resume ] || rm -rf "$session"
	mkdir "$session" 2>/dev/null || [ "$action" = resume ] || fail 200 "[ERROR] Profiler already started"
	rm -f "$session/stopping" "$session/ended" "$session/log"
	save_settings
	date +%s >"$session/since"
	number=$(($(find "$session" -name 'rec.*.jfr' | wc -l) + 1))
	# Without a terminal that could hang up.
	$(command -v setsid) sh "$me" supervise "$session" </dev/null >/dev/null 2>"$session/errors" &
	while [ ! -s "$session/rec.$number.jfr" ] && [ ! -e "$session/ended" ]; do
		[ -n "$(start_of "$pid")" ] && [ -n "$(start_of $!)" ] || break
		nap
	done
	[ -s "$session/rec.$number.jfr" ] || [ ! -e "$session/ended" ] || not_begun
	await_agent
	drop_lock
}

# What is allocated after "Profiling started" is seen: events are on a moment after the agent is taken; a JVM that takes no agent is not waited for long.
await_agent() {
	[ -n "$alloc$locks" ] && [ "$agent" != never ] || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		is_running || return 0
		"$hostprof" status "$pid" 2>/dev/null | grep -q '^agent: *active' && nap && return 0
		nap
	done
}

# hostprof's sentence and hint, as an error of the profiler; 3: a permission is missing
not_begun() {
	sed -n 's/^hostprof: \(warning: \)*/[ERROR] /p; s/^hint: /  /p' "$session/log" >&2
	code=$(cat "$session/ended")
	rm -rf "$session"
	[ "$code" = 3 ] && exit 1
	exit 200
}

# A loop may be about to start its next recorder: that one is ended when it has something to show.
end() {
	is_running || is_supervised || return 0
	: >"$session/stopping"
	told=''
	while is_running || { [ ! -e "$session/ended" ] && is_supervised; }; do
		if is_running && has_recording && [ "$told" != "$recorder" ]; then
			kill -TERM "$recorder"
			told=$recorder
		fi
		nap
	done
}

collect() {
	file_of_start=$file
	file=
	begin
	file=$file_of_start
	say "Profiling for $duration seconds"
	said=Done
	trap 'said=Interrupted; is_running && kill -TERM "$recorder"' INT TERM
	while [ ! -e "$session/ended" ] && is_supervised; do nap; done
	[ -n "$(start_of "$pid")" ] || said="Process exited"
	say "$said"
	[ "$(cat "$session/ended")" = 0 ] || not_begun
	tell_log
	render
}
