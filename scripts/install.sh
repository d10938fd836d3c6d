#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh BINDIR LIBDIR: copy what is built in $BUILD to where it belongs below $DESTDIR.
set -eu

build=${BUILD:-build}
dest=${DESTDIR:-}
bindir=$1
libdir=$2

install -D -m 755 "$build/hostprof" "$dest$bindir/hostprof"
# The link finds its parts, and hostprof beside itself.
install -D -m 755 scripts/asprof "$dest$libdir/hostprof/asprof"
install -m 644 scripts/asprof-output.sh scripts/asprof-session.sh "$dest$libdir/hostprof"
ln -srf "$dest$libdir/hostprof/asprof" "$dest$bindir/asprof"
install -D -m 755 "$build/libhostprof-agent.so" "$dest$libdir/hostprof/libhostprof-agent.so"
