// SPDX-License-Identifier: Apache-2.0
#include "process/process_memory.h"

#include <string.h>

#include "base/cache/text_pool.h"

static struct text_pool texts;
static struct budget budget = { .limit_bytes = PROCESS_MEMORY_BYTES };

struct budget *process_budget(void)
{
	return &budget;
}

char *process_text_ref(const char *text, uint64_t *own_bytes)
{
	size_t before = texts.bytes;
	const char *kept;

	if (!text_pool_has(&texts, text) && !budget_fits(&budget, *own_bytes, strlen(text)))
		return NULL;
	kept = text_pool_ref(&texts, text);
	budget_note(&budget, before, texts.bytes);
	*own_bytes += texts.bytes - before;
	return (char *)(uintptr_t)kept; /* NOLINT: struct mapping has such */
}

char *process_text_again(char *text)
{
	text_pool_ref_again(text);
	return text;
}

void process_text_unref(char *text)
{
	size_t before = texts.bytes;

	text_pool_unref(&texts, text);
	budget_note(&budget, before, texts.bytes);
}
