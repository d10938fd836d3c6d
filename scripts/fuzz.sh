#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [NAME…]: run the fuzzers built in $BUILD, $FUZZ_SECONDS each, over the committed corpora and what was kept of
# earlier runs (scripts/fuzz-keep.sh). What they find new goes to $BUILD/corpus. With FUZZ_LEDGER each run that found nothing adds a line
# to tests/fuzz/ledger.tsv, so that hours add up: date, commit, fuzzer, seconds of CPU, inputs. Those with the fewest
# seconds are first then, and they run where nobody else wants the cpu.
set -u

build=$(realpath "${BUILD:-build/fuzz}")
seconds=${FUZZ_SECONDS:-20}
failed=0 ran=0

ledger=tests/fuzz/ledger.tsv
when_idle=()
timeout=10
TIMEFORMAT=%U

# by_seconds SOURCE…: those that have run least first
by_seconds() {
	awk -F '\t' 'FILENAME == ARGV[1] { took[$3] += $4; next }
		{ name = $0; sub(/.*fuzz_/, "", name); sub(/[.]c$/, "", name); print took[name] + 0 "\t" $0 }' \
		"$ledger" <(printf '%s\n' "$@") | sort -s -n | cut -f 2
}

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c
if [ -n "${FUZZ_LEDGER-}" ]; then
	touch "$ledger"
	mapfile -t sources < <(by_seconds "$@")
	set -- "${sources[@]}"
	timeout=300 # libFuzzer's clock goes on while others have the cpu, a minute at times.
	# A session's processes share a cpu with others' as one, whatever they say of themselves (kernel/sched/autogroup.c).
	when_idle=(setsid --wait sh -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec chrt --idle 0 "$@"' idle)
fi
for source; do
	name=${source##*/fuzz_}
	name=${name%.c}
	committed=tests/fuzz/corpus/$name
	found=$build/corpus/$name
	mkdir -p "$found" "$committed"
	[ ! -e "tests/fuzz/found/$name.tar.xz" ] || tar -C "$found" --skip-old-files -xf "tests/fuzz/found/$name.tar.xz"
	limit=(-max_total_time="$seconds")
	[ "$seconds" = 0 ] && limit=(-runs=0)
	if { time "${when_idle[@]}" "$build/fuzzers/fuzz_$name" "${limit[@]}" -rss_limit_mb=1024 -timeout="$timeout" \
		-print_final_stats=1 -artifact_prefix="$build/crash-$name-" "$found" "$committed" \
		>"$build/$name.log" 2>&1; } 2>"$build/$name.took"; then
		units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
		echo "ok $name: ${units:-0} inputs"
		[ -z "${FUZZ_LEDGER-}" ] || printf '%s\t%s\t%s\t%.0f\t%s\n' "$(date +%F)" "$(git rev-parse --short HEAD)" \
			"$name" "$(cat "$build/$name.took")" "${units:-0}" >>"$ledger"
	else
		tail -n 60 "$build/$name.log"
		echo "FAILED $name: input in $build/crash-$name-*"
		failed=$((failed + 1))
	fi
	ran=$((ran + 1))
done
echo "$((ran - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
