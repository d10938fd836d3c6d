/* SPDX-License-Identifier: Apache-2.0 */
/* A library that loading.c opens and closes all the time, and that "fresh" copies are made of. */
#include "known.h"

__attribute__((visibility("default"))) uint64_t plugin_run(uint64_t rounds);

KNOWN static uint64_t plugin_burn(uint64_t rounds)
{
	known_spin(rounds);
	return known_sink;
}

KNOWN static uint64_t plugin_two(uint64_t rounds)
{
	return plugin_burn(rounds) + 1;
}

KNOWN uint64_t plugin_run(uint64_t rounds)
{
	return plugin_two(rounds) + 1;
}
