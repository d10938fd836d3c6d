// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget/patience.h"
#include "base/cache/thread_scratch.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hmap.h"
#include "elf/demangle.h"
#include "elf/reader/reader_pool.h"
#include "elf/reader/reader_sound.h"
#include "wall/lane.h"

/* Owners whose files were late. */
#define MAX_STRIKERS 4096
/* Each call that is late halves the time of its owner's next ones, down to a 64th. */
#define MAX_STRIKES 6U
/* After so many each is followed by a pause, which doubles. */
#define FREE_STRIKES 8U
/* A file of unwinding information that is in memory is opened in a millisecond, a large one in ten. */
#define USUAL_OPEN_NS (15 * NSEC_PER_MSEC)
/* With less time left for disks than this they have only this, and pauses for so many times as long as it took. */
#define LEAST_DISK_NS (5 * NSEC_PER_MSEC)
#define PAUSE_PARTS   9
#define LAST_PAUSE_NS (64 * NSEC_PER_SEC)

struct striker {
	unsigned int strikes;
	uint64_t until_ns, pause_ns;
};

static struct {
	const struct trade *trade;
	pthread_mutex_t lock; /* of all but what is atomic */
	struct hmap strikers; /* owner -> struct striker, owned */
	struct reader_figures figures;
	/* The loop's, with files of unwinding information; its thread's only. */
	struct patience disk;
	uint64_t disk_until_ns;
	_Atomic uint64_t memory_bytes, cpu_ns;
} readers = { .trade = &reader_trade, .lock = PTHREAD_MUTEX_INITIALIZER, .strikers = HMAP_INIT };

static void forget_strikers(void)
{
	uint64_t owner, value;
	size_t at = 0;

	while (hmap_next(&readers.strikers, &at, &owner, &value))
		free((void *)(uintptr_t)value); /* NOLINT: a pointer that was put there */
	hmap_clear(&readers.strikers);
}

void reader_set_trade(const struct trade *trade)
{
	readers.trade = trade;
}

void reader_set_memory(uint64_t bytes)
{
	atomic_store(&readers.memory_bytes, bytes);
}

void reader_end(void)
{
	reader_pool_drop();
	pthread_mutex_lock(&readers.lock);
	forget_strikers();
	hmap_release(&readers.strikers);
	memset(&readers.figures, 0, sizeof(readers.figures));
	memset(&readers.disk, 0, sizeof(readers.disk));
	readers.disk_until_ns = 0;
	pthread_mutex_unlock(&readers.lock);
	atomic_store(&readers.cpu_ns, 0);
}

uint64_t reader_generation(uint64_t owner)
{
	return reader_pool_generation(owner);
}

/* --- time ------------------------------------------------------------------------------------- */

/* The loop's thread waits for it, and can have it later: who has more time has its pages read (unwind/cold_files.h). */
static bool can_wait(const struct reader_ask *ask)
{
	return (ask->op == READER_CFI_OPEN || ask->op == READER_CFI_PAGE) && !ask->patient;
}

static bool is_of_an_image(enum reader_op op)
{
	return op <= READER_IMAGE_DROP;
}

/*
 * Names, and lines of perf maps, are asked for on the loop's thread, by the thousand. A worker has time: symbols of the largest browsers take
 * a second. What both ask for besides reads some pages of a file.
 */
static struct lane_patience patience_with(const struct reader_ask *ask)
{
	/* Who parses neither sleeps nor is stopped. */
	struct lane_patience patience = { .deadline_ns = 25 * NSEC_PER_MSEC,
					  .disk_ns = 250 * NSEC_PER_MSEC,
					  .cpu_ns = 500 * NSEC_PER_MSEC,
					  .busy_ns = 10 * NSEC_PER_SEC };

	if (ask->op == READER_DEMANGLE || ask->op == READER_GO_FRAMES ||
	    ask->op == READER_FAR_NAME || ask->op == READER_PERF_MAP ||
	    ask->op == READER_JIT_DUMP) {
		patience.cpu_ns = 25 * NSEC_PER_MSEC;
	} else if (is_of_an_image(ask->op) || ask->patient) {
		patience.deadline_ns = 100 * NSEC_PER_MSEC;
		patience.disk_ns = 5 * NSEC_PER_SEC;
		patience.cpu_ns = 10 * NSEC_PER_SEC;
		patience.busy_ns = 30 * NSEC_PER_SEC;
	}
	return patience;
}

