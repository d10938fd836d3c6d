// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_content.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hmap.h"

#define HEAD_BYTES 4096

int unwind_content_read(int fd, struct unwind_content *content)
{
	unsigned char head[HEAD_BYTES];
	int r = file_id_read(fd, &content->id);
	ssize_t len;

	if (r < 0)
		return r;
	content->id.shared |= file_id_is_served(fd);
	len = pread(fd, head, sizeof(head), 0);
	if (len < 0)
		return -errno;
	content->head_hash = hash_bytes(head, (size_t)len);
	return 0;
}

void unwind_content_take(struct unwind_content *content, const struct reader_cfi *cfi)
{
	snprintf(content->build_id, sizeof(content->build_id), "%s", reader_cfi_build_id(cfi));
}

uint64_t unwind_content_hash(const struct unwind_content *content)
{
	return hash_bytes(content->build_id, strlen(content->build_id)) ^ content->head_hash;
}

static bool same_head(const struct unwind_content *a, const struct unwind_content *b)
{
	return a->id.size == b->id.size && a->head_hash == b->head_hash &&
	       strcmp(a->build_id, b->build_id) == 0;
}

bool unwind_content_looks_alike(const struct unwind_content *a, const struct unwind_content *b)
{
	return a->build_id[0] && same_head(a, b) && a->id.owner == b->id.owner && !a->id.shared &&
	       !b->id.shared;
}

int unwind_content_digest(struct unwind_content *content, struct reader_cfi *cfi)
{
	int r = content->digested ? 0 : reader_cfi_digest(cfi, &content->digest);

	content->digested = r == 0;
	return r;
}

bool unwind_content_same_digest(const struct unwind_content *a, const struct unwind_content *b)
{
	return memcmp(&a->digest, &b->digest, sizeof(a->digest)) == 0;
}

static int is_copy(const struct unwind_content *known, struct unwind_content *content,
		   struct reader_cfi *cfi, bool *ret_same)
{
	int r;

	*ret_same = false;
	if (!known->digested || !unwind_content_looks_alike(content, known))
		return 0;
	r = unwind_content_digest(content, cfi);
	*ret_same = r == 0 && unwind_content_same_digest(content, known);
	return reader_has_gone(r) ? r : 0;
}

int unwind_content_check(const struct unwind_content *known, struct unwind_content *content,
			 struct reader_cfi *cfi, struct err *err)
{
	bool same;
	int r = 0;

	if (file_id_same_file(&content->id, &known->id))
		same = same_head(content, known);
	else
		r = is_copy(known, content, cfi, &same);
	if (r < 0)
		return err_set(err, r, "its reader has gone");
	return same ? 0 : err_set(err, -EBADMSG, "another file has its name now");
}
