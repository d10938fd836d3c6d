// SPDX-License-Identifier: Apache-2.0
#include "unwind/cold_files.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "base/worker.h"
#include "elf/reader/reader_cfi.h"

/* At a time; and that wait for one. */
#define MAX_FILES 64
#define MAX_PIDS  64

struct cold_file {
	struct worker_job job;
	struct cold_files *files;
	struct image *image; /* a reference */
	uint64_t owner;
	int fd; /* owned */
	VEC(uint32_t) pids;
};

struct cold_files {
	struct worker_pool *pool;    /* owned; NULL: none was cold yet */
	VEC(struct cold_file *) all; /* owned: those that are being read */
	VEC(uint32_t) pids;	     /* whose files were read */
	uint64_t told;
};

static struct cold_file *find(const struct cold_files *files, const struct image *image)
{
	for (size_t i = 0; i < files->all.len; i++)
		if (files->all.items[i]->image == image)
			return files->all.items[i];
	return NULL;
}

static void free_file(struct cold_file *file)
{
	close(file->fd);
	image_unref(file->image);
	vec_release(&file->pids);
	free(file);
}

struct cold_files *cold_files_new(void)
{
	return xcalloc(1, sizeof(struct cold_files));
}

void cold_files_free(struct cold_files *files)
{
	if (!files)
		return;
	worker_pool_free(files->pool);
	for (size_t i = 0; i < files->all.len; i++)
		free_file(files->all.items[i]);
	vec_release(&files->all);
	vec_release(&files->pids);
	free(files);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void read_run(struct worker_job *job)
{
	struct cold_file *file = container_of(job, struct cold_file, job);

	/* Whatever came of it: who tries it next hears the same. */
	reader_cfi_warm(file->fd, file->owner);
}

static void remove_file(struct cold_files *files, struct cold_file *file)
{
	for (size_t i = files->all.len; i-- > 0;)
		if (files->all.items[i] == file)
			files->all.items[i] = files->all.items[--files->all.len];
	free_file(file);
}

static void read_done(struct worker_job *job)
{
	struct cold_file *file = container_of(job, struct cold_file, job);

	for (size_t i = 0; i < file->pids.len; i++)
		vec_push(&file->files->pids, file->pids.items[i]);
	remove_file(file->files, file);
}

static void note_pid(struct cold_file *file, uint32_t pid)
{
	for (size_t i = 0; i < file->pids.len; i++)
		if (file->pids.items[i] == pid)
			return;
	if (pid && file->pids.len < MAX_PIDS)
		vec_push(&file->pids, pid);
}

static bool has_thread(struct cold_files *files)
{
	struct err ignored;

	return files->pool || worker_pool_new(1, &files->pool, &ignored) == 0;
}

/* It asks again, once the next one has been read. */
static void wait_for_room(struct cold_files *files, uint32_t pid)
{
	if (files->all.len)
		note_pid(files->all.items[0], pid);
}

void cold_files_add(struct cold_files *files, struct image *image, int fd, uint64_t owner,
		    uint32_t pid)
{
	struct cold_file *file;

	files->told++;
	if (files->all.len >= MAX_FILES || !has_thread(files)) {
		close(fd);
		wait_for_room(files, pid);
		return;
	}
	file = xcalloc(1, sizeof(*file));
	file->files = files;
	file->image = image_ref(image);
	file->owner = owner;
	file->fd = fd;
	file->job.run = read_run;
	file->job.done = read_done;
	note_pid(file, pid);
	vec_push(&files->all, file);
	worker_pool_submit(files->pool, &file->job);
}

bool cold_files_is_reading(struct cold_files *files, const struct image *image, uint32_t pid)
{
	struct cold_file *file = find(files, image);

	if (!file)
		return false;
	note_pid(file, pid);
	files->told++;
	return true;
}

uint64_t cold_files_told(const struct cold_files *files)
{
	return files->told;
}

uint32_t cold_files_take_pid(struct cold_files *files)
{
	if (files->pool)
		worker_pool_reap(files->pool);
	return files->pids.len ? files->pids.items[--files->pids.len] : 0;
}
