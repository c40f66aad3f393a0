#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks who includes what: the client's header in the seam, nothing upwards,
# nothing private in tools and examples, and no word for two things.
#
#   includes.sh SOURCE_ROOT
set -eu

# The rooms, and the rooms whose headers each may include; "." is its own
# directory, without a name.
rooms='
src/base: base
src/protocol: base protocol
src/zk: base zk
src/session: base zk session
src/request: base zk session request
src/lock: base protocol zk session request lock
src/inspect: base protocol zk session request lock inspect
src/fence: base fence
recipes: base protocol session request lock inspect .
tools/zk-lockctl/common: common
tools/zk-lockctl/model: protocol common model
tools/zk-lockctl/text: protocol common model text
tools/zk-lockctl/run: protocol common model text run
tools/zk-lockctl/top: protocol common model text top
tools/zk-lockctl/verbs: protocol common model text run top verbs
tools/zk-lockctl: common text verbs
'

cd "$1"
failed=0
# `refuse` ends pipelines, in a process of its own: this file is its result.
refused=$(mktemp)
trap 'rm -f "$refused"' EXIT

# refuse WHY: with the findings on stdin
refuse() {
    if found=$(grep .); then
        printf '%s:\n%s\n' "$1" "$found" | tee -a "$refused"
    fi
}

# includes_of DIR...: "file:line:#include ..." of all C sources in it
includes_of() {
    for dir; do
        if [ -d "$dir" ]; then
            find "$dir" -name '*.[ch]' -type f -exec \
                grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null {} + || :
        fi
    done
}

# Directories that meson builds in, or tools/, and git's own, are no sources.
sources() {
    find . \( -type d \( -name .git -o -path './build-*' -o \
        -exec test -d '{}/meson-private' \; \) -prune \) -o -type f -print
}

if ! grep -q '<zookeeper/zookeeper.h>' src/zk/zk_mt.c; then
    echo 'src/zk/zk_mt.c does not include the header of the client'
    failed=1
fi
includes_of src recipes include | grep -E '[<"](zookeeper/|zookeeper\.)' |
    grep -vE '^(include/zkrecipes/zhandle\.h|src/zk/zk_(mt\.c|latch\.c|(init|move)\.[ch])):' |
    refuse 'the header of the client is for src/zk/zk_mt.c, zk_latch.c, zk_init.c, zk_move.c and zhandle.h only'

includes_of include | grep -v '^include/zkrecipes/zhandle\.h:' |
    grep -vE '<(zkrecipes/)?[a-z_]+\.h>' |
    refuse 'a public header includes what is neither public nor of C'

includes_of src recipes tools/zk-lockctl | grep '"' |
    awk -F '[:"]' -v rooms="$rooms" '
BEGIN {
    n = split(rooms, lines, "\n")
    for (i = 1; i <= n; i++) {
        colon = index(lines[i], ":")
        known[substr(lines[i], 1, colon - 1)] = substr(lines[i], colon + 1) " "
    }
}
{
    room = $1
    sub("/[^/]*$", "", room)
    from = $4
    if (!sub("/[^/]*$", "", from))
        from = "."
    if (!index(known[room], " " from " "))
        print
}' | refuse 'a room includes what it may not know'

# "x.h" in other tools and in examples: a file of the same directory, no other.
includes_of tools examples | grep -v '^tools/zk-lockctl/' | grep '"' |
    while IFS= read -r line; do
        file=${line%%:*}
        header=${line#*\"}
        header=${header%%\"*}
        case $header in
        */*) echo "$line" ;;
        *) [ -f "${file%/*}/$header" ] || echo "$line" ;;
        esac
    done | refuse 'tools and examples include public headers and their own only'

for build in tools/meson.build examples/meson.build; do
    if [ -f "$build" ]; then
        grep -nE 'zkr_private_inc|zkr_core' "$build" /dev/null || :
    fi
done | refuse 'tools and examples are built like a user would'

# One word has one meaning, in the library and the tool together: as a tag, and as
# the name of a file. The files of verbs/ have the names of the verbs.
tags_of() {
    grep -rhoE --include='*.[ch]' '(struct|enum|union) [a-z_0-9]+ \{' "$@" |
        awk '{ print $2 }' | LC_ALL=C sort
}
names_of() {
    find "$@" -name '*.[ch]' | sed 's|.*/||' | LC_ALL=C sort -u
}
both() {
    LC_ALL=C sort "$1" "$2" | uniq -d
}
words=$(mktemp -d)
tags_of src recipes include >"$words/tags"
tags_of tools/zk-lockctl | uniq >"$words/tool_tags"
names_of src recipes >"$words/names"
names_of $(find tools/zk-lockctl -mindepth 1 -type d ! -name verbs) >"$words/tool_names"
uniq -d "$words/tags" | refuse 'a tag stands twice in the library'
uniq "$words/tags" | both - "$words/tool_tags" |
    refuse 'a tag stands in the library and the tool'
both "$words/names" "$words/tool_names" |
    refuse 'a file of the library and one of the tool have one name'
rm -r "$words"

# Material that is not part of the project. The brackets keep this file out.
sources | tr '\n' '\0' | xargs -0 grep -nE '(/work|\.\.)/[s]hared' /dev/null |
    refuse 'a file mentions what is not part of the project'

[ $failed -eq 0 ] && [ ! -s "$refused" ]
