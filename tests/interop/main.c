/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of programs of pairs that have none. */
#include "pair.h"

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_pairs) : 77;
}
