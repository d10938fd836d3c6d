// SPDX-License-Identifier: Apache-2.0
#include "capture/rings/record_check.h"
#include "capture/rings/rings.h"

void rings_deliver(const struct rings_handler *handler, const void *data, size_t len)
{
	if (sample_check(data, len) == 0)
		handler->sample(data, handler->data);
	else if (miss_check(data, len) == 0)
		handler->miss(data, handler->data);
	else if (span_check(data, len) == 0)
		handler->span(data, handler->data);
	else if (lock_begin_check(data, len) == 0)
		handler->lock_begin(data, handler->data);
	else
		handler->invalid(data, len, handler->data);
}
