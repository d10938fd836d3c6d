#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh BINDIR LIBDIR: copy what is built in $BUILD to where it belongs below $DESTDIR.
set -eu

build=${BUILD:-build}
dest=${DESTDIR:-}
bindir=$1
libdir=$2

install -D -m 755 "$build/hostprof" "$dest$bindir/hostprof"
install -D -m 755 "$build/libhostprof-agent.so" "$dest$libdir/hostprof/libhostprof-agent.so"
