#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh [unit] [root]: run the tests that are built in $BUILD and print one line with the sums.
# A unit test's output is shown when something in it failed, a root test's line by line.
set -u

build=$(realpath "${BUILD:-build}")
timeout_s=${TEST_TIMEOUT_S:-900}
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The tests need Debian's own modules (selenium), which another Python before it in PATH lacks.
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3

# count PATTERN: the number that follows PATTERN in the log, 0 without one
count() {
	awk -v pattern="$1" '
		(at = index($0, pattern)) { split(substr($0, at + length(pattern)), word, " "); n = word[1] }
		END { print n + 0 }' "$log"
}

# note NAME STATUS PASSED FAILED SKIPPED: add up; a program that ended badly without saying which
# test failed counts as one failure
note() {
	local name=$1 status=$2 p=$3 f=$4 s=$5

	[ "$status" -ne 0 ] && [ "$f" -eq 0 ] && f=1
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" -ne 0 ]; then
		echo "FAILED $name (exit code $status)"
	elif [ "$s" -ne 0 ]; then
		echo "ok $name: $p passed, $s skipped"
	else
		echo "ok $name: $p passed"
	fi
}

run_unit() {
	local program status

	for program in "$build"/tests/test_*; do
		[[ -x $program && $program != *.d ]] || continue
		timeout 120 "$program" >"$log" 2>&1 </dev/null
		status=$?
		[ "$status" -eq 0 ] || cat "$log"
		note "${program##*/}" "$status" "$(count '[  PASSED  ] ')" "$(count '[  FAILED  ] ')" \
			"$(count '[  SKIPPED ] ')"
	done
}

run_root() {
	local script n sums status p f s
	local -a as_root=()

	if [ "$(id -u)" -ne 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			for script in tests/root/test_*.py; do
				n=$("$python" -B "$script" --list | wc -l)
				echo "skip ${script##*/}: $n tests need root; run sudo -v, then this again"
				skipped=$((skipped + n))
			done
			return
		fi
		as_root=(sudo -n)
	fi
	for script in tests/root/test_*.py; do
		"${as_root[@]}" env HOSTPROF_BUILD="$build" PYTHONDONTWRITEBYTECODE=1 \
			timeout -k 20 "$timeout_s" "$python" "$script" 2>&1 </dev/null | tee "$log"
		status=${PIPESTATUS[0]}
		# The last line of the program: "N passed, N failed, N skipped".
		sums=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
		[ -n "$sums" ] || status=1
		read -r p _ f _ s _ <<<"${sums:-0 passed, 0 failed, 0 skipped}"
		note "${script##*/}" "$status" "$p" "$f" "$s"
	done
}

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- unit root
for part; do
	"run_$part" || exit 1
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
