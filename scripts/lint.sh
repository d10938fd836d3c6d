#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Format, what clang warns of, layers, sizes, shell scripts, licence lines, who makes files, what docs name, texts of
# mutants and of changes that change nothing, stacks of BPF, and what the agent imports.
# The checks are called by name through step().
# shellcheck disable=SC2317
set -u

build=${BUILD:-build}
failed=0

# step NAME COMMAND…
step() {
	local name=$1

	shift
	if "$@"; then
		echo "ok $name"
	else
		echo "FAILED $name"
		failed=1
	fi
}

# Without one of them a step would fail as if the sources were at fault.
check_tools() {
	local tool missing=

	for tool in clang clang-format shellcheck python3 objdump llvm-objdump; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	[ -z "$missing" ] || {
		echo "not installed:$missing; run: make setup"
		return 1
	}
}

# sources NAME…: of our own; vmlinux/ is not
sources() {
	local -a names=()

	for name; do
		names+=(-o -name "$name")
	done
	find bpf userspace jvmagent tests scripts \( "${names[@]:1}" \) -type f
}

check_format() {
	sources '*.c' '*.h' | xargs clang-format --dry-run -Werror
}

# The fuzzers, and what they are linked with, are compiled by clang, which warns of more.
check_clang() {
	find userspace tests/fuzz -name '*.c' ! -name bpf_session.c -print0 |
		xargs -0 -P "$(nproc)" -n 16 clang -fsyntax-only -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror \
			-Wno-format-nonliteral -Iuserspace -Ibpf -Ijvmagent -Itests -Itests/unit -I"$build/gen" -DHOSTPROF_VERSION='""' -DHOSTPROF_LIBDIR='""'
}

check_licence_lines() {
	local without

	without=$(sources '*.c' '*.h' '*.py' '*.sh' '*.js' '*.css' '*.java' '*.def' |
		xargs grep -L 'SPDX-License-Identifier:')
	[ -z "$without" ] || {
		echo "no SPDX-License-Identifier in: $without"
		return 1
	}
}

check_reasons() {
	scripts/reasons.sh | diff -u docs/reasons.md - || {
		echo "run: scripts/reasons.sh > docs/reasons.md"
		return 1
	}
}

# The explanations of scripts/mutate-equivalent.txt are of lines that are there.
check_equivalents() {
	python3 -c 'import sys
sys.path.insert(0, "scripts")
from mutation import equivalents
gone = list(equivalents.stale())
print(*gone, sep="\n", end="\n" * bool(gone))
sys.exit(bool(gone))'
}

# What we write for the user is opened in one place; the attach protocol's files are the other, and brokers may make none.
check_outputs() {
	! grep -rnE 'O_CREAT|O_TMPFILE|\<(creat|fopen|freopen|mkstemp|mkostemps?|tmpfile)\(' userspace --include='*.c' |
		grep -vE '^userspace/(base/out/out_place\.c|wall/broker_calls\.c|jvm/attach/)' || {
		echo "files are made by base/out/outfile.h"
		return 1
	}
}

cd "$(dirname "$0")/.." || exit 1
step tools check_tools
step format check_format
step clang check_clang
step layers scripts/check-layers.py
step wall scripts/check-wall.py
step sizes scripts/check-size.py --stats
step shellcheck shellcheck scripts/asprof scripts/*.sh .ci/run
step licences check_licence_lines
step reasons check_reasons
step outputs check_outputs
step docs scripts/check-docs.py
step mutants scripts/check-mutants.py --texts
step equivalents check_equivalents
step parsers scripts/check-parsers.py "$build"
step bpf-stack scripts/check-bpf-stack.py "$build/gen/hostprof.bpf.o"
step agent scripts/check-agent.sh "$build/libhostprof-agent.so"
exit $failed
