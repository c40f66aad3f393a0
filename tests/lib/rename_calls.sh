#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All of the archives as one object that calls other functions. A function without
# a new name is that of the program, if it has one:
# rename_calls.sh OBJECT ARCHIVE... OLD=NEW... NAME=...
set -eu

object=$1 archives= names=
shift
for word; do
    case $word in
    *=) names="$names --weaken-symbol=${word%=}" ;;
    *=*) names="$names --redefine-sym=$word" ;;
    *) archives="$archives $word" ;;
    esac
done
# shellcheck disable=SC2086 # names without spaces
ld -r --whole-archive $archives -o "$object"
# shellcheck disable=SC2086
objcopy $names "$object"
