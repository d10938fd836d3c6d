// SPDX-License-Identifier: Apache-2.0
/* Which files are one, and that what one process shows is not another's. */
#include "image_fixture.h"

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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_cache, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_written_anew),
		TEST(an_inode_number_of_another_device),
		TEST(a_file_of_two_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
