#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The agent is one binary for every JVM: it may need nothing newer than GLIBC_2.17, no library but
# libc and libpthread, and no function that musl lacks. The probe's place is one nop of five bytes: any
# other first instruction the kernel steps out of line, at ten times the price.
set -eu

agent=${1:-build/libhostprof-agent.so}
# glibc's own names, which fortified or LFS builds bring in and musl 1.2 does not export.
not_in_musl='_chk$|^__isoc|^__fdelt|^__rawmemchr|^gnu_|^secure_getenv$|^strerrorname_np$'
bad=0

symbols=$(objdump -T "$agent" | awk '$0 ~ /\*UND\*/ { print $(NF - 1), $NF }' | tr -d '()')
newest=$(echo "$symbols" | sed -nE 's/^GLIBC_([0-9.]+) .*/\1/p' | sort -V | tail -n 1)
if [ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -n 1)" != 2.17 ]; then
	echo "$agent needs GLIBC_$newest; 2.17 is the limit:"
	echo "$symbols" | grep -F "GLIBC_$newest "
	bad=1
fi
if echo "$symbols" | awk '{ print $NF }' | grep -E "$not_in_musl"; then
	echo "$agent: musl has none of these functions"
	bad=1
fi
libraries=$(objdump -p "$agent" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc\.so\.6|libpthread\.so\.0)$' || true)
if [ -n "$libraries" ]; then
	echo "$agent needs $libraries"
	bad=1
fi
for function in hostprof_alloc hostprof_lock hostprof_lock_begin; do
	at=$(objdump -T "$agent" | awk -v name="$function" '$NF == name { print $1 }')
	probed=$(objdump -d --start-address="0x${at:-0}" --stop-address="$((0x${at:-0} + 6))" "$agent" |
		awk -F '\t' '/^ +[0-9a-f]+:/ { print $2 }' | xargs)
	if [ "$probed" != "0f 1f 44 00 00 c3" ]; then
		echo "$agent: $function is not a nop and a return, but \"$probed\""
		bad=1
	fi
done
exit $bad
