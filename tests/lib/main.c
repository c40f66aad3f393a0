/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of programs that have none. */
#include "test.h"

int main(void)
{
    return test_run_all();
}
