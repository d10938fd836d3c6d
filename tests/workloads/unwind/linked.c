/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: linked SECONDS
 * main -> linked_one -> plugin_run -> plugin_two -> plugin_burn, the library linked from the
 * directory of the program: the test copies both under new inodes.
 */
#include "known.h"

uint64_t plugin_run(uint64_t rounds);

KNOWN static uint64_t linked_one(void)
{
	known_spin(300000);
	return plugin_run(300000);
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	while (known_goes_on(end_ns))
		known_sink += linked_one();
	return known_done();
}
