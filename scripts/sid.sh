# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Packages of Debian sid, unpacked below $dir without root: sourced. They want a newer libc than this host may have: sid's is
# unpacked beside them, and every program of them points at it, so that they run as ordinary processes.

: "${dir:?}" # where all of it goes
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

run_patchelf() {
	"$loader" --library-path "$lib" "$system/usr/bin/patchelf" "$@"
}

# RPATH, unlike RUNPATH, also holds for what libjvm.so and libjava.so load.
point_at_system() {
	local program old

	find "$1" -type f -perm -u+x ! -name '*.so' | while read -r program; do
		readelf -lW "$program" 2>/dev/null | grep -q INTERP || continue
		old=$(readelf -dW "$program" | sed -n 's/.*R\(UN\)\?PATH.*\[\(.*\)\]/\2:/p')
		run_patchelf --force-rpath --set-rpath "$old$lib" --set-interpreter "$loader" "$program"
	done
}
