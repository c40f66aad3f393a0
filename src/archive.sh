#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The static library, as one object: what its parts have for each other, and the
# ZooKeeper client among them, is no name that a program could meet.
#
#   archive.sh LIBRARY OBJCOPY AR ARCHIVE... -- COMPILER...
set -eu

library=$1 objcopy=$2 ar=$3
shift 3
archives=
while [ "$1" != -- ]; do
    archives="$archives $1"
    shift
done
shift
object=${library%.a}.o
# shellcheck disable=SC2086 # names without spaces
"$@" -r -nostdlib -o "$object" -Wl,--whole-archive $archives
"$objcopy" --wildcard --keep-global-symbol='zkr_[a-z]*' "$object"
rm -f "$library"
"$ar" rcs "$library" "$object"
