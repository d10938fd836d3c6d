#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install what building and testing need (Debian 12), and a second JDK beside the system, in .jdks.
# Quick when all is there.
set -eu

cd "$(dirname "$0")/.."

# Why each is needed: README.md, "Dependencies".
build='gcc libc6-dev make clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev liblzma-dev
libiberty-dev libxxhash-dev libzydis-dev libseccomp-dev libjansson-dev default-jdk-headless'
test='g++ binutils libcmocka-dev libclang-rt-14-dev llvm python3 python3-selenium chromium chromium-driver
clang-format clang-tidy shellcheck libcap2-bin util-linux strace libdebuginfod1
musl-tools libjemalloc2 libgoogle-perftools4'

# Debian 12 has JDK 17 only; half of the tests of Java are those of 25.
second_jdk=25

give_up() {
	echo "setup: $1; install these as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
}

install_missing() {
	command -v apt-get >/dev/null || give_up 'there is no apt-get here'
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || give_up 'this user is not root and there is no sudo'
		echo "setup: installing$missing"
		sudo true || give_up 'sudo refused'
		as_root='sudo'
	fi
	# sudo keeps little of the environment.
	apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q"
	$apt update </dev/null
	# shellcheck disable=SC2086
	$apt install -y --no-install-recommends $missing </dev/null
}

has_second_jdk() {
	[ -x ".jdks/$second_jdk/bin/java" ] ||
		grep -qs "^JAVA_VERSION=\"${second_jdk}[.\"]" /usr/lib/jvm/*/release
}

missing=
for package in $build $test; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "setup: all packages are there"
else
	install_missing
fi
if has_second_jdk; then
	echo "setup: JDK $second_jdk is there"
elif ! scripts/get-jdks.sh .jdks "$second_jdk" </dev/null; then
	echo "setup: JDK $second_jdk cannot be had from Debian sid now; its tests will be skipped" >&2
fi
