#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh [lint] [unit] [rootless] [beside] [root] [hostile]: lint, run the tests that are built in $BUILD and print one line
# with the sums. Hostile tests that run in seconds are root tests, too. MAKE_UNIT_TESTS: how unit tests are made first.
# A unit test's output is shown when something in it failed, a root test's line by line.
# A test that fails is tried once more (tests/root/hp.py, run_unit()): those that passed only then are
# counted in the line before the last, and are failed tests when they are more than two in a hundred root tests:
# cpus of virtual machines stand still for a tenth of a second now and then.
# What failed, each time, is said again before the sums: a long output is often cut to its end.
# CHECK_SECONDS: root tests that would begin later are skipped, and say so; who waits for the sums does not wait for ever.
set -u

build=$(realpath "${BUILD:-build}")
timeout_s=${TEST_TIMEOUT_S:-900}
FAILURE_LENGTH=300
passed=0 failed=0 skipped=0 retried=0 root_tests=0
log=$(mktemp)
failures=$(mktemp)
trap 'rm -f "$log" "$failures"' EXIT

# The tests need Debian's own modules (selenium), which another Python before it in PATH lacks.
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3

# count PATTERN: the number that follows PATTERN in the log, 0 without one
count() {
	awk -v pattern="$1" '
		(at = index($0, pattern)) { split(substr($0, at + length(pattern)), word, " "); n = word[1] }
		END { print n + 0 }' "$log"
}

# sums FILE: its line of sums; the last of the program's output
sums() {
	grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$1" | tail -n 1
}

# note_failures NAME: what the log says that has failed, to be said again
note_failures() {
	grep -E '^(FAIL |FAILED |\[  FAILED  \] [a-z])' "$log" | sort -u | cut -c "1-$FAILURE_LENGTH" | sed "s/^/$1: /" >>"$failures"
}

# note NAME STATUS PASSED FAILED SKIPPED: add up; a program that ended badly without saying which
# test failed counts as one failure
note() {
	local name=$1 status=$2 p=$3 f=$4 s=$5

	[ "$status" -ne 0 ] && [ "$f" -eq 0 ] && f=1
	note_failures "$name"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" -ne 0 ]; then
		echo "FAILED $name (exit code $status)"
	elif [ "$s" -ne 0 ]; then
		echo "ok $name: $p passed, $s skipped"
	else
		echo "ok $name: $p passed"
	fi
}

# Each of its steps counts as a test.
run_lint() {
	local status

	BUILD=$build scripts/lint.sh >"$log" 2>&1 </dev/null
	status=$?
	[ "$status" -eq 0 ] || cat "$log"
	note lint "$status" "$(grep -c '^ok ' "$log")" "$(grep -c '^FAILED ' "$log")" 0
}

# try_unit PROGRAM: its output goes to the log, and is shown when something in it failed
try_unit() {
	local status

	timeout 120 "$1" >"$log" 2>&1 </dev/null
	status=$?
	[ "$status" -eq 0 ] || cat "$log"
	return "$status"
}

run_unit() {
	local program status

	if [ -n "${MAKE_UNIT_TESTS-}" ] && ! $MAKE_UNIT_TESTS; then
		note unit-tests 1 0 0 0
		return
	fi
	for program in "$build"/tests/test_*; do
		[[ -x $program && $program != *.d ]] || continue
		try_unit "$program"
		status=$?
		if [ "$status" -ne 0 ]; then
			note_failures "${program##*/}"
			echo "# ${program##*/}: a second try"
			try_unit "$program"
			status=$?
			[ "$status" -ne 0 ] || retried=$((retried + 1))
		fi
		note "${program##*/}" "$status" "$(count '[  PASSED  ] ')" "$(count '[  FAILED  ] ')" \
			"$(count '[  SKIPPED ] ')"
	done
}

# list SCRIPT: the number of its tests
list() {
	"$python" -B "$1" --list | wc -l
}

# skip_file SCRIPT WHY: all its tests; one that cannot even list them has failed
skip_file() {
	local n

	n=$(list "$1")
	if [ "$n" -eq 0 ]; then
		note "${1##*/}" 1 0 0 0
		return
	fi
	echo "skip ${1##*/}: $n tests $2"
	skipped=$((skipped + n))
}

