/* SPDX-License-Identifier: Apache-2.0 */
/* What an input changes in a sound world: some of it before the first read, the rest once, while it is read. Who includes this has change(). */
#ifndef HOSTPROF_FUZZ_LATE_CHANGES_H
#define HOSTPROF_FUZZ_LATE_CHANGES_H

#include <stddef.h>
#include <stdint.h>

struct change {
	const uint8_t *data;
	size_t size;
};

static void change(struct change c);

/* What is changed when so many reads have been. */
static struct change later;
static unsigned int reads, later_at;

/* NOW bytes of DATA at once, the rest at read AT + 1. */
static inline void changes_split(const uint8_t *data, size_t size, size_t now, uint8_t at)
{
	change((struct change){ data, now });
	later = (struct change){ data + now, size - now };
	later_at = 1U + at;
	reads = 0;
}

/* Called in each read, of which there are fewer than MOST. */
static inline void changes_at_read(unsigned int most)
{
	if (++reads == later_at)
		change(later);
	assert_true(reads < most);
}

#endif
