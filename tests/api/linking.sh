#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks each way to link with the installed library that docs/install.md names,
# in C and in C++, outside of the tree.
#
#   linking.sh SOURCE_ROOT [MESON_OPTION...]
#
# With a client of its own below -Dzookeeper_prefix, TLS works in each of them,
# and in the installed tool.
set -eu

root=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix
failed=0

complain() {
    echo "$1"
    failed=1
}

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
    step "$1" env LD_LIBRARY_PATH="$prefix/lib" "$2" $pem || :
}

pem=
tools=disabled
case "$*" in
*-Dzookeeper_prefix=*)
    pem=$tmp/key.pem
    tools=enabled
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test \
        -keyout "$pem" -out "$tmp/cert.pem" 2>"$tmp/log"
    cat "$tmp/cert.pem" >>"$pem"
    ;;
esac

cat >"$tmp/main.c" <<'END'
#include <stdio.h>
#include <zkrecipes/zkrecipes.h>

/* The client makes a handle with TLS: a program that has found another client
 * ends here. */
static int uses_tls(char *pem)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *s = NULL;

    opts.tls_ca = pem;
    opts.tls_cert = pem;
    opts.tls_key = pem;
    opts.flags = ZKR_SESSION_ONE_ROUND;
    if (zkr_session_open("127.0.0.1:1", &opts, &s) == ZKR_EREFUSED)
        return 0;
    (void)puts(zkr_error_detail());
    return 1;
}

int main(int argc, char **argv)
{
    zkr_session *s = NULL;

    if (zkr_session_open("[::1]", NULL, &s) != ZKR_EINVAL)
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
        zkr::session session("[::1]");
    } catch (const zkr::error &e) {
        std::puts(e.what());
        return e.code().value() == ZKR_EINVAL ? 0 : 1;
    }
    return 1;
}
END

step install meson setup "$tmp/build" "$root" --prefix="$prefix" --libdir=lib --buildtype=plain \
    -Dtools=$tools -Dexamples=disabled -Ddocs=disabled "$@"
step install meson install -C "$tmp/build"
[ -e "$prefix/share/doc/zkrecipes/LICENSE" ] || complain 'no LICENSE'

if [ -n "$pem" ]; then
    code=0
    LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/zk-lockctl" --servers 127.0.0.1:1 --tls-ca "$pem" \
        --tls-cert "$pem" --tls-key "$pem" ls >"$tmp/log" 2>&1 || code=$?
    grep -q 'refused the connection' "$tmp/log" ||
        { cat "$tmp/log"; complain "the installed tool has ended with $code"; }
fi

export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
cd "$tmp"
if ! grep -qi '^Name: *zkrecipes' "$prefix/lib/pkgconfig/zkrecipes.pc" ||
    grep -qi '^URL:.*apache' "$prefix/lib/pkgconfig/zkrecipes.pc"; then
    complain 'zkrecipes.pc names another project'
fi

# shellcheck disable=SC2046 # flags
if step pkg-config cc main.c -o pc $(pkg-config --cflags --libs zkrecipes); then
    runs pkg-config ./pc
fi
# shellcheck disable=SC2046
if step 'pkg-config, C++' c++ -std=c++17 main.cpp -o pcxx \
    $(pkg-config --cflags --libs zkrecipes); then
    runs 'pkg-config, C++' ./pcxx
fi
if step 'plain cc' cc main.c -o plain -I"$prefix/include" -L"$prefix/lib" \
    -lzkrecipes -Wl,-rpath,"$prefix/lib"; then
    runs 'plain cc' ./plain
fi
# shellcheck disable=SC2046
if step 'plain cc, static' cc main.c -o static -I"$prefix/include" \
    "$prefix/lib/libzkrecipes.a" \
    $(pkg-config --static --libs zkrecipes |
        sed 's/-lzkrecipes//g') -pthread; then
    runs 'plain cc, static' ./static
fi

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
