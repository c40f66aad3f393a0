# SPDX-License-Identifier: Apache-2.0
# To be sourced: the names of Debian releases, and the mirror from which this
# machine gets them.

suite_of() { # 12, 13 or sid; nothing for what else there is
    case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    sid) echo sid ;;
    esac
}

known_mirror() {
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' \
        'Created-By: Packages' | sed -n 's/^Debian|Debian|//p' | head -n 1
}

# The one of the machine's own sources.
mirror() {
    local uri
    uri=$(known_mirror)
    if [ -z "$uri" ]; then
        apt-get -qq update >&2 || true
        uri=$(known_mirror)
    fi
    [ -n "$uri" ] || die 69 "apt knows no mirror of Debian; try: apt-get update"
    echo "$uri"
}
