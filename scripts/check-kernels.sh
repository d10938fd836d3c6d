#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-kernels.sh [SUITE…]: boot the kernels of Debian's suites in an emulator and try hostprof of
# $BUILD on each (kernel-guest.sh holds the tests). Needs no root and no KVM. The kernels come through
# apt and stay in $BUILD/kernels, with the console of each guest.
set -u

build=$(realpath "${BUILD:-build}")
work=$build/kernels
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# bookworm has Linux 6.1, the oldest that is promised; trixie the next with long-term support.
suites=(bookworm trixie sid)
timeout_s=${KERNEL_TIMEOUT_S:-600}
passed=0 failed=0 skipped=0

# in_suite SUITE TOOL ARG…: apt-TOOL that knows only this suite and keeps its files to itself
in_suite() {
	local apt=$work/$1/apt tool=$2

	shift 2
	timeout 600 "apt-$tool" -q -o Dir::Etc::SourceList="$apt/suite.sources" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::State="$apt" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root -o Debug::NoLocking=true \
		-o Acquire::http::Timeout=30 "$@"
}

# kernel_package SUITE: the package with the file vmlinuz that the meta-package leads to
kernel_package() {
	in_suite "$1" cache depends --recurse --important linux-image-amd64 |
		grep -E '^linux-(image|binary)-[0-9]' | sort | head -n 1
}

# fetch_kernel SUITE: $work/SUITE/vmlinuz
fetch_kernel() {
	local suite=$1 dir=$work/$1 package

	[ -s "$dir/vmlinuz" ] && return
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	printf '%s\n' 'Types: deb' "URIs: $mirror" "Suites: $suite" 'Components: main' \
		'Architectures: amd64' 'Targets: Packages' \
		'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >"$dir/apt/suite.sources"
	in_suite "$suite" get update || return
	package=$(kernel_package "$suite")
	[ -n "$package" ] || return
	(cd "$dir" && in_suite "$suite" get download "$package") || return
	dpkg-deb --fsys-tarfile "$dir"/linux-*.deb |
		tar -xO --wildcards './boot/vmlinuz-*' './usr/lib/modules/*/vmlinuz' >"$dir/vmlinuz.new" \
			2>/dev/null
	rm -rf "$dir"/linux-*.deb "$dir/apt"
	[ -s "$dir/vmlinuz.new" ] && mv "$dir/vmlinuz.new" "$dir/vmlinuz"
}

# copy_libraries ROOT PROGRAM…: what ldd says they load, at the same paths below ROOT
copy_libraries() {
	local root=$1

	shift
	ldd "$@" 2>/dev/null | grep -oE '/[^ :]+ \(0x' | cut -d' ' -f1 | sort -u |
		grep -v "^$root/" | xargs -r cp -L --parents -t "$root"
}

# A Java runtime as small as jlink makes it; without one the guests skip their test of Java.
add_java() {
	local root=$1 jlink=${JAVA_HOME_BUILD:-/usr/lib/jvm/default-java}/bin/jlink

	[ -x "$jlink" ] || return 0
	"$jlink" --add-modules java.base --strip-debug --no-man-pages --no-header-files \
		--output "$root/java" || return 0
	cp "$build"/workloads/{Chain,Locks}*.class "$root/java/"
	copy_libraries "$root" "$root"/java/bin/java "$root"/java/lib/*.so "$root"/java/lib/server/*.so
}

# Everything the guests have: this machine's libraries, a shell, hostprof and what it profiles.
make_initrd() {
	local root=$work/root setcap

	setcap=$(command -v setcap || ls /sbin/setcap 2>/dev/null)
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,tmp}
	cp scripts/kernel-guest.sh "$root/init"
	cp "$(command -v busybox)" "$build/hostprof" "$build/libhostprof-agent.so" \
		"$build/workloads/"{burn,mallocs,kernel_locks,native_locks} "$root/bin/"
	cp "$build"/workloads/unwind/{uw-{chain,static,threads,handled,calling,brief},libuw-tiny.so} \
		"$root/bin/"
	[ -n "$setcap" ] && cp "$setcap" "$root/bin/"
	copy_libraries "$root" "$root"/bin/*
	add_java "$root" >"$work/jlink.log" 2>&1
	(cd "$root" && find . | cpio --quiet -o -H newc) >"$work/initrd"
}

# count WORD: the lines of the guest's results that begin with it
count() {
	grep -c "^$1 " "$dir/results"
}

# run_suite SUITE
run_suite() {
	local dir=$work/$1

	mkdir -p "$dir"
	if ! fetch_kernel "$1" >"$dir/fetch.log" 2>&1; then
		echo "skip $1: no kernel from $mirror, see $dir/fetch.log"
		skipped=$((skipped + 1))
		return
	fi
	timeout "$timeout_s" qemu-system-x86_64 -accel tcg -m 1024 -smp 2 -display none -no-reboot \
		-nic none -kernel "$dir/vmlinuz" -initrd "$work/initrd" \
		-append 'console=ttyS0 quiet panic=-1' \
		-serial "file:$dir/console" -serial "file:$dir/results" </dev/null
	tr -d '\r' <"$dir/results" | sed "/^# done/d; s/\$/ ($1)/"
	passed=$((passed + $(count ok))) failed=$((failed + $(count FAIL)))
	skipped=$((skipped + $(count skip)))
	[ "$(count FAIL)" -eq 0 ] || echo "see $dir/console"
	if ! grep -q '^# done' "$dir/results"; then
		echo "FAIL $1: the guest did not come to its end; see $dir/console"
		failed=$((failed + 1))
	fi
}

cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] && suites=("$@")
for program in qemu-system-x86_64 busybox cpio apt-get dpkg-deb; do
	command -v "$program" >/dev/null && continue
	echo "skip: there is no $program (apt-get install qemu-system-x86 busybox-static cpio)"
	echo "0 passed, 0 failed, ${#suites[@]} skipped"
	exit 0
done
mkdir -p "$work"
make_initrd || exit 1
for suite in "${suites[@]}"; do
	run_suite "$suite"
done
rm -rf "$work/root"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