static struct striker find_striker(uint64_t owner)
{
	struct striker striker = { 0 }, *known;

	pthread_mutex_lock(&readers.lock);
	known = hmap_find_ptr(&readers.strikers, owner);
	if (known)
		striker = *known;
	pthread_mutex_unlock(&readers.lock);
	return striker;
}

/*
 * A disk that is slow is no fault of a file's owner. So that none of them has much of the loop's time by it, there is a store of that for all
 * together. When it is empty only what is in memory is had, and who waited all the same keeps the others away for a while: a tenth at most.
 */
static bool pauses(const struct reader_ask *ask)
{
	return can_wait(ask) && clock_now_ns() < readers.disk_until_ns;
}

/* The time that is left for its disk. */
static uint64_t set_patience(struct lane *lane, const struct reader_ask *ask)
{
	struct lane_patience patience = patience_with(ask);
	uint64_t strikes = MIN(find_striker(ask->owner).strikes, MAX_STRIKES), room_ns = 0;

	if (can_wait(ask)) {
		room_ns = patience_begin(&readers.disk, clock_now_ns());
		if (room_ns < LEAST_DISK_NS)
			patience.deadline_ns = LEAST_DISK_NS;
		patience.disk_ns = patience.deadline_ns + room_ns;
	} else {
		patience.disk_ns >>= strikes;
	}
	patience.cpu_ns >>= strikes;
	lane_set_patience(lane, &patience);
	return room_ns;
}

/* Who was late for another reason has a strike for that. */
static void note_waited(const struct lane *lane, const struct reader_ask *ask, int64_t result,
			uint64_t room_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (!can_wait(ask) || (result == -ETIMEDOUT && !lane_was_at_disk(lane)))
		return;
	if (result == -ETIMEDOUT && room_ns < LEAST_DISK_NS)
		readers.disk_until_ns = now_ns + PAUSE_PARTS * (now_ns - readers.disk.began_ns);
	patience_end(&readers.disk, now_ns, USUAL_OPEN_NS);
}

static void note_late(uint64_t owner)
{
	struct striker *striker;

	pthread_mutex_lock(&readers.lock);
	readers.figures.late++;
	striker = hmap_find_ptr(&readers.strikers, owner);
	if (!striker) {
		if (readers.strikers.len >= MAX_STRIKERS)
			forget_strikers();
		striker = xcalloc(1, sizeof(*striker));
		hmap_put_ptr(&readers.strikers, owner, striker);
	}
	if (striker->strikes++ >= FREE_STRIKES) {
		striker->pause_ns = MIN(striker->pause_ns ? 2 * striker->pause_ns : NSEC_PER_SEC,
					LAST_PAUSE_NS);
		striker->until_ns = clock_now_ns() + striker->pause_ns;
	}
	pthread_mutex_unlock(&readers.lock);
}

/* The loop waits for what it opens: whose files were late too often has no more of its time for now. */
static bool is_too_soon(const struct reader_ask *ask)
{
	return ask->op == READER_CFI_OPEN && clock_now_ns() < find_striker(ask->owner).until_ns;
}

