#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# get-jdks.sh DIRECTORY [VERSION…]: OpenJDK of Debian sid, DIRECTORY/VERSION/bin/java each; needs no root (sid.sh). What is there
# already stays. Of 8 the debug files come, too.
set -eu

dir=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- 8 11 17 21 25 26 27 28
# shellcheck source=scripts/sid.sh
. "$(dirname "$0")/sid.sh"

# Settings are links to /etc, which the package would have filled: put the files themselves there.
resolve_links() {
	local home=$1 root=$2 link target

	find "$home" -type l -lname '/etc/*' | while read -r link; do
		target=$(readlink "$link")
		rm "$link"
		[ ! -e "$root$target" ] || cp -aL "$root$target" "$link"
	done
}

get_jdk() {
	local version=$1 root home part

	root=$(mktemp -d -p "$dir")
	for part in jre jdk; do
		unpack "openjdk-$version-$part-headless" "$root" --exclude='*/jmods/*' --exclude='*.a'
	done
	home=$root/usr/lib/jvm/java-$version-openjdk-amd64
	resolve_links "$home" "$root"
	point_at_system "$home"
	"$home/bin/java" -version 2>&1 | head -n 1
	mv "$home" "$dir/$version"
	rm -rf "$root"
}

# The libjvm of 8 has its symbols in another package: DIRECTORY/debug/8 is what would be /usr/lib/debug.
get_debug_files() {
	local version=$1 root

	root=$(mktemp -d -p "$dir")
	unpack "openjdk-$version-dbg" "$root"
	mkdir -p "$dir/debug"
	mv "$root/usr/lib/debug" "$dir/debug/$version"
	rm -rf "$root"
}

# lacks VERSION: something of it is still to be fetched
lacks() {
	[ ! -x "$dir/$1/bin/java" ] || { [ "$1" = 8 ] && [ ! -d "$dir/debug/8" ]; }
}

mkdir -p "$dir"
started=
trap 'rm -rf "$dir"/tmp.*' EXIT
for version; do
	lacks "$version" || continue
	# Anew in each run: an old list names packages that sid has no more.
	[ -n "$started" ] || start_apt
	started=yes
	get_system
	[ -x "$dir/$version/bin/java" ] || get_jdk "$version"
	[ "$version" != 8 ] || get_debug_files 8
done
