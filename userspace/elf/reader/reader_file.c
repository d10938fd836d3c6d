// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_file.h"

#include <string.h>

#include "base/cache/thread_scratch.h"
#include "elf/reader/reader_sound.h"

/* Somebody may have ended the first reader; these questions come again with the next process. */
#define MAX_TRIES 2

int64_t reader_ask_twice(struct reader_ask *ask, struct err *err)
{
	struct file_id id;
	int64_t r = file_id_read(ask->fd, &id);

	if (r < 0)
		return err_sys(err, (int)r, "it cannot be looked at");
	ask->owner = reader_owner(&id);
	r = reader_call(ask, err);
	for (int tries = 1; tries < MAX_TRIES && reader_has_gone(r); tries++)
		r = reader_call(ask, err);
	return r;
}

static bool is_sound(const struct reader_file_said *said, int64_t len)
{
	const size_t head = offsetof(struct reader_file_said, segment);

	return len >= (int64_t)head && said->segments <= READER_MAX_SEGMENTS &&
	       (size_t)len == head + said->segments * sizeof(said->segment[0]) &&
	       reader_link_is_sound(&said->link) &&
	       reader_segments_are_sound(said->segment, said->segments);
}

int reader_file_read(int fd, struct reader_file *ret_file, struct err *err)
{
	_cleanup_free_ struct reader_file_said *said = xmalloc(sizeof(*said));
	struct reader_ask ask = {
		.op = READER_FILE, .fd = fd, .answer = said, .answer_len = sizeof(*said)
	};
	int64_t r = reader_ask_twice(&ask, err);

	if (r < 0)
		return (int)r;
	if (!is_sound(said, r))
		return reader_not_sound(err);
	*ret_file = (struct reader_file){ .link = said->link };
	for (uint32_t i = 0; i < said->segments; i++)
		vec_push(&ret_file->segments, said->segment[i]);
	return 0;
}

void reader_file_release(struct reader_file *file)
{
	vec_release(&file->segments);
}

/* An answer of the length that was asked for. */
static int ask_names(struct reader_ask *ask, const char *const *names, unsigned int count,
		     struct err *err)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int64_t r;

	for (unsigned int i = 0; i < count; i++)
		strbuf_add(&text, names[i], strlen(names[i]) + 1);
	ask->data = text.buf;
	ask->data_len = ask->len = text.len;
	r = reader_ask_twice(ask, err);
	if (r < 0)
		return (int)r;
	return r == (int64_t)ask->answer_len ? 0 : reader_not_sound(err);
}

int reader_find(int fd, enum reader_find how, const char *const *names, unsigned int count,
		uint64_t *ret_addresses, struct err *err)
{
	struct reader_ask ask = { .op = READER_FIND,
				  .fd = fd,
				  .count = how,
				  .answer = ret_addresses,
				  .answer_len = count * sizeof(*ret_addresses) };

	return ask_names(&ask, names, count, err);
}

int reader_functions(int fd, const char *const *names, unsigned int count,
		     struct reader_function *ret_functions, struct err *err)
{
	struct reader_ask ask = { .op = READER_FUNCTIONS,
				  .fd = fd,
				  .answer = ret_functions,
				  .answer_len = count * sizeof(*ret_functions) };

	return ask_names(&ask, names, count, err);
}

int reader_soname(int fd, char ret_name[NAME_MAX + 1], struct err *err)
{
	struct reader_ask ask = {
		.op = READER_SONAME, .fd = fd, .answer = ret_name, .answer_len = NAME_MAX + 1
	};
	int64_t r = reader_ask_twice(&ask, err);

	if (r < 0)
		return (int)r;
	return r > 0 && r <= NAME_MAX + 1 && !ret_name[r - 1] ? 0 : reader_not_sound(err);
}

int reader_places(int fd, const char *name, uint64_t limit_bytes, bool patient,
		  struct reader_places *ret_places, struct err *err)
{
	const size_t head = offsetof(struct reader_places, address);
	struct reader_ask ask = { .op = READER_PLACES,
				  .fd = fd,
				  .patient = patient,
				  .len = limit_bytes,
				  .data = name,
				  .data_len = strlen(name) + 1,
				  .answer = ret_places,
				  .answer_len = sizeof(*ret_places) };
	int64_t r = reader_ask_twice(&ask, err);

	if (r < 0)
		return (int)r;
	return r >= (int64_t)head && ret_places->count <= READER_MAX_PLACES &&
			       (size_t)r == head + ret_places->count * sizeof(uint64_t)
		       ? 0
		       : reader_not_sound(err);
}

int reader_go_frames(int fd, uint64_t owner, const struct go_place *place, uint64_t address,
		     struct go_frames *ret_frames)
{
	const struct reader_ask ask = { .op = READER_GO_FRAMES,
					.fd = fd,
					.owner = owner,
					.offset = address,
					.data = place,
					.data_len = sizeof(*place),
					.answer = ret_frames,
					.answer_len = sizeof(*ret_frames) };
	struct err err;
	int64_t r = reader_call(&ask, &err);

	if (r < 0)
		return (int)r;
	return go_frames_are_sound(ret_frames, (size_t)r) ? 0 : -EBADMSG;
}

char *reader_far_name(int fd, uint64_t owner, uint64_t offset, uint64_t len, bool *ret_cpp,
		      bool *ret_late)
{
	static struct thread_scratch scratch;
	struct reader_name *name = thread_scratch_get(&scratch, READER_NAME_BYTES);
	const struct reader_ask ask = { .op = READER_FAR_NAME,
					.fd = fd,
					.owner = owner,
					.offset = offset,
					.len = len,
					.answer = name,
					.answer_len = READER_NAME_BYTES };
	struct err err;
	int64_t r;

	name->text[0] = '\0';
	r = reader_call(&ask, &err);
	*ret_late = reader_has_gone(r);
	((char *)name)[READER_NAME_BYTES - 1] = '\0';
	*ret_cpp = name->cpp != 0;
	return r < 0 || !name->text[0] ? NULL : xstrdup(name->text);
}
