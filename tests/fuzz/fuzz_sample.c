// SPDX-License-Identifier: Apache-2.0
/* One record of a sample ring: what passes the check can be read to its end. */
#include <stdlib.h>
#include <string.h>

#include "capture/rings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_sample *sample = malloc(size ? size : 1); /* aligned, and no byte longer */
	uint64_t sum = 0;

	if (!sample)
		return 0;
	memcpy(sample, data, size);
	if (sample_check(sample, size) == 0)
		for (size_t i = 0; i < (size_t)sample->kernel_frames + sample->user_words; i++)
			sum += sample->words[i];
	free(sample);
	__asm__ volatile("" : : "r"(sum)); /* the words must be read */
	return 0;
}
