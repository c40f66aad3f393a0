#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks, without building them, that each file that meson installs is in exactly one
# of the Debian packages, and that what they list is installed. packages.sh builds them.
#
#   packages_smoke.sh SOURCE_ROOT BUILD_ROOT
set -euf

root=$1
command -v jq >/dev/null || exit 77
. "$(dirname "$0")/begin.sh"

# As debian/rules leaves them, below the prefix of a package.
prefix=$(jq -r '.[] | select(.name == "prefix").value' "$2/meson-info/intro-buildoptions.json")
jq -r '.[]' "$2/meson-info/intro-installed.json" |
    sed "s|^$prefix/|usr/|
        /\/doc\/zkrecipes\/\(LICENSE\|CHANGELOG\.md\)$/d
        s|/doc/zkrecipes/|/doc/libzkrecipes-dev/|" >"$tmp/installed"
[ -s "$tmp/installed" ] || failed=1

cd "$root/debian"
set +f
cat -- *.install >"$tmp/patterns"
set -f
while read -r file; do
    packages=0
    while read -r pattern; do
        # shellcheck disable=SC2254 # a pattern
        case $file in
        $pattern | $pattern/*)
            packages=$((packages + 1))
            echo "$pattern" >>"$tmp/met"
            ;;
        esac
    done <"$tmp/patterns"
    [ "$packages" -eq 1 ] || complain "$file is in $packages packages"
done <"$tmp/installed"

if sort -u "$tmp/met" | grep -vxFf - "$tmp/patterns"; then
    complain '... is in a package, and not installed'
fi
exit "$failed"
