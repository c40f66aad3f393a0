# SPDX-License-Identifier: Apache-2.0
# To be sourced: installs packages of Debian. The script has die().

missing_packages() { # package...: prints those of them that are missing
    local p

    for p in "$@"; do # one whose triggers are pending is there
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
            grep -Eq 'ok (installed|triggers)' || echo "$p"
    done
}

# Another script may be installing, too.
install_packages() { # log, package...: those of them that are missing
    local log=$1 missing
    shift

    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    [ "$(id -u)" -eq 0 ] || die 69 "run as root: apt-get install ${missing//$'\n'/ }"
    {
        flock 9
        missing=$(missing_packages "$@")
        [ -n "$missing" ] || return 0
        echo "installing ${missing//$'\n'/ }"
        # shellcheck disable=SC2086
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends $missing; } >"$log" 2>&1 9<&- ||
            { cat "$log" >&2; die 69 "apt-get failed"; }
    } 9<tools/packages.sh
}
