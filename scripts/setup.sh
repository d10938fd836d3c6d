#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install what building and testing need (Debian 12, Ubuntu 22.04 and later). Quick when all is there.
set -eu

# Why each is needed: README.md, "Dependencies".
build='gcc libc6-dev make pkg-config clang llvm bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev
liblzma-dev binutils-dev libiberty-dev libxxhash-dev default-jdk-headless'
test='libcmocka-dev libclang-rt-14-dev python3 python3-selenium chromium chromium-driver gdb jq
clang-format clang-tidy shellcheck libcap2-bin util-linux'

missing=
for package in $build $test; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
	echo "setup: all packages are there"
	exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root='sudo'
	echo "setup: installing$missing"
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q </dev/null
# shellcheck disable=SC2086
$as_root apt-get install -q -y --no-install-recommends $missing </dev/null
