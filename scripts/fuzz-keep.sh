#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz-keep.sh [NAME…]: of what the fuzzers built in $BUILD have found in $BUILD/corpus, keep in tests/fuzz/found what reaches code that
# nothing smaller reaches, so that the next hour begins where this one has ended. Counts of how often code ran don't matter here.
set -u

build=$(realpath "${BUILD:-build/fuzz}")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c
mkdir -p tests/fuzz/found
failed=0
for source; do
	name=${source##*/fuzz_}
	name=${name%.c}
	committed=tests/fuzz/corpus/$name
	found=$build/corpus/$name
	kept=$room/$name
	archive=tests/fuzz/found/$name.tar.xz
	[ -d "$found" ] || continue
	mkdir -p "$kept" "$committed"
	if [ -e "$archive" ]; then
		tar -C "$found" --skip-old-files -xf "$archive"
	fi
	if ! "$build/fuzzers/fuzz_$name" -merge=1 -use_counters=0 -rss_limit_mb=2048 "$kept" "$committed" "$found" \
		>"$build/$name.keep.log" 2>&1; then
		echo "FAILED $name: $build/$name.keep.log"
		failed=1
		continue
	fi
	# What is committed as it is need not be there twice; its copies have its hash as their name.
	for file in "$committed"/*; do
		[ -e "$file" ] && rm -f "$kept/$(sha1sum <"$file" | cut -d ' ' -f 1)"
	done
	tar -C "$kept" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -c . | xz -9e >"$archive.new"
	mv "$archive.new" "$archive"
	echo "$name: $(find "$kept" -type f | wc -l) of $(find "$found" -type f | wc -l) kept, $(stat -c %s "$archive") bytes"
done
exit "$failed"
