#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/reasons.md from the table that the code is made from.
set -eu

cd "$(dirname "$0")/.."
cat <<'HEAD'
# Why a stack ends

Made from `bpf/unwind_reasons.def` by `scripts/reasons.sh`; `hostprof help reasons` prints the same.

Every sample says how its user stack ended. *Complete* stacks reached the thread's first frame, or had
no user part to walk. The others show `[unwind: reason]` at the root side of the stack, in every
format, and are counted by reason in `--stats`; `native-frames-skipped` shows `[native frames skipped]`
in the midst of the stack instead.

| reason | complete | what it means |
|---|---|---|
HEAD
sed -nE 's/^UNWIND_REASON\([A-Z0-9_]+, "([^"]+)", ([01]), "(.*)"\)$/\1|\2|\3/p' bpf/unwind_reasons.def |
	while IFS='|' read -r id whole text; do
		[ "$whole" = 1 ] && whole=yes || whole=no
		printf '| %s%s%s | %s | %s |\n' '`' "$id" '`' "$whole" "$text"
	done
