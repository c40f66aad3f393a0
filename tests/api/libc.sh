#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what the library asks of the C library: the sources compile with musl,
# and want no function that musl lacks; and the build refuses a glibc that is too
# old, in words. The ZooKeeper client does not exist for musl, so nothing is
# linked.
#
#   libc.sh SOURCE_ROOT
set -eu

root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

complain() {
    echo "$1"
    failed=1
}

# -- glibc: the headers say another version

mkdir "$tmp/old"
cat >"$tmp/old/features.h" <<'END'
#include_next <features.h>
#if defined __GLIBC__ && !defined SEEN
#define SEEN
#undef __GLIBC_MINOR__
#define __GLIBC_MINOR__ OLD
#endif
END

# refuses MINOR OPTION SENTENCE
refuses() {
    if meson setup "$tmp/build-$1" "$root" "-D$2" \
        "-Dc_args=-I$tmp/old -DOLD=$1" >"$tmp/log" 2>&1; then
        complain "glibc 2.$1 is taken, with $2"
    elif ! grep -q "ERROR:.*$3" "$tmp/log"; then
        tail -n 3 "$tmp/log"
        complain "glibc 2.$1 is refused without a reason"
    fi
}

if echo '#include <features.h>' | cc -E -dM - | grep -q __GLIBC__; then
    refuses 29 tools=disabled 'glibc 2.30 or later is needed'
    refuses 33 tools=enabled 'zk-lockctl needs glibc 2.34'
fi

# -- musl

include=/usr/include
command -v musl-gcc >/dev/null && [ -e $include/zookeeper/zookeeper.h ] &&
    [ -e $include/jansson.h ] || exit 77

# Not the headers of glibc beside them.
mkdir "$tmp/include" "$tmp/objects"
cp -R $include/zookeeper $include/jansson*.h "$tmp/include"

# Without those that need OpenSSL and Cyrus SASL.
for source in "$root"/src/*/*.c "$root"/recipes/*.c; do
    name=${source#"$root"/}
    case $name in
    src/zk/tls.c | src/zk/sasl.c) continue ;;
    esac
    musl-gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE \
        -DTHREADED -DZKR__CLIENT_INSIDE=0 -I"$root/include" -I"$root/src" -I"$tmp/include" -c "$source" \
        -o "$tmp/objects/$(echo "$name" | tr / _).o" ||
        complain "$name does not compile with musl"
done
# Names of other libraries are those that glibc's build of them has.
for library in zookeeper_mt jansson; do
    nm -D --defined-only "$(cc -print-file-name="lib$library.so")"
done | sed 's/@.*//' >"$tmp/others"
nm --defined-only "$tmp"/objects/*.o \
    "$(musl-gcc -print-file-name=libc.a)" 2>/dev/null | cat - "$tmp/others" |
    awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >"$tmp/defined"
echo _GLOBAL_OFFSET_TABLE_ >>"$tmp/defined"
nm --undefined-only "$tmp"/objects/*.o | awk 'NF == 2 { print $2 }' |
    LC_ALL=C sort -u >"$tmp/wanted"
LC_ALL=C sort -o "$tmp/defined" "$tmp/defined"
[ -s "$tmp/wanted" ] || complain 'the objects want nothing'
missing=$(LC_ALL=C comm -13 "$tmp/defined" "$tmp/wanted")
[ -z "$missing" ] || complain "musl has no $missing"

exit $failed
