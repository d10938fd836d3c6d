// SPDX-License-Identifier: Apache-2.0
/* Frames of stripped files get names from debug files; this program is its own. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "elf/elf_file.h"
#include "symbolize/late_names.h"

static __attribute__((noinline, used)) int own_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static uint64_t own_address;
static char own_id[BUILD_ID_BYTES];

static struct {
	unsigned int asked;
	int result;
	char last[BUILD_ID_BYTES];
} server;

static int fetch(void *data, const char *build_id)
{
	assert_ptr_equal(data, &server);
	server.asked++;
	snprintf(server.last, sizeof(server.last), "%s", build_id);
	return server.result ? server.result : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static uint32_t add_mapping(struct profile *p, const char *path, const char *build_id)
{
	const struct profile_mapping m = { .path = profile_string(p, path),
					   .build_id = profile_string(p, build_id) };

	return profile_mapping(p, &m);
}

static uint32_t add_frame(struct profile *p, uint32_t mapping, uint64_t address, const char *name,
			  enum frame_kind kind)
{
	const struct profile_frame f = { .name = profile_string(p, name),
					 .mapping = mapping,
					 .address = address,
					 .bci = -1,
					 .into = 4,
					 .kind = kind };

	return profile_frame(p, &f);
}

static const char *name_of(const struct profile *p, uint32_t frame)
{
	return profile_get_string(p, profile_get_frame(p, frame)->name);
}

static void frames_without_names(void **state)
{
	struct late_names_figures figures;
	uint32_t own, other, frames[6];
	struct profile p;

	(void)state;
	profile_init(&p);
	own = add_mapping(&p, "/bin/own", own_id);
	other = add_mapping(&p, "/bin/other", "");
	frames[0] = add_frame(&p, own, own_address + 4, "", FRAME_NATIVE);
	frames[1] = add_frame(&p, own, own_address, "has_one", FRAME_NATIVE);
	frames[2] = add_frame(&p, own, 1, "", FRAME_NATIVE);
	frames[3] = add_frame(&p, other, own_address, "", FRAME_NATIVE);
	frames[4] = add_frame(&p, PROFILE_NONE, own_address, "", FRAME_NATIVE);
	frames[5] = add_frame(&p, own, own_address, "", FRAME_KERNEL);
	memset(&server, 0, sizeof(server));
	late_names_add(&p, fetch, &server, &figures);
	assert_string_equal(name_of(&p, frames[0]), "own_function");
	assert_int_equal(profile_get_frame(&p, frames[0])->address, own_address + 4);
	assert_string_equal(name_of(&p, frames[1]), "has_one");
	for (int i = 2; i < 6; i++)
		assert_string_equal(name_of(&p, frames[i]), "");
	assert_int_equal(server.asked, 1);
	assert_string_equal(server.last, own_id);
	assert_int_equal(figures.wanted, 1);
	assert_int_equal(figures.found, 1);
	assert_int_equal(figures.frames, 1);
	/* There is nothing left that this file has a name for. */
	late_names_add(&p, fetch, &server, &figures);
	assert_int_equal(figures.frames, 0);
	profile_release(&p);
}

/* Of who has a file of another build id nothing is taken. */
static void another_build_id(void **state)
{
	struct late_names_figures figures;
	struct profile p;
	uint32_t frame;

	(void)state;
	profile_init(&p);
	frame = add_frame(&p, add_mapping(&p, "/bin/own", "abcd"), own_address, "", FRAME_NATIVE);
	memset(&server, 0, sizeof(server));
	late_names_add(&p, fetch, &server, &figures);
	assert_string_equal(name_of(&p, frame), "");
	assert_int_equal(figures.wanted, 1);
	assert_int_equal(figures.found, 0);
	profile_release(&p);
}

/* One that has gone is not asked again; one that has not this file is. */
static void nobody_answers(void **state)
{
	static const struct {
		int result;
		unsigned int asked;
	} cases[] = { { -ETIMEDOUT, 1 }, { -ENODATA, 3 }, { -EBADMSG, 3 } };
	struct late_names_figures figures;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;

		profile_init(&p);
		for (int n = 0; n < 3; n++)
			add_frame(&p,
				  add_mapping(&p, (const char *[]){ "/a", "/b", "/c" }[n], "abcd"),
				  own_address, "", FRAME_NATIVE);
		memset(&server, 0, sizeof(server));
		server.result = cases[i].result;
		late_names_add(&p, fetch, &server, &figures);
		assert_int_equal(server.asked, cases[i].asked);
		assert_int_equal(figures.wanted, 3);
		assert_int_equal(figures.found, 0);
		profile_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_without_names),
		cmocka_unit_test(another_build_id),
		cmocka_unit_test(nobody_answers),
	};
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	struct err err;

	if (own_function(1) != 2 || elf_file_open(fd, &file, &err) < 0 ||
	    elf_file_build_id(file, own_id, sizeof(own_id)) < 0 ||
	    elf_file_find_symbol(file, "own_function", &own_address) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
