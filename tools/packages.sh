# SPDX-License-Identifier: Apache-2.0
# To be sourced: installs packages of Debian. The script has die().

install_packages() { # log, package...: those of them that are missing
    local log=$1 missing=() p
    shift

    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
            grep -q 'ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] ||
        die 69 "run as root: apt-get install ${missing[*]}"
    echo "installing ${missing[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y \
        --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
        { cat "$log" >&2; die 69 "apt-get failed"; }
}
