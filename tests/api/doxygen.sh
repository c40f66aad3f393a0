#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that doxygen reads the headers without a warning.
#
#   doxygen.sh SOURCE_ROOT
set -eu

command -v doxygen >/dev/null || exit 77
. "$(dirname "$0")/begin.sh"
cd "$1"
{ cat docs/Doxyfile && echo "OUTPUT_DIRECTORY = $tmp"; } | doxygen -
ls "$tmp"/html/mutex_8h.html "$tmp"/html/structzkr__lockable__opts.html
