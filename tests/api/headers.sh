#!/bin/sh
# Checks that each public header compiles alone, as strict C11 or C++11, twice
# in a row too, and that each option struct can be initialized by its macro.
#
#   headers.sh DIR c|c++ STANDARD COMPILER...
set -eu

dir=$1
language=$2
standard=$3
shift 3

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# compile NAME FLAG...: the source on stdin
compile() {
    what=$1
    shift
    cat >"$tmp/source"
    if ! "$@" -x "$language" -std="$standard" -I"${dir%/*}" -Wall -Wextra \
        -fsyntax-only "$tmp/source" >"$tmp/messages" 2>&1; then
        echo "$what does not compile as $standard:"
        cat "$tmp/messages"
        failed=1
    fi
}

count=0
for header in "$dir"/*.h; do
    name=${header##*/}
    compile "$name" "$@" -Wpedantic -Wundef -Werror <<END
#include <zkrecipes/$name>
#include <zkrecipes/$name>
int alone;
END
    count=$((count + 1))
done
if [ "$count" -lt 9 ]; then
    echo "only $count headers found in $dir"
    failed=1
fi

# This is compiled without -Werror: the initializers are of C11 and C++20, which
# compilers accept in C++11 with a warning.
init='\(ZKR_[A-Z_]*_INIT\) *{ \.size = sizeof(struct \([a-z_]*\)).*'
sed -n "s/^#define $init/struct \\2 made_\\2 = \\1;/p" "$dir"/*.h >"$tmp/made"
if ! grep -q zkr_mutex_opts "$tmp/made"; then
    echo "no initializer of an option struct found"
    failed=1
fi
compile 'initialization of options' "$@" <<END
#include <zkrecipes/zkrecipes.h>
$(cat "$tmp/made")
struct zkr_retry n_times = ZKR_RETRY_N_TIMES_INIT(3, 50);
struct zkr_retry forever = ZKR_RETRY_FOREVER_INIT(50);
struct zkr_retry until = ZKR_RETRY_UNTIL_INIT(1000, 50);
struct zkr_retry exponential = ZKR_RETRY_EXPONENTIAL_INIT(20, 2000, 9);
struct zkr_retry none = ZKR_RETRY_NONE_INIT;
END

# A code is no state: gcc warns of the mistake, clang does so in C++ only.
if [ "$language" = c ] && ! "$@" --version | grep -q clang &&
    "$@" -x c -std="$standard" -I"${dir%/*}" -Wall -Wextra -Werror \
        -fsyntax-only - >/dev/null 2>&1 <<END
#include <zkrecipes/zkrecipes.h>
int is_held(zkr_grant *grant);
int is_held(zkr_grant *grant)
{
    return zkr_grant_check(grant) == ZKR_GRANT_HELD;
}
END
then
    echo 'a code is compared with a state without a warning'
    failed=1
fi

# A policy is assigned to existing options more often than it initializes new
# ones.
compile 'use of retry policies' "$@" -Wpedantic -Werror <<END
#include <zkrecipes/zkrecipes.h>
void set(struct zkr_session_opts *opts, unsigned ms);
void set(struct zkr_session_opts *opts, unsigned ms)
{
    struct zkr_retry policies[] = { ZKR_RETRY_NONE_INIT,
                                    ZKR_RETRY_N_TIMES_INIT(3, ms) };

    opts->retry = policies[1];
    opts->retry = ZKR_RETRY_N_TIMES_INIT(3, 50);
    opts->retry = ZKR_RETRY_FOREVER_INIT(10);
    opts->retry = ZKR_RETRY_UNTIL_INIT(1000, ms);
    opts->retry = ZKR_RETRY_EXPONENTIAL_INIT(20, 2000, 9);
    opts->retry = ZKR_RETRY_NONE_INIT;
}
END

exit $failed
