/* SPDX-License-Identifier: Apache-2.0 */
/* What the pieces of C++ in the documents take for granted (snippets.py). */
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

#include <zkrecipes/zkrecipes.hpp>

using namespace std::chrono_literals;

/* The work of the reader's program. */
void write(std::int64_t token);
void on_term(zkr_leader *leader, const zkr_leader_event *event);
