#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A ZooKeeper C client with TLS and SASL, built from Debian's source package, and
# with the cures of tools/client/. Debian's own binary has neither.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/debian.sh
. tools/packages.sh
readonly CURES=$PWD/tools/client

packages=(binutils dpkg-dev patch gcc g++ make cmake libssl-dev libsasl2-dev libsasl2-modules
    default-jre-headless libzookeeper-java)

usage() {
    cat <<'TEXT'
usage: tools/build-client.sh PREFIX [--debian 12 | 13 | sid]

Builds the ZooKeeper C client with TLS and SASL from Debian's source package,
by default that of this machine's Debian, with a patch for each fault that is
mended (tools/client/), and puts it into PREFIX:

  PREFIX/include/zookeeper/*.h
  PREFIX/lib/libzookeeper_mt.a    position-independent, its functions hidden

Then:  meson setup build -Dzookeeper_prefix=PREFIX
makes it a part of the library.

CFLAGS are more options for the compiler. Installs what it needs when it runs as
root; otherwise it says what is missing. The lists of packages of this machine stay as they are.
TEXT
}

die() {
    echo "build-client.sh: $2" >&2
    exit "$1"
}

debian_of_this_machine() {
    local version
    version=$(. /etc/os-release && echo "${VERSION_ID-}")
    echo "${version:-sid}"
}

prefix=
debian=
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        usage
        exit 0
        ;;
    --debian)
        debian=${2-}
        shift
        ;;
    -*) die 64 "unknown option '$1'; see --help" ;;
    *)
        [ -z "$prefix" ] || die 64 "more than one PREFIX; see --help"
        prefix=$1
        ;;
    esac
    shift || break
done
[ -n "$prefix" ] || { usage >&2; exit 64; }
suite=$(suite_of "${debian:-$(debian_of_this_machine)}")
[ -n "$suite" ] || die 64 "no such Debian: '$debian'; 12, 13 or sid"
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$(mktemp -d)
log=$work/log
trap 'rm -rf "$work"' EXIT

loud() { # what it does, command: shows what the command said when it fails
    local what=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; die 70 "$what failed"; }
}

fetch() {
    loud "the list of the sources of $suite" use_suite "$work" deb-src "$suite"
    cd "$work"
    loud "the source package of ZooKeeper in $suite" apt_in "$work" source zookeeper
}

# The sources of the package lack what its build generates.
generate() {
    mkdir generated
    cd generated
    loud 'Rcc' java -cp /usr/share/java/zookeeper-jute.jar \
        org.apache.jute.compiler.generated.Rcc -l c \
        "$source/zookeeper-jute/src/main/resources/zookeeper.jute"
    sed -i -f "$CURES/jute.sed" zookeeper.jute.c
    cd ..
}

# FIPS_mode: 3.8.0 calls it, and OpenSSL 3 has none. The type "None" keeps the
# assertions of the client, as Debian does.
compile() {
    loud cmake cmake -S . -B build -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS="-O2 -g -fvisibility=hidden -DFIPS_mode\\(\\)=0 ${CFLAGS-}" \
        -DWANT_CPPUNIT=OFF -DWITH_OPENSSL=ON -DWITH_CYRUS_SASL=ON
    loud make make -C build -j"$(nproc)" zookeeper
}

# What Debian's library exports. No other name is left, and these are hidden.
functions=('zoo_*' 'zookeeper_*' zerror is_unrecoverable logLevel log_message
    format_log_message 'allocate_*' 'deallocate_*' 'Z*')

# One object: what its parts have for each other is global in none.
link() {
    loud 'the linker' ld -r -o build/zookeeper_mt.o --whole-archive \
        build/libzookeeper.a build/libhashtable.a
    loud objcopy objcopy --wildcard \
        "${functions[@]/#/--keep-global-symbol=}" build/zookeeper_mt.o
    nm build/zookeeper_mt.o >"$log"
    grep -q ' T zookeeper_init_secure$' "$log" ||
        die 70 'the library has come out without TLS or SASL'
    rm -f "$prefix/lib/libzookeeper_mt.a"
    loud ar ar rcs "$prefix/lib/libzookeeper_mt.a" build/zookeeper_mt.o
}

install_headers() {
    mkdir -p "$prefix/include/zookeeper"
    cp include/proto.h include/recordio.h include/zookeeper.h \
        include/zookeeper_log.h include/zookeeper_version.h \
        generated/zookeeper.jute.h "$prefix/include/zookeeper/"
}

install_packages "$log" "${packages[@]}"
fetch
source=$(echo "$work"/zookeeper-[0-9]*/)
source=${source%/}
cd "$source/zookeeper-client/zookeeper-client-c"
for patch in "$CURES"/*.patch; do
    loud "${patch##*/}" patch -p1 -i "$patch"
done
generate
compile
mkdir -p "$prefix/lib"
link
install_headers
echo "ZooKeeper client ${source##*-} with TLS and SASL: $prefix"
