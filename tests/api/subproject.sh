#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the library can be a subproject, as docs/install.md says, on a
# machine with no more than what the library needs: shared or static.
#
#   subproject.sh SOURCE_ROOT shared|static
set -eu

root=$1
kind=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

complain() {
    echo "$1"
    failed=1
}

mkdir -p "$tmp/subprojects" "$tmp/packages"
ln -s "$root" "$tmp/subprojects/zkrecipes"
jansson=$(pkg-config --variable=pcfiledir jansson)
cp "$jansson/jansson.pc" "$tmp/packages"
cat >"$tmp/main.c" <<'END'
#include <stdio.h>
#include <zkrecipes/zkrecipes.h>

int main(void)
{
    zkr_session *s = NULL;

    if (zkr_session_open(":1", NULL, &s) != ZKR_EINVAL)
        return 1;
    (void)puts(zkr_version());
    return 0;
}
END

# try KIND LINE: the line is that of docs/install.md
try() {
    build=$tmp/build-$1
    printf "project('parent', 'c')\nexecutable('main', 'main.c',\n  %s)\n" \
        "dependencies: $2, install: true" >"$tmp/meson.build"
    if ! (PKG_CONFIG_LIBDIR=$tmp/packages meson setup "$build" "$tmp" \
        --buildtype=plain --prefix=/usr && ninja -C "$build" &&
        DESTDIR=$tmp/installed-$1 meson install -C "$build") \
        >"$tmp/log" 2>&1; then
        cat "$tmp/log"
        complain "$1: it is not built"
        return
    fi
    "$build/main" >/dev/null || complain "$1: the program does not run"
    others=$(find "$tmp/installed-$1" -type f \
        ! -name '*.h' ! -name '*.hpp' ! -name main ! -name 'libzkrecipes.*' \
        ! -name zkrecipes.pc)
    [ -z "$others" ] || complain "$1: it installs $others"
}

case $kind in
shared)
    try shared "dependency('zkrecipes', fallback: 'zkrecipes')"
    ldd "$tmp/build-shared/main" | grep -q libzkrecipes ||
        complain 'shared: the library is not'
    ;;
static)
    try static "dependency('zkrecipes', fallback: 'zkrecipes', static: true)"
    if ldd "$tmp/build-static/main" | grep libzkrecipes; then
        complain 'static: the library is not'
    fi
    ;;
esac

exit $failed