static void note_death(void)
{
	pthread_mutex_lock(&readers.lock);
	readers.figures.deaths++;
	pthread_mutex_unlock(&readers.lock);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void fill_in(struct wall_call *call, const struct reader_ask *ask)
{
	call->op = ask->op;
	call->count = ask->count;
	call->offset = ask->offset;
	call->len = ask->len;
	if (ask->data_len)
		memcpy(call->data, ask->data, ask->data_len);
}

/* Its sentence goes to terminals. */
static int64_t take_failure(const struct wall_call *call, enum reader_op op, int64_t result,
			    struct err *err)
{
	char text[READER_TEXT_BYTES];

	/* It is there, and of those that keep nothing none can be new. */
	if (result < -4095 || (reader_has_gone(result) && !is_of_an_image(op)))
		return reader_not_sound(err);
	memcpy(text, call->data, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return text[0] ? err_set(err, (int)result, "%s", text)
		       : err_sys(err, (int)result, "it cannot be read");
}

/* What LANE has brought, or has not. */
static int64_t take_answer(struct lane *lane, const struct reader_ask *ask, int64_t result,
			   struct err *err)
{
	if (!lane_answer(lane)) {
		if (result == -ETIMEDOUT && can_wait(ask) && lane_was_at_disk(lane))
			return err_set(err, -EAGAIN, "its disk is slow");
		if (result == -ETIMEDOUT)
			note_late(ask->owner);
		else
			note_death();
		return err_set(err, (int)result, "%s",
			       result == -ETIMEDOUT ? "its reader was not done with it in time"
						    : "its reader died of it");
	}
	if (result < 0)
		return take_failure(lane_answer(lane), ask->op, result, err);
	if (result > 0 && ask->answer_len)
		memcpy(ask->answer, lane_answer(lane)->data,
		       MIN((uint64_t)result, ask->answer_len));
	return result;
}

int64_t reader_call(const struct reader_ask *ask, struct err *err)
{
	struct lane *lane;
	struct wall_call *call;
	uint64_t room_ns;
	int64_t result;
	int fd;

	if (ask->data_len > sizeof(call->data))
		return err_set(err, -E2BIG, "that is more than a reader is asked");
	if (is_too_soon(ask))
		return err_set(err, -EBUSY, "readers were late with too many files of its owner");
	if (pauses(ask))
		return err_set(err, -EAGAIN, "readers have waited for slow disks long enough");
	if (ask->generation && ask->generation != reader_pool_generation(ask->owner))
		return err_set(err, -ESTALE, "its reader has gone");
	lane = reader_pool_get(readers.trade, ask->owner);
	lane_set_len(lane, atomic_load(&readers.memory_bytes));
	call = lane_begin(lane);
	if (!call)
		return err_set(err, -ECHILD, "there is no reader");
	/* It may just have been found dead. */
	if (ask->generation && ask->generation != lane_generation(lane))
		return err_set(err, -ESTALE, "its reader has gone");
	fill_in(call, ask);
	room_ns = set_patience(lane, ask);
	result = lane_call(lane, ask->fd, &fd);
	note_waited(lane, ask, result, room_ns);
	atomic_fetch_add(&readers.cpu_ns, lane_take_cpu(lane));
	reader_pool_show(lane);
	return take_answer(lane, ask, result, err);
}

int reader_build_id(int fd, uint64_t owner, char ret_hex[BUILD_ID_BYTES])
{
	const struct reader_ask ask = { .op = READER_BUILD_ID,
					.fd = fd,
					.owner = owner,
					.answer = ret_hex,
					.answer_len = BUILD_ID_BYTES };
	struct err err;

	if (reader_call(&ask, &err) <= 0)
		return -ENODATA;
	ret_hex[BUILD_ID_BYTES - 1] = '\0';
	return 0;
}

/* All that libiberty looks at begins so: _Z, _R, _GLOBAL_. */
bool reader_may_demangle(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'G');
}

char *reader_demangle(const char *name, uint64_t owner, bool *ret_cpp, bool *ret_late)
{
	static struct thread_scratch scratch;
	size_t len = strnlen(name, DEMANGLE_MAX_MANGLED + 1);
	struct reader_ask ask = { .op = READER_DEMANGLE,
				  .fd = -1,
				  .owner = owner,
				  .data = name,
				  .data_len = len + 1,
				  .answer_len = READER_NAME_BYTES };
	struct reader_name *answer;
	struct err err;
	int64_t r;

	*ret_cpp = *ret_late = false;
	if (!reader_may_demangle(name) || len > DEMANGLE_MAX_MANGLED)
		return NULL;
	ask.answer = answer = thread_scratch_get(&scratch, READER_NAME_BYTES);
	answer->text[0] = '\0';
	r = reader_call(&ask, &err);
	*ret_late = reader_has_gone(r);
	((char *)answer)[READER_NAME_BYTES - 1] = '\0';
	if (r < 0 || !answer->text[0])
		return NULL;
	*ret_cpp = answer->cpp != 0;
	return xstrdup(answer->text);
}

/* --- figures ---------------------------------------------------------------------------------- */

void reader_note_refused(const char *path)
{
	pthread_mutex_lock(&readers.lock);
	if (!readers.figures.refused++)
		snprintf(readers.figures.first, sizeof(readers.figures.first), "%s", path);
	pthread_mutex_unlock(&readers.lock);
}

void reader_get_figures(struct reader_figures *ret_figures)
{
	pthread_mutex_lock(&readers.lock);
	*ret_figures = readers.figures;
	pthread_mutex_unlock(&readers.lock);
	ret_figures->cpu_ns = atomic_load(&readers.cpu_ns);
}

uint64_t reader_resident_bytes(void)
{
	return reader_pool_resident_bytes();
}
