#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profile this host for ten seconds into hostprof.html. Only the recording runs as root; this shell
# opens the file, so that it belongs to the user.
set -eu

build=${BUILD:-build}
seconds=${SECONDS_TO_RECORD:-10}
out=${OUT:-hostprof.html}

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root='sudo'
	if ! command -v sudo >/dev/null || ! sudo true; then
		echo "run: recording needs root, and sudo gave none; as root: make run" >&2
		exit 3
	fi
fi
echo "run: recording this host for $seconds s, with the agent in its JVMs"
trap 'rm -f "$out.part"' EXIT
$as_root "$build/hostprof" record -d "$seconds" --agent=always -f html -o - >"$out.part"
mv "$out.part" "$out"
echo "run: open $(realpath "$out") in a browser"
