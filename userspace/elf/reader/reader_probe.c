// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_probe.h"

#include <string.h>

#include "base/strbuf.h"
#include "elf/reader/reader_file.h"
#include "elf/reader/reader_sound.h"

int reader_objects(int fd, const char *name, uint64_t limit_bytes,
		   struct reader_objects *ret_objects, struct err *err)
{
	const size_t head = offsetof(struct reader_objects, object);
	struct reader_ask ask = { .op = READER_OBJECTS,
				  .fd = fd,
				  .patient = true,
				  .len = limit_bytes,
				  .data = name,
				  .data_len = strlen(name) + 1,
				  .answer = ret_objects,
				  .answer_len = sizeof(*ret_objects) };
	int64_t r = reader_ask_twice(&ask, err);

	if (r < 0)
		return (int)r;
	return r >= (int64_t)head && ret_objects->count <= READER_MAX_OBJECTS &&
			       (size_t)r ==
				       head + ret_objects->count * sizeof(ret_objects->object[0])
		       ? 0
		       : reader_not_sound(err);
}

int reader_usdt(int fd, const char *provider, const char *name, uint64_t limit_bytes,
		struct reader_usdt *ret_usdt, struct err *err)
{
	const size_t head = offsetof(struct reader_usdt, note);
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;
	struct reader_ask ask = { .op = READER_USDT,
				  .fd = fd,
				  .patient = true,
				  .len = limit_bytes,
				  .answer = ret_usdt,
				  .answer_len = sizeof(*ret_usdt) };
	int64_t r;

	strbuf_add(&names, provider, strlen(provider) + 1);
	strbuf_add(&names, name, strlen(name) + 1);
	ask.data = names.buf;
	ask.data_len = names.len;
	r = reader_ask_twice(&ask, err);
	if (r < 0)
		return (int)r;
	return r >= (int64_t)head &&
			       (size_t)r == head + MIN(ret_usdt->count, (uint32_t)READER_MAX_USDT) *
							    sizeof(ret_usdt->note[0])
		       ? 0
		       : reader_not_sound(err);
}
