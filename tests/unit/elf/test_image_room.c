// SPDX-License-Identifier: Apache-2.0
/* Which images go when there are many: those that nobody has, first what was not asked for the longest. */
#include "image_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define FILES 10

/* A process that has nothing but its number. */
static pid_t fork_waiting(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

static void end_waiting(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int setup_cache(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	strcpy(f->dir, "/tmp/hostprof-image-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->cache = image_cache_new(NULL);
	return 0;
}

/* Once: a file that is written again is another one. */
static void make_file(const struct fixture *f, const char *name)
{
	_cleanup_close_ int fd = -1;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
	if (fd < 0)
		return;
	assert_int_equal(write(fd, "a text", 6), 6);
}

/* No ELF file, and read: nothing keeps it open. */
static struct image *read_named(struct fixture *f, const char *name)
{
	struct image *image = open_named(f, name);

	image_load(f->cache, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	return image;
}

static struct image *read_number(struct fixture *f, int number)
{
	char name[8];

	snprintf(name, sizeof(name), "f%02d", number);
	make_file(f, name);
	return read_named(f, name);
}

static size_t bytes_of_one(struct fixture *f)
{
	struct image_cache_stats stats;

	read_number(f, 99);
	image_cache_get_stats(f->cache, &stats);
	assert_int_equal(stats.images, 1);
	image_cache_set_room(f->cache, 0);
	image_cache_look(f->cache);
	return stats.bytes;
}

/* Room for FILES, which are there. */
static void fill(struct fixture *f, struct image **images)
{
	image_cache_set_room(f->cache, FILES * bytes_of_one(f));
	for (int i = 0; i < FILES; i++)
		images[i] = read_number(f, i);
	image_cache_look(f->cache);
}

static uint64_t count(const struct fixture *f)
{
	struct image_cache_stats stats;

	image_cache_get_stats(f->cache, &stats);
	return stats.images;
}

static void oldest_first(void **state)
{
	struct fixture *f = *state;
	struct image_cache_stats stats;
	struct image *images[FILES];
	uint64_t numbers[FILES];

	fill(f, images);
	assert_int_equal(count(f), FILES);
	for (int i = 0; i < FILES; i++)
		numbers[i] = image_number(images[i]);
	read_number(f, 0); /* asked for again */
	read_number(f, FILES);
	assert_int_equal(count(f), FILES + 1);
	image_cache_look(f->cache);
	/* An eighth of the room is free now. */
	assert_int_equal(count(f), FILES - 2);
	image_cache_get_stats(f->cache, &stats);
	assert_int_equal(stats.evicted, 1 + 3);
	for (int i = 0; i < FILES; i++)
		if (i == 0 || i > 3)
			assert_int_equal(image_number(read_number(f, i)), numbers[i]);
	/* It comes back as another one. */
	assert_true(image_number(read_number(f, 1)) > numbers[FILES - 1]);
	assert_int_equal(count(f), FILES - 1);
}

static void who_has_one_keeps_it(void **state)
{
	struct fixture *f = *state;
	struct image *images[FILES];
	uint64_t number;

	fill(f, images);
	number = image_number(image_ref(image_ref(images[1])));
	image_unref(images[1]);
	for (int i = FILES; i < 3 * FILES; i++) {
		read_number(f, i);
		image_cache_look(f->cache);
	}
	assert_int_equal(image_number(images[1]), number);
	assert_ptr_equal(read_number(f, 1), images[1]);
	image_unref(images[1]);
	image_unref(NULL);
	for (int i = 0; i < FILES; i++) {
		read_number(f, 3 * FILES + i);
		image_cache_look(f->cache);
	}
	assert_int_not_equal(image_number(read_number(f, 1)), number);
}

/* Those that somebody has take no room of the others, and those are not looked at in vain for each new one. */
static void who_is_had_takes_no_room(void **state)
{
	struct fixture *f = *state;
	struct image *images[FILES];

	fill(f, images);
	for (int i = 0; i < FILES; i++)
		image_ref(images[i]);
	for (int i = FILES; i < 2 * FILES; i++)
		read_number(f, i);
	image_cache_look(f->cache);
	assert_int_equal(count(f), 2 * FILES);
	read_number(f, 2 * FILES);
	image_cache_look(f->cache);
	read_number(f, 2 * FILES + 1);
	image_cache_look(f->cache);
	assert_int_equal(count(f), 2 * FILES - 2);
}

/* A file that is open and waits to be read is wanted soon, or closed. */
static void open_ones_stay(void **state)
{
	struct fixture *f = *state;
	struct image *images[FILES];
	struct image *open;

	fill(f, images);
	make_file(f, "open");
	open = open_named(f, "open");
	for (int i = FILES; i < 3 * FILES; i++) {
		read_number(f, i);
		image_cache_look(f->cache);
	}
	assert_int_equal(image_state(open), IMAGE_NEW);
	assert_ptr_equal(open_named(f, "open"), open);
	image_cache_close_idle(f->cache);
	image_cache_close_idle(f->cache);
	assert_int_equal(image_state(open), IMAGE_DROPPED);
	for (int i = 3 * FILES; i < 5 * FILES; i++) {
		read_number(f, i);
		image_cache_look(f->cache);
	}
	make_file(f, "opex");
	assert_true(image_number(open_named(f, "open")) >
		    image_number(read_number(f, 5 * FILES - 1)));
}

/* By the key alone: nobody finds the file any more. */
static void expect_known_when_gone(struct fixture *f, const char *const *names,
				   struct image *const *images, size_t gone)
{
	struct file_key key;
	char path[128];

	snprintf(path, sizeof(path), "%s/a", f->dir);
	key = key_of(path);
	assert_true(run(f, "rm a b c d"));
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		if (i != gone)
			assert_ptr_equal(
				image_cache_open(f->cache, &key, (uint32_t)getpid(), 1, 2, path),
				images[i]);
	}
}

/* Of one file with several names each is found without those that are gone, wherever they were in the chain. */
static void names_of_one_file(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d" };

	for (size_t gone = 0; gone < ARRAY_SIZE(names); gone++) {
		struct fixture *f = *state;
		struct image *images[ARRAY_SIZE(names)];
		uint64_t number;

		assert_true(run(f, "rm -f a b c d; echo a text >a; ln a b; ln a c; ln a d"));
		image_cache_set_room(f->cache, 1 << 20);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			images[i] = image_ref(read_named(f, names[i]));
		number = image_number(images[gone]);
		image_unref(images[gone]);
		image_cache_set_room(f->cache, 0);
		image_cache_look(f->cache);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (i != gone)
				assert_ptr_equal(read_named(f, names[i]), images[i]);
		assert_int_not_equal(image_number(read_named(f, names[gone])), number);
		expect_known_when_gone(f, names, images, gone);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (i != gone)
				image_unref(images[i]);
		image_cache_look(f->cache);
	}
}

static struct image *open_by(struct fixture *f, uint32_t pid, int number)
{
	struct file_key key;
	char path[128];

	snprintf(path, sizeof(path), "%s/f%02d", f->dir, number);
	key = key_of(path);
	return image_cache_open(f->cache, &key, pid, 0x1000, 0x2000, path);
}

/* Who maps more than is his has files that nobody looks at; there is as much for the next one, and what was known he has yet. */
static void each_process_has_its_part(void **state)
{
	enum { MANY = 24 };
	struct fixture *f = *state;
	uint32_t children[2] = { (uint32_t)fork_waiting(), (uint32_t)fork_waiting() };
	struct image_cache_stats stats;
	int looked_at[2] = { 0 };
	size_t bytes = bytes_of_one(f);

	for (int i = 0; i < 2 * MANY; i++)
		read_number(f, i);
	image_cache_look(f->cache);
	assert_int_equal(count(f), 0);
	image_cache_set_room(f->cache, 100 * bytes);
	image_cache_set_budget(f->cache, 16 * bytes + bytes / 2);
	for (int of = 0; of < 2; of++)
		for (int i = 0; i < MANY; i++)
			looked_at[of] +=
				image_was_looked_at(open_by(f, children[of], of * MANY + i));
	assert_int_equal(looked_at[0], 8);
	assert_int_equal(looked_at[1], 3); /* the one that stands for all others takes some, too */
	image_cache_get_stats(f->cache, &stats);
	assert_int_equal(stats.refused, 2 * MANY - 8 - 3);
	assert_int_equal(stats.refused_pid, children[0]);
	assert_true(image_was_looked_at(open_by(f, children[1], 0)));
	/* What is forgotten is paid back. */
	image_cache_close_idle(f->cache);
	image_cache_close_idle(f->cache);
	image_cache_set_room(f->cache, 0);
	image_cache_look(f->cache);
	for (int i = 0; i < 8; i++)
		assert_true(image_was_looked_at(open_by(f, children[0], i)));
	end_waiting((pid_t)children[0]);
	end_waiting((pid_t)children[1]);
}

static void note_failure(const char *path, const char *why, void *data)
{
	strbuf_addf(data, "%s: %s\n", path, why);
}

/* What failed is told of, if it is gone in a sum. */
static void failures(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct fixture *f = *state;

	assert_true(run(f, "mkfifo pipe"));
	open_named(f, "pipe");
	image_cache_set_room(f->cache, 0);
	image_cache_look(f->cache);
	assert_int_equal(count(f), 0);
	image_cache_for_each_failed(f->cache, note_failure, &text);
	assert_string_equal(strbuf_str(&text),
			    "(other files): 1 that nobody maps any more could not be read\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_cache, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(oldest_first),   TEST(who_has_one_keeps_it), TEST(who_is_had_takes_no_room),
		TEST(open_ones_stay), TEST(names_of_one_file),	  TEST(each_process_has_its_part),
		TEST(failures),
	};

	return cmocka_run_group_tests_name("image_room", tests, NULL, NULL);
}
