#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ZooKeeper, Curator and kazoo of another Debian, unpacked and not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/debian.sh

readonly PACKAGES=(libzookeeper-java zookeeper libcurator-client-java
    libcurator-framework-java libcurator-recipes-java python3-kazoo)

usage() {
    cat <<'TEXT'
usage: tools/versions.sh [--fresh] servers | peers  12 | 13 | sid

Prints what makes the tests use the servers of that Debian, or its Curator and
kazoo:

  eval "$(tools/versions.sh servers 13)"

  servers  ZKR_SERVER_CLASS_PATH
  peers    ZKR_CURATOR_CLASS_PATH, and PYTHONPATH for kazoo

The packages come from the mirror of this machine's own Debian, once; --fresh
fetches them again. They are unpacked in build-versions/. Their dependencies
are those of this machine.
TEXT
}

die() {
    echo "versions.sh: $2" >&2
    exit "$1"
}

fresh=false
if [ "${1-}" = --fresh ]; then
    fresh=true
    shift
fi
case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
esac
kind=${1-}
suite=$(suite_of "${2-}")
[[ $kind =~ ^(servers|peers)$ && -n $suite && $# -eq 2 ]] ||
    { usage >&2; exit 64; }
home=$PWD/build-versions/$2
root=$home/root
jars=$root/usr/share/java

fetch() {
    local deb
    rm -rf "$home"
    mkdir -p "$home/debs"
    use_suite "$home" deb "$suite" || die 69 "no list of the packages of $suite"
    (cd "$home/debs" && apt_in "$home" download "${PACKAGES[@]}") ||
        die 69 "cannot fetch the packages of $suite"
    for deb in "$home"/debs/*.deb; do
        dpkg -x "$deb" "$root"
    done
    rm -rf "$home/lists" "$home/cache"
    : >"$home/complete"
}

# The manifest of each jar names the installed ones, by absolute paths that are
# searched right behind it. So a jar comes behind those that it names.
class_path() {
    local jar path=
    for jar in zookeeper-jute zookeeper "$@"; do
        path+=$jars/$jar.jar:
    done
    echo "$path"
}

mkdir -p build-versions
exec 9>"$home.lock"
flock 9
$fresh || [ -e "$home/complete" ] || fresh=true
! $fresh || fetch

slf4j=/usr/share/java/slf4j
case $kind in
servers)
    conf=$root/etc/zookeeper/conf_example
    echo "export ZKR_SERVER_CLASS_PATH='$(class_path)$conf:$slf4j-simple.jar'"
    ;;
peers)
    curator=(curator-client curator-framework curator-recipes)
    path=$(class_path "${curator[@]}")$slf4j-nop.jar
    echo "export ZKR_CURATOR_CLASS_PATH='$path'"
    echo "export PYTHONPATH='$root/usr/lib/python3/dist-packages'"
    ;;
esac
