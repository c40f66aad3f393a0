#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Is this tree complete? On a bare Debian, in this order:
#
# - what docs/install.md says, word by word, and a program against what is then
#   installed;
# - the Debian packages with the client of tools/build-client.sh inside: lintian, a
#   program, a session of zk-lockctl over TLS; then they are installed, and
#   debian/tests run;
# - the tests that need no server: unit and api.
#
# Not here: the tests with servers, and those of other ways to link (tools/test.sh),
# other machines (tools/cross.sh), the packages with Debian's client (suite linking).
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

ninja -C build uninstall
ldconfig
apt-get install lintian openssl
tools/build-client.sh "$PWD/build-client"
apt-get build-dep ./
# shellcheck disable=SC2046 # names
apt-get install $(sed -n 's/^Depends: @//p' debian/tests/control | tr , ' ')
tests/api/packages.sh "$PWD" "$PWD/build-client"
apt-get install ./build-packages/*.deb
for name in $(sed -n 's/^Tests: //p' debian/tests/control); do
    "debian/tests/$name"
done

tools/test.sh --suite unit --suite api "$@"
