/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole outputs of every format, as tests/data/views has them: nothing of them changes unless
 * somebody means it. `test_view_whole --write` writes them anew; the difference is to be read.
 */
#include "output/view.h"
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "html_page.h"
#include "recording/recording.h"
#include "view_fixture.h"

#include "recording_fixture.h"

#ifndef TEST_VIEWS
#define TEST_VIEWS "tests/data/views"
#endif

static bool writes;

static const struct whole {
	const char *name; /* of the file */
	const char *format;
	bool rich; /* one of everything in place of the small host */
	struct view_options options;
} wholes[] = {
	{ "small.html", "html", false, { .event = PROFILE_NONE } },
	{ "small-alloc.html", "html", false, { .event = FIXTURE_ALLOC, .title = "A & B" } },
	{ "rich-threads.html", "html", true, { .event = PROFILE_NONE, .threads = true } },
	{ "small.svg", "svg", false, { .event = PROFILE_NONE } },
	{ "rich.svg", "svg", true, { .event = PROFILE_NONE, .threads = true, .lines = true } },
	{ "rich-user.svg", "svg", true, { .event = 0, .all_user = true, .total = true } },
	{ "small-total.txt", "txt", false, { .event = PROFILE_NONE, .total = true } },
	{ "small-alloc.txt", "txt", false, { .event = FIXTURE_ALLOC, .lines = true } },
	{ "rich.txt", "txt", true, { .event = PROFILE_NONE, .threads = true, .annotate = true } },
	{ "rich-top.txt", "txt", true, { .event = 0, .top = 3, .all_kernel = true } },
	{ "small.collapsed", "collapsed", false, { .event = PROFILE_NONE } },
	{ "rich.collapsed",
	  "collapsed",
	  true,
	  { .event = 0, .threads = true, .annotate = true, .lines = true, .total = true } },
	{ "small.pb", "pprof", false, { .event = PROFILE_NONE } },
	{ "rich.pb", "pprof", true, { .event = PROFILE_NONE, .annotate = true } },
	{ "rich-user.pb", "pprof", true, { .event = 0, .all_user = true } },
};

/* All kinds of frames, three events; weights that can be added. */
static void rich_init(struct profile *p)
{
	profile_init(p);
	fixture_add(p, 0);
	p->samples.items[0].weight = 999;
	fixture_add_figures(p);
}

static void add_hex(struct strbuf *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		strbuf_addf(out, "%02x%s", bytes[i], i % 32 == 31 || i + 1 == len ? "\n" : "");
}

/*
 * A page's own data, a line for each of its values, and its columns. Inlined, gcc 12 takes the page for
 * a pointer into the fixture's stack.
 */
__attribute__((noinline)) static void add_page(struct strbuf *out, const char *page)
{
	static const char program[] = "hostprof " HOSTPROF_VERSION;
	_cleanup_free_ uint8_t *columns = NULL;
	_cleanup_free_ char *json = NULL;
	size_t len;
	char *version;

	json = page_parts(page, &columns, &len);
	version = strstr(json, program);
	assert_non_null(version);
	strbuf_add(out, json, (size_t)(version - json));
	for (const char *c = version + strlen(program); *c; c++) {
		/* Why a stack ends is said in bpf/unwind_reasons.def. */
		if (!strncmp(c, "\"reasons\":{", 11))
			c = strchr(c, '}') + 2;
		strbuf_addch(out, *c);
		if (*c == ',')
			strbuf_addch(out, '\n');
	}
	strbuf_addch(out, '\n');
	add_hex(out, columns, len);
}

static void add_unzipped(struct strbuf *out, const char *bytes, size_t len)
{
	_cleanup_free_ uint8_t *plain = xmalloc(1 << 20);
	z_stream z = { .next_in = (void *)(uintptr_t)bytes, .avail_in = (uInt)len };

	z.next_out = plain;
	z.avail_out = 1 << 20;
	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	add_hex(out, plain, z.total_out);
}

static void render(const struct whole *whole, struct strbuf *out)
{
	const struct view_format *format = view_format_find(whole->format, NULL);
	_cleanup_free_ char *bytes = NULL;
	struct profile p;
	size_t len;

	assert_non_null(format);
	if (whole->rich)
		rich_init(&p);
	else
		view_fixture_init(&p);
	bytes = view_fixture_render(&p, &whole->options, format->write, &len);
	if (!strcmp(whole->format, "html"))
		add_page(out, bytes);
	else if (!strcmp(whole->format, "pprof"))
		add_unzipped(out, bytes, len);
	else
		strbuf_add(out, bytes, len);
	profile_release(&p);
}

static void compare_or_write(const char *name, const char *bytes, size_t len)
{
	_cleanup_strbuf_ struct strbuf expected = STRBUF_INIT;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", TEST_VIEWS, name);
	if (writes) {
		_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		assert_int_equal(file_pwrite_all(fd, bytes, len, 0), 0);
		return;
	}
	assert_int_equal(file_read(path, 1 << 20, &expected), 0);
	for (size_t i = 0; i < expected.len && i < len; i++)
		if (bytes[i] != expected.buf[i])
			fail_msg("%s is another from byte %zu on: \"%.60s\"", name, i, bytes + i);
	assert_int_equal(len, expected.len);
}

static void every_output_is_as_it_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wholes); i++) {
		_cleanup_strbuf_ struct strbuf got = STRBUF_INIT;

		render(&wholes[i], &got);
		compare_or_write(wholes[i].name, strbuf_str(&got), got.len);
	}
}

/* Two chunks, each with tables of its own. */
static void the_bytes_of_a_recording(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	_cleanup_free_ char *bytes = NULL;
	struct err err = { 0 };
	struct profile p;
	size_t len;

	(void)state;
	setenv("TZ", "UTC", 1);
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	profile_init(&p);
	fixture_add(&p, 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	fixture_add(&p, FIXTURE_SAMPLES);
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	fixture_add(&p, 2 * FIXTURE_SAMPLES);
	fixture_add_figures(&p);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	len = (size_t)lseek(fd, 0, SEEK_END);
	bytes = xmalloc(len);
	assert_int_equal(file_pread_full(fd, bytes, len, 0), 0);
	compare_or_write("recording.jfr", bytes, len);
	profile_release(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_output_is_as_it_was),
		cmocka_unit_test(the_bytes_of_a_recording),
	};

	writes = argc == 2 && !strcmp(argv[1], "--write");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
