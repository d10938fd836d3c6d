#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install what building and testing need (Debian 12). Quick when all is there.
set -eu

# Why each is needed: README.md, "Dependencies".
build='gcc libc6-dev make clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev liblzma-dev
libiberty-dev libxxhash-dev default-jdk-headless'
test='g++ binutils libcmocka-dev libclang-rt-14-dev llvm python3 python3-selenium chromium chromium-driver
clang-format clang-tidy shellcheck libcap2-bin util-linux strace'

missing=
for package in $build $test; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "setup: all packages are there"
	exit 0
fi

give_up() {
	echo "setup: $1; install these as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
}

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
