#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds for another machine and runs the unit tests under qemu-user, or for musl
# with a client of its own inside: tools/on-debian.sh 12 tools/cross.sh musl
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/debian.sh
. tools/packages.sh

die() {
    echo "cross.sh: $2" >&2
    exit "$1"
}

arch=${1-}
build=$PWD/build-$arch
libraries=(libzookeeper-mt libjansson libncurses libmicrohttpd zlib1g libcmocka)
packages=(meson ninja-build pkg-config jq)
setup=(-Dwerror=true -Dtests=enabled -Dexamples=disabled)
case $arch in
arm64) cpu=aarch64 tool=aarch64-linux-gnu prefix=$tool- wrapper=qemu-aarch64 ;;
i386) cpu=x86 tool=i686-linux-gnu prefix=$tool- wrapper=qemu-i386 ;;
musl) cpu=x86_64 tool=musl prefix= wrapper=env ;;
*) die 64 "arm64, i386 or musl, not '$arch'" ;;
esac
log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$log" "$work"' EXIT

loud() { # command: shows what it said when it fails
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; die 70 "$* failed"; }
}

write_cross_file() { # name, directory of the files of pkg-config
    cat >"$1" <<TEXT
[binaries]
c = '$tool-gcc'
cpp = '${prefix}g++'
ar = '${prefix}ar'
objcopy = '${prefix}objcopy'
strip = '${prefix}strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$wrapper'
[properties]
pkg_config_libdir = '$2'
needs_exe_wrapper = true
[host_machine]
system = 'linux'
cpu_family = '$cpu'
cpu = '$cpu'
endian = 'little'
TEXT
}

by_cmake() { # what Debian has for glibc only
    loud cmake -S "$work/$1"-[0-9]* -B "$work/$1" -DCMAKE_INSTALL_PREFIX="$build.libs" \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF "${@:2}"
    loud make -C "$work/$1" -j"$(nproc)" install
}

openssl() {
    cd "$work"/openssl-[0-9]*
    loud ./Configure linux-x86_64 no-shared no-tests no-engine no-dso no-async \
        no-secure-memory --prefix="$build.libs" --libdir=lib
    loud make -j"$(nproc)" build_libs
    loud make install_dev
}

sasl() { # with DIGEST-MD5 in it
    cd "$work"/cyrus-sasl2-[0-9]*
    loud env CFLAGS="-O2 -fPIC -I$build.libs/include" LDFLAGS="-L$build.libs/lib" \
        ./configure --prefix="$build.libs" --host=x86_64-linux-musl --disable-shared \
        --with-dblib=none --with-openssl="$build.libs" --without-saslauthd --disable-sample \
        --disable-{gssapi,otp,anon,cram,scram,plain,login}
    for part in include common sasldb plugins lib; do
        loud make -C $part
    done
    loud make -C include install
    loud make -C lib install
    loud make install-data
    cd plugins/.libs
    loud ar x libdigestmd5.a
    loud ar rs "$build.libs/lib/libsasl2.a" digestmd5*.o plugin_common.o
}

libraries_of_musl() {
    export CC=musl-gcc
    loud use_suite "$work" deb-src "$(. /etc/os-release && echo "$VERSION_CODENAME")"
    (cd "$work" && loud apt_in "$work" source openssl cyrus-sasl2 jansson cmocka)
    by_cmake jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON
    by_cmake cmocka -DWITH_STATIC_LIB=ON -DUNIT_TESTING=OFF -DWITH_EXAMPLES=OFF
    (openssl)
    (sasl)
    OPENSSL_ROOT_DIR=$build.libs CMAKE_PREFIX_PATH=$build.libs CFLAGS="-I$build.libs/include" \
        tools/build-client.sh "$build.libs"
    : >"$build.libs/complete"
}

if [ "$arch" = musl ]; then
    install_packages "$log" "${packages[@]}" musl-tools automake libtool gcc make cmake dpkg-dev
    [ -e "$build.libs/complete" ] || libraries_of_musl
    write_cross_file "$build.cross" "$build.libs/lib/pkgconfig"
    setup+=(-Dtools=disabled -Dzookeeper_prefix="$build.libs")
else
    dpkg --add-architecture "$arch"
    packages+=("crossbuild-essential-$arch" qemu-user "${libraries[@]/%/-dev:$arch}" "libc6:$arch")
    loud apt-get update
    install_packages "$log" "${packages[@]}"
    write_cross_file "$build.cross" "/usr/lib/${tool/i686/i386}/pkgconfig:/usr/share/pkgconfig"
fi
rm -rf "$build"
loud meson setup "$build" --cross-file "$build.cross" "${setup[@]}"
[ "$arch" = musl ] || loud ninja -C "$build"
# What other tests need is made by programs of this machine.
meson introspect "$build" --tests | jq -r --arg build "$build/" '.[] |
    select(.suite | index("zkrecipes:unit")) | .cmd[] | select(startswith($build)) |
    ltrimstr($build)' | sort -u >"$work/units"
mapfile -t units <"$work/units"
loud ninja -C "$build" "${units[@]}"
meson test -C "$build" --no-rebuild --suite unit --timeout-multiplier 10 --print-errorlogs | tee "$log" || true
awk '$1 == "Ok:" { p = $2 } $1 == "Fail:" || $1 == "Timeout:" { f += $2 }
    END { print p + 0 " passed, " f + !p " failed" } ' "$log"
