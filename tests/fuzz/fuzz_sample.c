// SPDX-License-Identifier: Apache-2.0
/* One record of a ring, sample or miss: what passes its check can be read to its end. */
#include <stdlib.h>
#include <string.h>

#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_sample(const struct wire_sample *sample)
{
	uint64_t sum = 0;

	size_t words = (size_t)sample->kernel_frames + sample->user_words;

	for (size_t i = 0; i < words; i++)
		sum += sample->words[i];
	for (size_t i = 0; i < sample->name_bytes; i++)
		sum += ((const uint8_t *)(sample->words + words))[i];
	return sum;
}

static uint64_t read_miss(const struct wire_miss *miss)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)miss->copy_bytes + miss->heap_bytes + miss->beyond_bytes;
	     i++)
		sum += miss->copy[i];
	if (miss->copy_at + miss->copy_bytes < miss->copy_at)
		abort();
	for (size_t i = 0; i < miss->code_bytes; i++)
		sum += miss->code[i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *record = malloc(size ? size : 1); /* aligned, and no byte longer */
	uint64_t sum = 0;

	if (!record)
		return 0;
	memcpy(record, data, size);
	if (sample_check(record, size) == 0)
		sum = read_sample(record);
	if (miss_check(record, size) == 0)
		sum += read_miss(record);
	free(record);
	__asm__ volatile("" : : "r"(sum)); /* the bytes must be read */
	return 0;
}
