#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what the build asks of the C library: it refuses a glibc that is too old,
# in words. With musl it is built by tools/cross.sh.
#
#   libc.sh SOURCE_ROOT
set -eu

root=$1
. "$(dirname "$0")/begin.sh"

# The headers say another version.
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

exit $failed
