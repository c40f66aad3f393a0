#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that programs can use the public headers, as C11, and as C++11 and
# later, without a warning: each header alone and twice in a row (by GCC), all of
# them, and inside extern "C"; each option struct with its initializer; each retry
# policy.
#
#   headers.sh DIR c|c++ COMPILER
set -eu

dir=$1
language=$2
compiler=$3

. "$(dirname "$0")/begin.sh"

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Wcast-qual'
if [ "$language" = c ]; then
    standards=c11
    warnings="$warnings -Wstrict-prototypes -Wmissing-prototypes"
else
    standards='c++11 c++20' # the first and the last
    warnings="$warnings -Wold-style-cast"
fi

# compiles WHAT: the source on stdin, which becomes a program
compiles() {
    # shellcheck disable=SC2086 # the warnings are several words
    if ! "$compiler" -x "$language" -std="$standard" -I"${dir%/*}" $warnings \
        -Werror -o "$tmp/program" - >"$tmp/messages" 2>&1; then
        echo "$1 does not compile as $standard:"
        cat "$tmp/messages"
        failed=1
        return 1
    fi
}

includes_of() {
    for header in "$dir"/*.h; do
        echo "#include <zkrecipes/${header##*/}>"
    done
}

# By GCC: what a header lacks is the same for all compilers, and clang takes five
# times as long to start. All are in one call.
each_header_alone() {
    case $compiler in
    clang*) return ;;
    esac
    for header in "$dir"/*.h; do
        name=${header##*/}
        printf '#include <zkrecipes/%s>\n' "$name" "$name" >"$tmp/$name.source"
        echo 'extern int anything;' >>"$tmp/$name.source"
    done
    # shellcheck disable=SC2086 # the warnings are several words
    "$compiler" -x "$language" -std="$standard" -I"${dir%/*}" $warnings \
        -Werror -fsyntax-only "$tmp"/*.source ||
        complain "a header alone does not compile as $standard"
}

# Lines of a program, one for each option struct that a header declares.
for_each_opts() {
    sed -n 's/^struct \(zkr_\([a-z_]*\)_opts\) {.*/\1 \2/p' "$dir"/*.h |
        while read -r type name; do
            init=ZKR_$(echo "$name" | tr '[:lower:]' '[:upper:]')_OPTS_INIT
            echo "$1" | sed "s/TYPE/$type/g; s/INIT/$init/g"
        done
}

# Initializes each option struct, in static storage and on the stack, and
# compares it with what it must be: its size, and zero. A policy is assigned to
# existing options more often than it initializes new ones. In C++ the tag of an
# enum or a struct is a type by itself, unless a function has the same name.
uses() {
    compiles 'a use of the headers' <<END || return 0
$(includes_of)
#include <string.h>

#ifdef __cplusplus
$(sed -n 's/^\(enum\|struct\) \(zkr_[a-z_]*\) {.*/extern \2 *of_\2;/p' \
        "$dir"/*.h)
#endif
$(for_each_opts 'static struct TYPE static_TYPE = INIT;')

static int is_default(const void *opts, size_t size)
{
    static const unsigned char zero[4096] = { 0 };
    unsigned char bytes[4096];

    memcpy(bytes, opts, size);
    return memcmp(bytes, &size, sizeof(size)) == 0 &&
           memcmp(bytes + sizeof(size), zero, size - sizeof(size)) == 0;
}

static void set(struct zkr_session_opts *opts, unsigned ms)
{
    struct zkr_retry policies[] = { ZKR_RETRY_NONE_INIT, ZKR_RETRY_N_TIMES_INIT(3, ms) };

    opts->retry = policies[1];
    opts->retry = ZKR_RETRY_N_TIMES_INIT(3, 50);
    opts->retry = ZKR_RETRY_FOREVER_INIT(10);
    opts->retry = ZKR_RETRY_UNTIL_INIT(1000, ms);
    opts->retry = ZKR_RETRY_EXPONENTIAL_INIT(20, 2000, 9);
    opts->retry = ZKR_RETRY_NONE_INIT;
}

int main(void)
{
    struct zkr_session_opts session = ZKR_SESSION_OPTS_INIT;
    struct zkr_lockable_opts flags = ZKR_LOCKABLE_OPTS_INIT;
    int count = 0;
$(for_each_opts '
    {
        struct TYPE opts = INIT;

        count += is_default(&opts, sizeof(opts));
        count += is_default(&static_TYPE, sizeof(static_TYPE));
    }')

    set(&session, 50);
    flags.flags = ZKR_FAIL_ON_SESSION_LOSS | ZKR_KAZOO_LAYOUT;
    flags.flags |= ZKR_PERSISTENT_PARENTS;
    if (flags.flags != (ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS |
                        ZKR_KAZOO_LAYOUT))
        return 2; /* flags are not combined */
    return count == 2 * $(for_each_opts TYPE | wc -l) && count > 8 ? 0 : 1;
}
END
    "$tmp/program" ||
        complain "$?: an initializer makes other than defaults as $standard"
}

# Each function that returns an error is marked, unless error.h says why not.
results_are_looked_at() {
    if cat "$dir"/*.h | tr '\n' ' ' | grep -o 'ZKR_API [^;(]*(' |
        grep 'ZKR_API *int ' |
        grep -vE 'release|_leave|_close|_cancel|_give_back|_grant_listen|_dispatch|_txn_failed'; then
        complain '... is no ZKR_CALL'
    fi
    (compiles 'an acquire without a look') <<END >"$tmp/refused" || true
#include <zkrecipes/zkrecipes.h>
int main(void)
{
    zkr_grant *grant;

    zkr_mutex_acquire(0, 0, &grant);
    zkr_grant_release(grant);
    return 0;
}
END
    if [ "$(grep -c 'error:.*unused-result' "$tmp/refused")" != 1 ]; then
        complain "an acquire without a look at its result is no warning"
    fi
}

# C++ programs wrap what they take for headers of C.
inside_extern_c() {
    compiles 'extern "C" around the headers' <<END || true
extern "C" {
#include <zkrecipes/zkrecipes.h>
}
int main() { return 0; }
END
}

wrong_flags() {
    (compiles 'a flag of another function') <<END >"$tmp/refused" || true
#include <zkrecipes/zkrecipes.h>
int main(void)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;

    opts.flags = ZKR_SESSION_OWN_LOOP;
    return opts.flags == 0;
}
END
    grep -q 'error:.*zkr_session_flags' "$tmp/refused" ||
        complain "a flag of another function is taken as $standard"
}

for standard in $standards; do
    each_header_alone
    uses
    results_are_looked_at
    wrong_flags
    [ "$language" = c ] || inside_extern_c
done

exit $failed
