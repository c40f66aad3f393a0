#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks each way to link with the installed library that docs/install.md names,
# in C and in C++, outside of the tree.
#
#   linking.sh SOURCE_ROOT [MESON_OPTION...]
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
    step "$1" env LD_LIBRARY_PATH="$prefix/lib" "$2" || :
}

cat >"$tmp/main.c" <<'END'
#include <stdio.h>
#include <zkrecipes/zkrecipes.h>

int main(void)
{
    zkr_session *s = NULL;

    if (zkr_session_open("[::1]", NULL, &s) != ZKR_EINVAL)
        return 1;
    (void)puts(zkr_version());
    return 0;
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

step install meson setup "$tmp/build" "$root" --prefix="$prefix" --libdir=lib \
    -Dtools=disabled -Dexamples=disabled -Ddocs=disabled "$@"
step install meson install -C "$tmp/build"
[ -e "$prefix/share/doc/zkrecipes/LICENSE" ] || complain 'no LICENSE'

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
    step 'plain cc' ./plain || :
fi
# shellcheck disable=SC2046
if step 'plain cc, static' cc main.c -o static -I"$prefix/include" \
    "$prefix/lib/libzkrecipes.a" \
    $(pkg-config --static --libs-only-l --libs-only-L zkrecipes |
        sed 's/-lzkrecipes//g') -pthread; then
    step 'plain cc, static' ./static || :
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
        step "CMake, $program" "./cmake/$program" || :
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
