// SPDX-License-Identifier: Apache-2.0
/* Which files are one, and that what one process shows is not another's. */
#include "image_fixture.h"

#include "elf/image_index.h"

static int setup_cache(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	strcpy(f->dir, "/tmp/hostprof-image-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->cache = image_cache_new(NULL);
	return run(f, "cp /bin/true prog") ? 0 : -1;
}

static struct image *open_as(struct fixture *f, struct file_key key, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return image_cache_open(f->cache, &key, (uint32_t)getpid(), 1, 2, path);
}

/* The same device and inode: content that was touched is another file's, a second look is the same. */
static void a_file_that_is_written_anew(void **state)
{
	struct fixture *f = *state;
	struct image *image, *second;
	struct file_key key;
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	image = open_as(f, key, "prog");
	image_load(f->cache, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_int_equal(image_id(image)->inode, key.inode);
	assert_true(run(
		f,
		"cp --preserve=timestamps prog copy; sleep 0.02; cat copy >prog; touch -r copy prog"));
	image_cache_close_idle(f->cache);
	second = open_as(f, key, "prog");
	assert_ptr_not_equal(second, image);
	assert_int_equal(image_state(second), IMAGE_NEW);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_ptr_equal(open_as(f, key, "prog"), second);
	/* Who cannot be asked any more had the last that was there. */
	assert_true(run(f, "rm prog"));
	image_cache_close_idle(f->cache);
	assert_ptr_equal(open_as(f, key, "prog"), second);
}

/*
 * A name that leads to another device's file of the same inode number is that file for the process whose name
 * it is, and for no other.
 */
static void an_inode_number_of_another_device(void **state)
{
	struct fixture *f = *state;
	struct file_key key, foreign;
	struct image *image, *own;
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = foreign = key_of(path);
	foreign.minor++;
	image = open_as(f, foreign, "prog");
	assert_int_equal(image_state(image), IMAGE_NEW);
	assert_true(run(f, "mv prog away"));
	image_cache_close_idle(f->cache);
	own = open_as(f, foreign, "prog");
	assert_ptr_not_equal(own, image);
	assert_int_equal(image_state(own), IMAGE_FAILED);
	assert_true(run(f, "mv away prog"));
	assert_int_equal(image_id(image)->inode, key.inode);
}

/* What one process calls it, in its mount namespace, names nobody else's frames. */
static void a_file_of_two_names(void **state)
{
	struct fixture *f = *state;
	struct image *image, *other;
	struct file_key key;
	char path[128];

	assert_true(run(f, "ln prog evil"));
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	key.generation = 5;
	other = open_as(f, key, "evil");
	image = open_as(f, key, "prog");
	assert_ptr_not_equal(image, other);
	assert_string_equal(image_path(image), path);
	assert_true(file_id_equal(image_id(image), image_id(other)));
}

/* A mapping of the file that has been told of; who asks for it later need not be alive. */
static struct image *note_and_open(struct fixture *f, struct file_key key, uint64_t start)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", f->dir);
	image_cache_note(f->cache, &key, (uint32_t)getpid(), start, start + 1, path);
	return image_cache_open(f->cache, &key, (uint32_t)getpid(), start, start + 1, path);
}

#define WRITE_ANEW "sleep 0.02; cat copy >prog"

static struct file_key key_of_copied(struct fixture *f)
{
	struct file_key key;
	char path[128];

	assert_true(run(f, "cp prog copy"));
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	key.generation = 5;
	return key;
}

/* One look is for all that mapped it until then, and a mapping since makes it due. */
static void a_file_that_many_map(void **state)
{
	struct fixture *f = *state;
	struct file_key key = key_of_copied(f);
	struct image *first, *second;

	first = note_and_open(f, key, 1);
	assert_int_equal(image_state(first), IMAGE_NEW);
	assert_ptr_equal(note_and_open(f, key, 2), first);
	assert_true(run(f, WRITE_ANEW));
	/* Nobody has mapped what it is now. */
	assert_ptr_equal(open_as(f, key, "prog"), first);
	second = note_and_open(f, key, 3);
	assert_ptr_not_equal(second, first);
	assert_int_equal(image_state(second), IMAGE_NEW);
	/* Who mapped it before has what he was seen to have, until he maps it again. */
	assert_ptr_equal(open_as(f, key, "prog"), first);
	assert_ptr_equal(note_and_open(f, key, 1), second);
}

/* Those that are gone before anybody asks; file systems that were made by mkfs, and overlays, have no generations. */
static void files_that_are_due(struct fixture *f, uint64_t generation)
{
	struct file_key key = key_of_copied(f);
	struct image *first, *second;
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key.generation = generation;
	first = note_and_open(f, key, 1);
	assert_true(run(f, WRITE_ANEW));
	image_cache_note(f->cache, &key, (uint32_t)getpid(), 2, 3, path);
	image_cache_look(f->cache);
	assert_true(run(f, "rm prog"));
	second = image_cache_open(f->cache, &key, (uint32_t)getpid(), 2, 3, path);
	assert_ptr_not_equal(second, first);
	assert_int_equal(image_state(second), IMAGE_NEW);
	image_cache_look(f->cache); /* none is due any more */
	assert_ptr_equal(image_cache_open(f->cache, &key, (uint32_t)getpid(), 3, 4, path), second);
}

static void a_file_that_is_due(void **state)
{
	files_that_are_due(*state, 5);
}

static void a_file_that_is_due_without_generation(void **state)
{
	files_that_are_due(*state, 0);
}

/* As on btrfs, where the kernel's records do not tell subvolumes apart. */
static void a_number_that_two_files_have(void **state)
{
	const struct image_mapping mapping = {
		.key = { .major = 0, .minor = 30, .inode = 7, .generation = 5 },
		.start = 1,
		.end = 2,
		.pid = 3
	};
	struct image_mapping next = mapping;
	char path[] = "/lib/lib.so";
	struct image image = { .key = mapping.key, .certain = true, .path = path };
	const struct file_id subvolume = { .minor = 31, .inode = 7 },
			     itself = { .minor = 30, .inode = 7 };
	struct image_index index;

	(void)state;
	next.key.generation = 6;
	image_index_init(&index);
	image_index_add(&index, &image);
	image_index_set_id(&index, &image, &subvolume);
	image_index_see(&index, &image, &mapping);
	assert_null(image_index_note(&index, &mapping, path));
	assert_null(image_index_find_seen(&index, &mapping.key, path));
	image_index_set_id(&index, &image, &itself);
	assert_ptr_equal(image_index_note(&index, &mapping, path), &image);
	assert_null(image_index_find_seen(&index, &mapping.key, path));
	assert_null(image_index_recall(&index, &mapping, path));
	image_index_see(&index, &image, &mapping);
	assert_ptr_equal(image_index_find_seen(&index, &mapping.key, path), &image);
	assert_ptr_equal(image_index_recall(&index, &mapping, path), &image);
	assert_null(image_index_take_due(&index));
	/* The number was given to another file. */
	assert_null(image_index_note(&index, &next, path));
	image_index_release(&index);
}

/* The kernel has a generation for it, or the number may be the next file's by now. */
static void a_number_without_generation(void **state)
{
	struct fixture *f = *state;
	struct file_key key = key_of_copied(f), next;
	struct image *first, *second;

	key.generation = 0;
	first = note_and_open(f, key, 1);
	assert_true(run(f, WRITE_ANEW));
	second = open_as(f, key, "prog"); /* another mapping */
	assert_ptr_equal(second, first);
	image_cache_close_idle(f->cache);
	second = open_as(f, key, "prog");
	assert_ptr_not_equal(second, first);
	/* Learnt when the same file is told of with one; another one is another file. */
	key.generation = 5;
	assert_ptr_equal(note_and_open(f, key, 7), second);
	assert_true(run(f, WRITE_ANEW));
	assert_ptr_equal(open_as(f, key, "prog"), second);
	next = key;
	next.generation = 6;
	assert_ptr_not_equal(note_and_open(f, next, 8), second);
}

/* Who has just looked need not ask; what he saw is no proof when its number is another. */
static void a_file_that_was_seen(void **state)
{
	struct fixture *f = *state;
	struct file_key key = key_of_copied(f);
	struct image *image, *second;
	struct file_id seen;
	char path[128];

	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key.generation = 0;
	image = image_cache_open_seen(f->cache, &key, (uint32_t)getpid(), 1, 2, path, NULL);
	seen = *image_id(image);
	assert_true(run(f, "mv prog away"));
	image_cache_close_idle(f->cache);
	assert_ptr_equal(
		image_cache_open_seen(f->cache, &key, (uint32_t)getpid(), 1, 2, path, &seen),
		image);
	assert_true(run(f, "mv away prog; " WRITE_ANEW));
	/* It is not what it was: the new one is opened. */
	seen.changed_ns++;
	second = image_cache_open_seen(f->cache, &key, (uint32_t)getpid(), 1, 2, path, &seen);
	assert_ptr_not_equal(second, image);
	assert_false(file_id_equal(image_id(second), &seen));
	seen = *image_id(second);
	key.inode++;
	assert_ptr_not_equal(
		image_cache_open_seen(f->cache, &key, (uint32_t)getpid(), 1, 2, path, &seen),
		second);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_cache, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_written_anew),  TEST(an_inode_number_of_another_device),
		TEST(a_file_of_two_names),	    TEST(a_file_that_many_map),
		TEST(a_file_that_is_due),	    TEST(a_file_that_is_due_without_generation),
		TEST(a_number_that_two_files_have), TEST(a_number_without_generation),
		TEST(a_file_that_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
