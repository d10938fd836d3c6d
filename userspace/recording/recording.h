/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording: a JFR file in chunks, written from a profile's tables and samples and read back
 * into a profile. Format: src/jdk.jfr/share/classes/jdk/jfr/internal (JDK 17, 25). Memory stays
 * bounded: a flush writes what is new since the last one and takes the samples out of the profile;
 * when a chunk has grown past its limit the writer asks for a rotation.
 */
#ifndef HOSTPROF_RECORDING_RECORDING_H
#define HOSTPROF_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "profile/profile.h"

struct recording_writer;

/* FD is borrowed and must be seekable; the writer appends from its current end. */
int recording_writer_new(int fd, struct recording_writer **ret_writer, struct err *err);
void recording_writer_free(struct recording_writer *writer);
DEFINE_CLEANUP(struct recording_writer *, recording_writer_free);

/* How large and how long a chunk becomes before the writer asks for a rotation; 0: as it is. */
void recording_writer_limit_chunks(struct recording_writer *writer, uint64_t bytes, uint64_t ns);

/*
 * Append the table entries that are new since the last flush and all samples; profile->samples is
 * emptied. After it returned 0 the file is readable up to here, whatever happens next; or there is no room
 * on its disk, and what is missing is held back for the next flush. Of what is held back for a minute, or
 * beyond 8 MiB, the samples are dropped and counted.
 */
int recording_writer_flush(struct recording_writer *writer, struct profile *profile,
			   struct err *err);

/* True when the chunk is long enough, or the tables that go with it are large enough, that the caller should rotate. */
bool recording_writer_wants_rotation(const struct recording_writer *writer);

/*
 * Flush, write the quality (readers add up that of all chunks), end the chunk, and let the next flush begin a new one with tables from their first entry:
 * the caller empties PROFILE's tables (profile_release, profile_init) and its caches of ids.
 */
int recording_writer_rotate(struct recording_writer *writer, struct profile *profile,
			    struct err *err);

/* What became of samples for which there was no room. */
struct recording_shortage {
	bool was_met;
	uint64_t dropped; /* samples */
};

void recording_writer_get_shortage(const struct recording_writer *writer,
				   struct recording_shortage *ret_shortage);

/* Write quality and counters (as events), end the last chunk. For room it waits a second. */
int recording_writer_finish(struct recording_writer *writer, struct profile *profile,
			    struct err *err);

struct recording_read_options {
	const char *event; /* only this event's samples; NULL: all */
	bool merge;	   /* add equal samples up (views) */
	bool no_wakers;	   /* then waits end with their reason, whoever has ended them */
	bool lock_owners;  /* when they are: who had a lock is a frame behind its class */
};

/*
 * Read a whole recording into PROFILE. A file that ends in the middle (kill -9, full disk) is read
 * up to its last flush and *ret_truncated is set. -EBADMSG: not a JFR file, or damaged inside.
 */
int recording_read(int fd, const struct recording_read_options *options, struct profile *profile,
		   bool *ret_truncated, struct err *err);

#endif
