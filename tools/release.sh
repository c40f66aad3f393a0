#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Is this tree complete? On a bare Debian: what docs/install.md says, word by word,
# a program against what is then installed, and the tests that need no server.
# tools/on-debian.sh 12 tools/release.sh runs it on the tarball of a release.
set -euo pipefail
cd "$(dirname "$0")/.."

export DEBIAN_FRONTEND=noninteractive
echo 'APT::Get::Assume-Yes "true"; APT::Install-Recommends "false";' \
    >/etc/apt/apt.conf.d/release
apt-get update
bash -eux -c "$(awk '/^```/ { n++; next } n == 1' docs/install.md)"

# shellcheck disable=SC2046 # flags
cc examples/mutex.c -o /tmp/mutex $(pkg-config --cflags --libs zkrecipes)
! /tmp/mutex 127.0.0.1:1/nope/ 2>/tmp/error
grep '^open: ' /tmp/error
zk-lockctl --version

tools/test.sh --suite unit --suite api "$@"
