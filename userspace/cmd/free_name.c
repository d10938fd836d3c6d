// SPDX-License-Identifier: Apache-2.0
#include "cmd/free_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "base/out/out_owner.h"
#include "base/strbuf.h"

/* More than anybody starts within a second, or leaves behind. */
#define NUMBERED  20
#define BY_CHANCE 20

static void format_name(struct strbuf *name, const char *stem, const char *extension,
			unsigned int number)
{
	uint32_t chance = 0;

	strbuf_addstr(name, stem);
	if (number > NUMBERED) {
		(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
		strbuf_addf(name, "-%08x", chance);
	} else if (number > 1) {
		strbuf_addf(name, "-%u", number);
	}
	strbuf_addstr(name, extension);
}

int free_name_find(const char *stem, const char *extension, free_name_fn try, void *data,
		   char **ret_path, struct err *err)
{
	int r = -EEXIST;

	for (unsigned int i = 1; r == -EEXIST && i <= NUMBERED + BY_CHANCE; i++) {
		_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

		format_name(&name, stem, extension, i);
		r = try(name.buf, data, err);
		if (r == 0 && ret_path)
			*ret_path = strbuf_take(&name);
	}
	return r;
}

bool free_name_is_leftover(const char *path)
{
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       out_owner_is_trusted(st.st_uid) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}
