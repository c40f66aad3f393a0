#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages, has lintian look at them, and uses what is in them:
# a program is compiled and linked, and zk-lockctl runs.
#
#   packages.sh SOURCE_ROOT [ZOOKEEPER_PREFIX]
#
# With that client inside, for tools/release.sh: the tool makes a session over TLS,
# no other client is needed, and the packages are left in build-packages/.
set -eu

root=$1
client=${2-}
for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || exit 77
done
. "$(dirname "$0")/begin.sh"
. "$root/tests/lib/tls_server.sh"
trap 'stop_server; rm -rf "$tmp"' EXIT

# Only what belongs to the source: a build directory may lie in it.
mkdir "$tmp/source" "$tmp/root"
(cd "$root" && find . \( -name .git -o -name 'build*' -type d \) -prune -o \
    \( -type f -o -type l \) -print | tar cf - -T -) | tar xf - -C "$tmp/source"
[ -z "$client" ] || cp -R "$client" "$tmp/source/build-client"

cd "$tmp/source"
export DEB_BUILD_OPTIONS=noautodbgsym # they take a while, and nobody reads them
if ! dpkg-buildpackage -us -uc -b >"$tmp/log" 2>&1; then
    cat "$tmp/log"
    exit 1
fi
cd "$tmp"
lintian --allow-root --fail-on error,warning zkrecipes_*.changes ||
    complain 'lintian has found something'

for package in libzkrecipes0.1 libzkrecipes-dev zk-lockctl; do
    dpkg -x "$package"_[0-9]*.deb root
done
triplet=$(cc -print-multiarch)
lib=$tmp/root/usr/lib/$triplet

cp "$root/examples/mutex.c" .
# shellcheck disable=SC2046 # flags
PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$tmp/root" \
    pkg-config --exists --print-errors zkrecipes ||
    complain 'pkg-config does not find it'
cc mutex.c -o mutex -I"$tmp/root/usr/include" -L"$lib" -lzkrecipes ||
    complain 'a program cannot be compiled'
! LD_LIBRARY_PATH=$lib ./mutex 127.0.0.1:1/nope/ 2>error ||
    complain 'the program does not run'
grep -q '^open: ' error || complain "the program says: $(cat error)"
LD_LIBRARY_PATH=$lib root/usr/bin/zk-lockctl --version >/dev/null ||
    complain 'zk-lockctl does not run'
root/usr/bin/zk-dev --help >/dev/null || complain 'zk-dev does not run'

if [ -n "$client" ]; then
    if readelf -d "$lib/libzkrecipes.so.0.1" | grep NEEDED |
        grep -v '\[\(lib\(ssl\|crypto\|sasl2\|jansson\|c\|m\)\|ld-linux.*\)\.so'; then
        complain '... is needed by the library'
    fi
    start_server
    uses_tls env LD_LIBRARY_PATH="$lib" root/usr/bin/zk-lockctl ||
        complain 'zk-lockctl does not use TLS'
    mkdir -p "$root/build-packages"
    cp ./*.deb "$root/build-packages"
fi

exit "$failed"
