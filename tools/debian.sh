# SPDX-License-Identifier: Apache-2.0
# To be sourced: the names of Debian releases, the mirror from which this machine
# gets them, and packages of theirs that it does not have.

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

# With sources, lists and a status of its own: nothing of it is the machine's.
apt_in() { # directory, argument of apt-get...
    local home=$1
    shift
    apt-get -qq -o Dir::Etc::sourcelist="$home/sources" \
        -o Dir::Etc::sourceparts=- -o Dir::State::lists="$home/lists" \
        -o Dir::State::status=/dev/null -o Dir::Cache="$home/cache" \
        -o APT::Sandbox::User= "$@" >&2
}

use_suite() { # directory, deb or deb-src, suite
    local uri
    uri=$(mirror)
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
    echo "$2 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $3 main" \
        >"$1/sources"
    apt_in "$1" update
}
