/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of programs that have none, with the server of the fixture. */
#include "fixture.h"

int main(void)
{
    return run_with_server(NULL, test_run_all);
}
