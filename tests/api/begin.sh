# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# To be sourced: a directory that goes with the script, and complaints, which fail it
# when it ends with "exit $failed".

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

complain() {
    echo "$1"
    failed=1
}
