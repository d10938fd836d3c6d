#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over userspace and the agent. The file that includes the generated skeleton is exempt:
# the skeleton's own code does not pass.
set -u

build=${BUILD:-build}
java=${JAVA_HOME_BUILD:-/usr/lib/jvm/default-java}
export build

# tidy_userspace FILE…: its flags must come last
tidy_userspace() {
	clang-tidy --quiet "$@" -- -std=gnu11 -D_GNU_SOURCE -Iuserspace -Ibpf -Ijvmagent -I"$build/gen" \
		-DHOSTPROF_VERSION='""' -DHOSTPROF_LIBDIR='""'
}
export -f tidy_userspace

cd "$(dirname "$0")/.." || exit 1
find userspace -name '*.c' ! -name bpf_session.c -print0 |
	xargs -0 -P "$(nproc)" -n 8 bash -c 'tidy_userspace "$@"' tidy || exit 1
clang-tidy --quiet jvmagent/*.c -- -std=gnu11 -D_GNU_SOURCE -Ijvmagent -I"$java/include" \
	-I"$java/include/linux" -DHOSTPROF_VERSION='""'
