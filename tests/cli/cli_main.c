/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of programs that have none: with a server. */
#include "cli.h"

int main(void)
{
    return cli_run(NULL);
}
