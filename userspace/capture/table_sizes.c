// SPDX-License-Identifier: Apache-2.0
#include "capture/table_sizes.h"

#include "base/macros.h"
#include "wire.h"

/*
 * For TABLE_SIZES_DEFAULT_BYTES: 8 MiB of rows, which is some 2 million (a page of libjvm has 30),
 * 2 MiB of ranges (a process has 20 to 200, lists are shared after a fork), twice as many pages as
 * blocks, since equal pages of two files share blocks; 3 MiB and 2 MiB of hash maps.
 */
static const struct table_sizes usual = {
	.blocks = 16384, .rules = 32768, .ranges = 65536, .pages = 32768, .spaces = 16384
};

/* A row's rule is 16 bits wide. */
#define MAX_RULES 65536

static uint32_t scale(uint32_t entries, uint64_t table_bytes, uint32_t least, uint32_t most)
{
	uint64_t scaled =
		(uint64_t)entries * (table_bytes >> 10) / (TABLE_SIZES_DEFAULT_BYTES >> 10);

	return (uint32_t)MAX(least, MIN(scaled, most));
}

/* Real programs have some thousand return addresses on their Java stacks. */
static uint32_t choose_hot_codes(uint64_t bytes, uint32_t cpus)
{
	uint32_t entries = WIRE_MAX_HOT_CODES;

	while (entries > WIRE_HOT_CODES &&
	       (uint64_t)entries * cpus * sizeof(struct wire_hot_code) > bytes)
		entries /= 2;
	return entries;
}

void table_sizes_choose(uint64_t table_bytes, uint32_t cpus, struct table_sizes *ret_sizes)
{
	/* 4 GiB are as many blocks as an index can count, by far. */
	uint64_t bytes = MIN(table_bytes ? table_bytes : TABLE_SIZES_DEFAULT_BYTES, 1ULL << 32);

	*ret_sizes = (struct table_sizes){
		.blocks = scale(usual.blocks, bytes, 512, 1U << 22),
		.rules = scale(usual.rules, bytes, 2048, MAX_RULES),
		.ranges = scale(usual.ranges, bytes, 4096, 1U << 22),
		.pages = scale(usual.pages, bytes, 1024, 1U << 22),
		.spaces = scale(usual.spaces, bytes, 256, 1U << 22),
		.hot_codes = choose_hot_codes(bytes / 4, cpus),
	};
}
