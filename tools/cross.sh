#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything for another machine and runs the unit tests, under qemu-user
# where this one cannot: tools/on-debian.sh 13 tools/cross.sh arm64
set -euo pipefail
cd "$(dirname "$0")/.."

arch=$1
case $arch in
arm64) wrapper="exe_wrapper = 'qemu-aarch64'" ;;
i386) wrapper= ;;
*) echo "cross.sh: arm64 or i386, not '$arch'" >&2 && exit 64 ;;
esac
export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture "$arch"
libraries=(libzookeeper-mt-dev libjansson-dev libncurses-dev libmicrohttpd-dev zlib1g-dev
    libcmocka-dev libc6)
{ apt-get update && apt-get install -y --no-install-recommends "crossbuild-essential-$arch" \
    meson ninja-build pkg-config qemu-user "${libraries[@]/%/:$arch}"; } >build-log 2>&1 ||
    { tail -n 20 build-log >&2 && exit 69; }
build=build-$arch
/usr/share/meson/debcrossgen --arch "$arch" -o "$build.cross"
printf '[binaries]\n%s\n' "$wrapper" >"$build.wrapper"
[ -e "$build/build.ninja" ] || meson setup "$build" --cross-file "$build.cross" \
    --cross-file "$build.wrapper" -Dwerror=true -Dtests=enabled -Dexamples=disabled
ninja -C "$build"
meson test -C "$build" --suite unit --timeout-multiplier 10 --print-errorlogs | tee build-log || true
awk '$1 == "Ok:" { p = $2 } $1 == "Fail:" || $1 == "Timeout:" { f += $2 }
    END { print p + 0 " passed, " f + !p " failed" } ' build-log
