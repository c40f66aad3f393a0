#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the library can be a subproject, as docs/install.md says, on a
# machine with no more than what the library needs: shared or static.
#
#   subproject.sh SOURCE_ROOT shared|static [plan]
#
# With "plan" nothing is built: it is configured, and what it would link and install
# is read from that.
set -eu

root=$1
kind=$2
plan=${3-}
. "$(dirname "$0")/begin.sh"

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

configure() { # LINE: the line is that of docs/install.md
    printf "project('parent', 'c')\nexecutable('main', 'main.c',\n  %s)\n" \
        "dependencies: $1, install: true" >"$tmp/meson.build"
    PKG_CONFIG_LIBDIR=$tmp/packages meson setup "$build" "$tmp" \
        --buildtype=plain --prefix=/usr
}

# What `main` needs, and what is installed.
plan() {
    ninja -C "$build" -t commands main | tail -n 1 | grep -o 'libzkrecipes[^ ]*' >"$tmp/needed"
    jq -r '.[]' "$build/meson-info/intro-installed.json" >"$tmp/installed"
}

build() {
    ninja -C "$build" && DESTDIR=$tmp/root meson install -C "$build" &&
        "$build/main" && ldd "$build/main" >"$tmp/needed" &&
        find "$tmp/root" -type f >"$tmp/installed"
}

build=$tmp/build
case $kind in
shared) line="dependency('zkrecipes', fallback: 'zkrecipes')" ;;
static) line="dependency('zkrecipes', fallback: 'zkrecipes', static: true)" ;;
esac
if ! { configure "$line" && "${plan:-build}"; } >"$tmp/log" 2>&1; then
    cat "$tmp/log"
    complain "$kind: it is not built, or does not run"
    exit 1
fi
[ -s "$tmp/installed" ] || complain 'nothing is installed'
others=$(grep -v '\.h$\|\.hpp$\|/main$\|/libzkrecipes\.[^/]*$\|/zkrecipes\.pc$' "$tmp/installed" || :)
[ -z "$others" ] || complain "it installs $others"
case $kind in
shared) grep -q 'libzkrecipes\.so' "$tmp/needed" || complain 'the library is not shared' ;;
static) ! grep 'libzkrecipes\.so' "$tmp/needed" || complain 'the library is not static' ;;
esac

exit $failed