# run_file SCRIPT [SUDO…]: of one that ends without its sums all tests have failed
run_file() {
	local script=$1 status line p f s
	shift

	"$@" env HOSTPROF_BUILD="$build" HOSTPROF_JDKS="${HOSTPROF_JDKS-}" HOSTPROF_RETRY=1 \
		HOSTPROF_FAST="${HOSTPROF_FAST-}" \
		PYTHONDONTWRITEBYTECODE=1 timeout -k 20 "$timeout_s" "$python" "$script" 2>&1 \
		</dev/null | tee "$log"
	status=${PIPESTATUS[0]}
	line=$(sums "$log")
	[ -n "$line" ] || status=1
	read -r p _ f _ s _ <<<"${line:-0 passed, $(list "$script") failed, 0 skipped}"
	retried=$((retried + $(sed -nE 's/^([0-9]+) passed on retry$/\1/p' "$log" | tail -n 1) + 0))
	root_tests=$((root_tests + p + f))
	note "${script##*/}" "$status" "$p" "$f" "$s"
}

# run_files FILE…: those that need it as root
run_files() {
	local script
	local -a as_root=()

	if [ "$(id -u)" -ne 0 ]; then
		as_root=(sudo -n)
		sudo -n true 2>/dev/null || as_root=(none)
	fi
	for script; do
		if [ "$SECONDS" -gt "${CHECK_SECONDS:-$SECONDS}" ]; then
			skip_file "$script" "would begin after $SECONDS s, and CHECK_SECONDS is $CHECK_SECONDS"
		elif grep -q '^# Needs no root\.$' "$script"; then
			run_file "$script"
		elif [ "${as_root[*]}" = none ]; then
			skip_file "$script" "need root; run sudo -v, then this again"
		else
			run_file "$script" "${as_root[@]}"
		fi
	done
}

# A busy machine may upset a measurement, but not many.
judge_retries() {
	echo "$retried passed on retry"
	if [ $((retried * 50)) -gt "$root_tests" ]; then
		echo "FAILED: of $root_tests root tests no more than two in a hundred may need a second try"
		passed=$((passed - retried)) failed=$((failed + retried))
	fi
}

# Those that record nothing.
run_rootless() {
	mapfile -t files < <(grep -l '^# Needs no root\.$' tests/root/test_*.py)
	run_files "${files[@]}"
}

# Those that other recordings do not disturb, nor they them: they judge frames and names of programs of their own.
run_beside() {
	# A part that is not alone was made to wait for others; these are not to be late.
	renice -n 1 "$BASHPID" >/dev/null 2>&1
	mapfile -t files < <(grep -l '^# Runs beside others\.$' tests/root/test_*.py)
	HOSTPROF_FAST=1 run_files "${files[@]}"
}

# Those first that other recordings disturb: unit tests, which are compiled meanwhile, give way to them. Those last that judge how long
# something took: nothing runs beside them any more.
run_root() {
	mapfile -t files < <(
		grep -l '^# Runs first\.$' tests/root/test_*.py
		grep -L -E '^# (Needs no root|Runs (beside others|first|last))\.$' tests/root/test_*.py
		grep -l '^# Runs last\.$' tests/root/test_*.py
	)
	HOSTPROF_FAST=1 run_files "${files[@]}"
}

# The other PARTs want a cpu, root tests mostly wait: they run beside these, and are shown after them.
run_beside_root() { # PART…
	local side part pid p f s r t

	side=$(mktemp)
	(
		trap 'rm -f "$log"' EXIT
		log=$(mktemp)
		for part; do
			"run_$part"
		done
		echo "$passed $failed $skipped $retried $root_tests"
	) >"$side" 2>&1 &
	pid=$!
	renice -n 10 "$pid" >/dev/null
	run_root
	wait "$pid"
	sed '$d' "$side"
	read -r p f s r t < <(tail -n 1 "$side")
	rm -f "$side"
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
	retried=$((retried + ${r:-0})) root_tests=$((root_tests + ${t:-0}))
}

run_hostile() {
	shopt -s nullglob
	run_files tests/root/test_hostile_*.py tests/root/slow_hostile_*.py
}

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- lint unit rootless beside root
if [ $# -gt 1 ] && [ "${!#}" = root ]; then
	run_beside_root "${@:1:$#-1}"
else
	for part; do
		"run_$part" || exit 1
	done
fi
if [ -s "$failures" ]; then
	echo "What failed, at its first or second try:"
	cat "$failures"
fi
[ "$root_tests" -eq 0 ] || judge_retries
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
