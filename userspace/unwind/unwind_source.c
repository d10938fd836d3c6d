/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "elf/image_open.h"
#include "elf/reader/reader_cfi.h"
#include "process/proc.h"
#include "unwind/unwind_files_private.h"

/* Many map libc: whether the process lives through which it is opened is not asked for each of them. */
#define LIVES_NS NSEC_PER_SEC

int unwind_source_fd(const struct unwind_source *source)
{
	int fd = image_dup_fd(source->image);

	if (fd >= 0)
		return fd;
	return image_open_file(&source->key, source->pid, source->start, source->end,
			       image_path(source->image));
}

int unwind_source_open(const struct unwind_source *source, struct reader_cfi **ret_cfi,
		       struct unwind_content *ret_content, struct err *err)
{
	_cleanup_close_ int fd = unwind_source_fd(source);
	int r = fd < 0 ? fd : unwind_content_read(fd, ret_content);

	if (r < 0) {
		err_sys(err, r, "it cannot be opened");
		/* No reader has gone: it has not been asked. */
		return reader_has_gone(r) ? -EIO : r;
	}
	r = reader_cfi_open(fd, reader_owner(&ret_content->id), ret_cfi, err);
	if (r == 0)
		unwind_content_take(ret_content, *ret_cfi);
	return r;
}

bool unwind_source_lives(struct unwind_source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (source->lived_ns && now_ns - source->lived_ns < LIVES_NS)
		return true;
	if (!proc_is_there(source->pid))
		return false;
	source->lived_ns = now_ns;
	return true;
}
