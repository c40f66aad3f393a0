#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks each way to link with the installed library that docs/install.md names,
# in C and in C++, outside of the tree.
#
#   linking.sh SOURCE_ROOT [ZOOKEEPER_PREFIX]
#
# With that client inside, each program makes a session over TLS when nothing is
# left of the client's own directory, and so does the installed tool, and a program
# that uses Debian's client as well.
set -eu

root=$1
client=${2-}
. "$(dirname "$0")/begin.sh"
. "$root/tests/lib/tls_server.sh"
trap 'stop_server; rm -rf "$tmp"' EXIT
prefix=$tmp/prefix

# step WHAT COMMAND...: its output is shown only when it fails
step() {
    what=$1
    shift
    if ! "$@" >"$tmp/log" 2>&1; then
        cat "$tmp/log"
        complain "$what: '$1' failed"
        return 1
    fi
}

# The program runs without a server.
runs() {
    # shellcheck disable=SC2086 # one name or none
    step "$1" env LD_LIBRARY_PATH="$prefix/lib" "$2" $hosts || :
}

# builds WHAT COMPILER...: a program, which runs
builds() {
    if step "$@" -o program; then
        runs "$1" ./program
    fi
}

hosts=
options=-Dtools=disabled
if [ -n "$client" ]; then
    start_server
    cp -R "$client" "$tmp/client"
    options=-Dzookeeper_prefix=$tmp/client
fi

cat >"$tmp/main.c" <<'END'
#include <stdio.h>
#include <zkrecipes/zkrecipes.h>

#ifdef BOTH
#include <zookeeper/zookeeper.h>

static int uses_another(const char *hosts)
{
    zhandle_t *zh = zookeeper_init(hosts, NULL, 10000, NULL, NULL, 0);

    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        continue;
    return zookeeper_close(zh);
}
#else
#define uses_another(hosts) 0
#endif

static int uses_tls(const char *hosts)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *s = NULL;

    opts.tls_ca = "keys/ca.pem";
    opts.tls_cert = "keys/client.pem";
    opts.tls_key = "keys/client.key";
    if (zkr_session_open(hosts, &opts, &s) == ZKR_OK && uses_another(hosts) == 0)
        return zkr_session_close(s);
    (void)puts(zkr_error_detail());
    return 1;
}

int main(int argc, char **argv)
{
    zkr_session *s = NULL;

    if (zkr_session_open(":1", NULL, &s) != ZKR_EINVAL)
        return 1;
    (void)puts(zkr_version());
    return argc > 1 ? uses_tls(argv[1]) : 0;
}
END
cat >"$tmp/main.cpp" <<'END'
#include <cstdio>
#include <zkrecipes/zkrecipes.hpp>

int main()
{
    try {
        zkr::session session(":1");
    } catch (const zkr::error &e) {
        std::puts(e.what());
        return e.code().value() == ZKR_EINVAL ? 0 : 1;
    }
    return 1;
}
END

step install meson setup "$tmp/build" "$root" --prefix="$prefix" --libdir=lib --buildtype=plain \
    -Dexamples=disabled -Ddocs=disabled "$options"
step install meson install -C "$tmp/build"
[ -e "$prefix/share/doc/zkrecipes/LICENSE" ] || complain 'no LICENSE'
grep -q '^zkr_txn_opts.guard [48] ' "$prefix/share/zkrecipes/layout.txt" ||
    complain 'no listing for bindings'

rm -rf "$tmp/client"
cd "$tmp"

# What others have installed is none of ours, and no package is needed.
export PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig"
if nm -D --defined-only "$prefix/lib/libzkrecipes.so" |
    grep -v ' zkr_[a-z_0-9]*@\| ZKRECIPES_'; then
    complain '... of the shared library could meet other names'
fi
if nm --extern-only --defined-only "$prefix/lib/libzkrecipes.a" | grep ' [^ ]*$' |
    grep -v ' zkr_[a-z][a-z_0-9]*$\|\.o:$'; then
    complain '... of the static library could meet other names'
fi
if readelf -d "$prefix/lib/libzkrecipes.so" | grep -i 'runpath\|rpath'; then
    complain '... is where the shared library looks for others'
fi
if [ -n "$client" ]; then
    step 'the installed tool' uses_tls env LD_LIBRARY_PATH="$prefix/lib" \
        "$prefix/bin/zk-lockctl" || :
fi

if ! grep -qi '^Name: *zkrecipes' "$prefix/lib/pkgconfig/zkrecipes.pc" ||
    grep -qi '^URL:.*apache' "$prefix/lib/pkgconfig/zkrecipes.pc"; then
    complain 'zkrecipes.pc names another project'
fi

# Flags are several words.
# shellcheck disable=SC2046,SC2086
{
    flags="-I$prefix/include -L$prefix/lib"
    static="$prefix/lib/libzkrecipes.a $(pkg-config --static --libs zkrecipes |
        sed 's/-lzkrecipes//g')"
    builds pkg-config cc main.c $(pkg-config --cflags --libs zkrecipes)
    builds 'pkg-config, C++' c++ -std=c++17 main.cpp \
        $(pkg-config --cflags --libs zkrecipes)
    builds 'plain cc' cc main.c $flags -lzkrecipes -Wl,-rpath,"$prefix/lib"
    builds 'plain cc, static' cc main.c $flags $static -pthread
    if [ -n "$client" ]; then
        builds 'beside another client' cc -DBOTH main.c $flags -lzkrecipes -lzookeeper_mt
        builds 'behind another client' cc -DBOTH main.c $flags -lzookeeper_mt -lzkrecipes
        builds 'static, beside another client' cc -DBOTH main.c $flags $static -lzookeeper_mt
        builds 'both static' cc -DBOTH main.c $flags $static \
            "$(cc -print-file-name=libzookeeper_mt.a)"
    fi
}

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(orders C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(zkrecipes 0.1 CONFIG REQUIRED)
foreach(target zkrecipes static)
  add_executable(c-${target} main.c)
  target_link_libraries(c-${target} PRIVATE zkrecipes::${target})
  add_executable(cxx-${target} main.cpp)
  target_link_libraries(cxx-${target} PRIVATE zkrecipes::${target})
endforeach()
END
if step CMake cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" &&
    step CMake cmake --build cmake; then
    for program in c-zkrecipes c-static cxx-zkrecipes cxx-static; do
        runs "CMake, $program" "./cmake/$program"
    done
    ldd cmake/c-zkrecipes | grep -q "$prefix/lib/libzkrecipes.so" ||
        complain 'CMake: zkrecipes::zkrecipes is not the shared library'
    ! ldd cmake/c-static | grep -q libzkrecipes ||
        complain 'CMake: zkrecipes::static is not static'
fi
sed 's/zkrecipes 0.1/zkrecipes 0.2/' CMakeLists.txt >CMakeLists.later
mkdir later
mv CMakeLists.later later/CMakeLists.txt
if cmake -S later -B later/build -DCMAKE_PREFIX_PATH="$prefix" \
    >/dev/null 2>&1; then
    complain 'CMake: it takes version 0.1 for 0.2'
fi

exit "$failed"
