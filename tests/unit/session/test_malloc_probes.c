// SPDX-License-Identifier: Apache-2.0
/* Which functions of a file for native memory are probed, in whose processes, and when one is tried again; the file and the capture are the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "session/malloc/malloc_probes.h"
#include "wall/wall.h"

static struct world {
	struct malloc_probes probes;
	struct malloc_file *file; /* of every mapping */
	int open, add;		  /* what they answer */
	bool has_sessions;
	char log[512];
} w;

static char path[] = "/lib/libc.so.6";
static const struct mapping mapping = { .start = 0x1000, .end = 0x2000, .path = path };

static void note(const char *format, ...)
{
	size_t len = strlen(w.log);
	va_list ap;

	va_start(ap, format);
	vsnprintf(w.log + len, sizeof(w.log) - len, format, ap);
	va_end(ap);
}

static void expect(const char *log)
{
	assert_string_equal(w.log, log);
	w.log[0] = '\0';
}

/* --- in place of the library's --- */

struct malloc_file *malloc_files_get(struct malloc_files *all, uint32_t pid,
				     const struct mapping *m)
{
	assert_ptr_equal(all, &w.probes.files);
	assert_true(pid && m == &mapping);
	return w.file;
}

void malloc_files_release(struct malloc_files *all)
{
	(void)all;
}

int wall_open(uint32_t pid, const char *link)
{
	assert_true(pid && strstr(link, "/map_files/1000-2000"));
	return w.open < 0 ? w.open : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool capture_has_sessions(const struct capture *capture)
{
	(void)capture;
	return w.has_sessions;
}

int capture_add_place(struct capture *capture, const struct capture_place *place, struct err *err)
{
	(void)capture;
	assert_int_equal(strncmp(place->path, "/proc/self/fd/", 14), 0);
	note("%s%d at %d of %u.%d\n", place->is_return ? "return of " : "", (int)place->form,
	     (int)place->offset, place->pid, (int)place->generation);
	return w.add < 0 ? err_set(err, w.add, "no room") : 0;
}

int capture_add_functions(struct capture *capture, const struct capture_place *file,
			  const struct capture_function *functions, uint32_t count, struct err *err)
{
	(void)capture, (void)err;
	note("%u at once of %u%s:", count, file->pid,
	     file->trigger == WIRE_TRIGGER_MALLOC_SESSION ? "" : ", calls");
	for (uint32_t i = 0; i < count; i++)
		note(" %d", (int)functions[i].offset);
	note("\n");
	return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void begin(uint32_t pid, bool frees)
{
	static struct malloc_place places[] = {
		{ .offset = 100, .probe = 103, .form = WIRE_MALLOC_SIZE },
		{ .offset = 200, .probe = 200, .form = WIRE_MALLOC_NEW },
		{ .offset = 300, .probe = 300, .form = WIRE_MALLOC_FREE },
		{ .offset = 400, .probe = 400, .form = WIRE_MALLOC_FORMS },
	};
	static struct malloc_file file;
	static const struct capture_event event = { .trigger = WIRE_TRIGGER_MALLOC };
	const struct capture_options options = {
		.events = &event, .event_count = 1, .pids = &pid, .pid_count = pid ? 1 : 0
	};

	memset(&w, 0, sizeof(w));
	memset(&file, 0, sizeof(file));
	file.places.items = places;
	file.places.len = ARRAY_SIZE(places);
	w.file = &file;
	malloc_probes_init(&w.probes, &options, frees);
	assert_true(w.probes.is_on);
	assert_int_equal(w.probes.shared, !pid);
}

static void map_in(uint32_t pid)
{
	malloc_probes_note(&w.probes, NULL, pid, 5, &mapping);
}

/* Once for all that map it; what only its file calls is no place. */
static void of_all(void **state)
{
	(void)state;
	begin(0, false);
	map_in(7);
	expect("0 at 103 of 0.0\n1 at 200 of 0.0\n");
	map_in(8);
	expect("");
	assert_int_equal(w.probes.probed, 1);
	w.file = NULL;
	map_in(8);
	expect("");
	malloc_probes_release(&w.probes);
}

static void of_each(void **state)
{
	(void)state;
	begin(7, false);
	map_in(7);
	expect("0 at 103 of 7.5\n1 at 200 of 7.5\n");
	map_in(8);
	expect("0 at 103 of 8.5\n1 at 200 of 8.5\n");
	assert_int_equal(w.probes.probed, 2);
	/* At once, but no session: a call whose return nobody wants has none that is probed. */
	w.has_sessions = true;
	map_in(7);
	expect("2 at once of 7, calls: 103 200\n");
}

/* Who takes back comes first, and who gives tells its result before it is called. */
static void with_what_is_freed(void **state)
{
	(void)state;
	begin(7, true);
	map_in(7);
	expect("8 at 300 of 7.5\nreturn of 0 at 103 of 7.5\n0 at 103 of 7.5\n1 at 200 of 7.5\n");
	w.has_sessions = true;
	map_in(7);
	expect("3 at once of 7: 103 200 300\n");
}

/* A process may have gone when its file is opened, or not answer: that is nothing against the file. */
static void one_that_cannot_be_opened(void **state)
{
	(void)state;
	begin(0, false);
	w.open = -ESRCH;
	map_in(7);
	expect("");
	assert_int_equal(w.probes.failed, 1);
	assert_string_equal(w.probes.failure.text,
			    "cannot open /lib/libc.so.6 of process 7: No such process");
	w.open = 0;
	map_in(8);
	expect("0 at 103 of 0.0\n1 at 200 of 0.0\n");
	assert_int_equal(w.probes.probed, 1);
}

/* What is there already is not put there twice. */
static void one_that_cannot_be_probed(void **state)
{
	(void)state;
	begin(0, false);
	w.add = -EMFILE;
	map_in(7);
	expect("0 at 103 of 0.0\n");
	map_in(8);
	expect("");
	assert_int_equal(w.probes.failed, 1);
	assert_int_equal(w.probes.probed, 0);
	assert_string_equal(w.probes.failure.text, "no room");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_all),
		cmocka_unit_test(of_each),
		cmocka_unit_test(with_what_is_freed),
		cmocka_unit_test(one_that_cannot_be_opened),
		cmocka_unit_test(one_that_cannot_be_probed),
	};

	return cmocka_run_group_tests_name("malloc_probes", tests, NULL, NULL);
}
