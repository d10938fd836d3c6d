#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [NAME…]: run the fuzzers built in $BUILD, $FUZZ_SECONDS each, over the committed corpora.
# What they find new goes to $BUILD/corpus and is not committed.
set -u

build=$(realpath "${BUILD:-build/fuzz}")
seconds=${FUZZ_SECONDS:-20}
failed=0 ran=0

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c
for source; do
	name=${source##*/fuzz_}
	name=${name%.c}
	committed=tests/fuzz/corpus/$name
	found=$build/corpus/$name
	mkdir -p "$found" "$committed"
	limit=(-max_total_time="$seconds")
	[ "$seconds" = 0 ] && limit=(-runs=0)
	if "$build/fuzzers/fuzz_$name" "${limit[@]}" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
		-artifact_prefix="$build/crash-$name-" "$found" "$committed" >"$build/$name.log" 2>&1; then
		units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
		echo "ok $name: ${units:-0} inputs"
	else
		tail -n 60 "$build/$name.log"
		echo "FAILED $name: input in $build/crash-$name-*"
		failed=$((failed + 1))
	fi
	ran=$((ran + 1))
done
echo "$((ran - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
