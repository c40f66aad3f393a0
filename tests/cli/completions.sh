#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs below a directory of its own, and looks whether the shells find there
# what completes zk-lockctl.
#
#   completions.sh BUILD BINDIR LIBDIR BASH_DIR ZSH_DIR FISH_DIR
set -euo pipefail
build=$1
result=0

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
meson install -C "$build" --no-rebuild --quiet --destdir "$dir" \
    --tags runtime,completions >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
bin=$dir$2 bash_dir=$dir$4 zsh_dir=$dir$5 fish_dir=$dir$6
export PATH=$bin:$PATH LD_LIBRARY_PATH=$dir$3
export HOME=$dir/home XDG_CONFIG_HOME=$dir/home XDG_DATA_HOME=$dir/home
mkdir "$dir/home"

expect() { # shell, what it says, what it should say
    [ "$2" = "$3" ] && return
    printf '%s says:\n%s\nnot:\n%s\n' "$1" "$2" "$3"
    exit 1
}

[ "$(command -v zk-lockctl)" = "$bin/zk-lockctl" ]

# shellcheck disable=SC2016
said=$(bash --norc -c '
    source "$1/zk-lockctl"
    COMP_WORDS=(zk-lockctl wat) COMP_CWORD=1
    [[ $(complete -p zk-lockctl) =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
    echo "${COMPREPLY[@]}"' bash "$bash_dir")
expect bash "$said" watch

if command -v zsh >/dev/null; then
    # shellcheck disable=SC2016
    said=$(zsh -f -c '
        fpath=("$1" $fpath)
        autoload -U compinit && compinit -u -D
        echo ${_comps[zk-lockctl]}
        whence -v _zk-lockctl | sed "s/.* //"' zsh "$zsh_dir")
    expect zsh "${said%%$'\n'*}" _zk-lockctl
else
    result=77
fi

if command -v fish >/dev/null; then
    said=$(fish --no-config -c "
        set fish_complete_path '$fish_dir'
        complete -C 'zk-lockctl wat'")
    expect fish "${said%%$'\t'*}" watch
else
    result=77
fi
exit $result
