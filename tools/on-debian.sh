#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/test.sh, or another script, on another Debian, in a root of its own:
# compilers and client, too.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/debian.sh
. tools/packages.sh

usage() {
    cat <<'TEXT'
usage: tools/on-debian.sh 12 | 13 | sid [SCRIPT] [ARGUMENT]...

  tools/on-debian.sh 13                     tools/test.sh: all suites
  tools/on-debian.sh 13 --clang --suite unit
  tools/on-debian.sh 13 tools/cross.sh arm64
  tools/on-debian.sh 13 tools/release.sh    the tarball of "meson dist" instead
                                            of this tree, in a new root

Makes that Debian with debootstrap in ~/.cache/zkrecipes/ (XDG_CACHE_HOME), if
it is not there yet, copies this tree into it, and runs the tests there, with
mounts and processes of its own and the network of this machine. Run as root.
TEXT
}

die() {
    echo "on-debian.sh: $2" >&2
    exit "$1"
}

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
esac
suite=$(suite_of "${1-}")
[ -n "$suite" ] || { usage >&2; exit 64; }
[ "$(id -u)" -eq 0 ] || die 77 "run as root"
roots=${XDG_CACHE_HOME:-$HOME/.cache}/zkrecipes
root=$roots/debian-$1
shift
command=tools/test.sh
if [[ ${1-} == tools/* ]]; then
    command=$1
    shift
fi
case $command in
tools/release.sh)
    root=${root/debian/release}
    rm -rf "$root"
    ;;
tools/cross.sh) # libraries of another machine displace those of this one
    root=${root/debian/cross}
    ;;
esac

mkdir -p "$roots"
exec 9>"$root.lock"
flock 9
install_packages "$root.log" debootstrap
if [ ! -e "$root/complete" ]; then
    rm -rf "$root"
    uri=$(mirror)
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" \
        "$uri" >"$root.log" 2>&1 ||
        { tail "$root.log" >&2; die 69 "debootstrap failed; see $root.log"; }
    : >"$root/complete"
fi

mkdir -p "$root/src"
find "$root/src" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -r {} +
if [ "$command" != tools/release.sh ]; then
    git ls-files -z --cached --others --exclude-standard |
        tar -c --null --ignore-failed-read -T - | tar -x -C "$root/src"
else # it has what is committed
    [ -e build-dist ] || meson setup build-dist -Dtools=disabled >/dev/null
    meson dist -C build-dist --no-tests --allow-dirty >/dev/null
    tar -xf build-dist/meson-dist/*.tar.xz -C "$root/src" --strip-components 1
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/" # musl knows no localhost by itself

# Mounts and processes there end with this process. The root is a mount of its
# own: tests with mounts of their own begin with that of "/".
unset ZKR_SERVER_CLASS_PATH ZKR_CURATOR_CLASS_PATH PYTHONPATH
status=0
unshare --mount --pid --fork --kill-child bash -euc '
    mount --make-rprivate /
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount -t sysfs sysfs "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/run"
    mount -t tmpfs tmpfs "$1/tmp"
    exec chroot "$@"' bash "$root" "/src/$command" "$@" || status=$?
exit $status
