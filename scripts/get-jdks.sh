#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# get-jdks.sh DIRECTORY [VERSION…]: OpenJDK of Debian sid, DIRECTORY/VERSION/bin/java each; needs no
# root. They want a newer libc than this host may have: sid's is unpacked beside them and every
# program of a JDK points at it, so that they run as ordinary processes. What is there already stays. Of 8 the debug files come, too.
set -eu

dir=$(realpath -m "$1")
shift
[ $# -gt 0 ] || set -- 8 11 17 21 25 26 27 28
apt=$dir/apt
system=$dir/system
lib=$system/usr/lib/x86_64-linux-gnu
loader=$lib/ld-linux-x86-64.so.2

# The mirror that this host uses already.
find_mirror() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1
}

# in_sid TOOL ARG…: apt-TOOL that knows only sid and keeps its files to itself
in_sid() {
	local tool=$1

	shift
	timeout 900 "apt-$tool" -qq -o Dir::Etc::SourceList="$apt/sid.sources" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::State="$apt" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root -o Debug::NoLocking=true \
		-o Acquire::Languages=none "$@"
}

start_apt() {
	local mirror=${DEBIAN_MIRROR:-$(find_mirror)}

	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir/packages"
	printf '%s\n' 'Types: deb' "URIs: ${mirror:-http://deb.debian.org/debian}" 'Suites: sid' \
		'Components: main' 'Architectures: amd64' 'Targets: Packages' \
		'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >"$apt/sid.sources"
	in_sid get update
}

# unpack PACKAGE TARGET TAR-OPTION…: fetch a package and unpack it, keeping nothing of it
unpack() {
	local package=$1 target=$2

	shift 2
	(cd "$dir/packages" && in_sid get download "$package")
	dpkg-deb --fsys-tarfile "$dir/packages/${package}"_*.deb | tar -x -C "$target" "$@"
	rm -f "$dir/packages/${package}"_*.deb
}

get_system() {
	local package

	[ -x "$system/usr/bin/patchelf" ] && return
	mkdir -p "$system"
	# patchelf last: it says that all is there.
	for package in libc6 zlib1g libgcc-s1 libstdc++6 patchelf; do
		unpack "$package" "$system"
	done
}

# Settings are links to /etc, which the package would have filled: put the files themselves there.
resolve_links() {
	local home=$1 root=$2 link target

	find "$home" -type l -lname '/etc/*' | while read -r link; do
		target=$(readlink "$link")
		rm "$link"
		[ ! -e "$root$target" ] || cp -aL "$root$target" "$link"
	done
}

# RPATH, unlike RUNPATH, also holds for what libjvm.so and libjava.so load.
point_at_system() {
	local program old

	find "$1" -type f -perm -u+x ! -name '*.so' | while read -r program; do
		readelf -lW "$program" 2>/dev/null | grep -q INTERP || continue
		old=$(readelf -dW "$program" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2:/p')
		"$loader" --library-path "$lib" "$system/usr/bin/patchelf" --force-rpath \
			--set-rpath "$old$lib" --set-interpreter "$loader" "$program"
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
