#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# get-pythons.sh DIRECTORY [VERSION…]: CPythons of Debian sid, DIRECTORY/VERSION/pythonVERSION each; needs no root (sid.sh). What
# is there already stays. `make check-programs` takes them from HOSTPROF_PYTHONS.
set -eu

dir=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- 3.13 3.14
# shellcheck source=scripts/sid.sh
. "$(dirname "$0")/sid.sh"

# A program that is not position-independent does not bear a longer path to its libraries: its starter says it.
write_starter() {
	local version=$1 root=$2

	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/usr/bin/python%s "$@"\n' "$lib" "$dir/$version" "$version" >"$root/python$version"
	chmod +x "$root/python$version"
}

get_python() {
	local version=$1 root package

	root=$(mktemp -d -p "$dir")
	for package in "libpython$version-minimal" "libpython$version-stdlib" "python$version-minimal" "python$version" libexpat1; do
		unpack "$package" "$root"
	done
	cp -a "$root"/usr/lib/x86_64-linux-gnu/libexpat.so* "$lib"
	run_patchelf --set-interpreter "$loader" "$root/usr/bin/python$version"
	write_starter "$version" "$root"
	mv "$root" "$dir/$version"
	"$dir/$version/python$version" --version
}

mkdir -p "$dir"
started=
trap 'rm -rf "$dir"/tmp.*' EXIT
for version; do
	[ ! -x "$dir/$version/python$version" ] || continue
	# Anew in each run: an old list names packages that sid has no more.
	[ -n "$started" ] || start_apt
	started=yes
	get_system
	get_python "$version"
done
