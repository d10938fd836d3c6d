// SPDX-License-Identifier: Apache-2.0
#include "wall/trade.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "wall/futex.h"
#include "wall/pass_fd.h"

/* Of quick calls each so many'th says what was used: to find out takes as long as some of them. */
#define NOTE_EVERY 64

static void note_cpu(struct wall_call *call)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	call->cpu_ns = (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
}

static void answer(const struct trade *trade, struct wall_call *call, int socket)
{
	int64_t result;
	_cleanup_close_ int given = trade->takes_file(call->op) ? pass_fd_receive(socket) : -1;
	_cleanup_close_ int fd = -1;
	int r;

	result = trade->carry_out(call, given, &fd);
	if (fd >= 0 && !atomic_load(&call->abandoned)) {
		r = pass_fds_send(socket, 0, &fd, 1);
		if (r < 0)
			result = r;
	}
	call->result = result;
	if (!trade->is_quick(call->op) || atomic_load(&call->asked) % NOTE_EVERY == 0)
		note_cpu(call);
}

/* For who asks awake there is an answer at once; before a pause is the time for the books. */
static void wait_for_call(struct wall_call *call, uint32_t answered, uint64_t spin_ns)
{
	if (atomic_load(&call->spins) && futex_spin(&call->asked, answered, spin_ns, &call->rests))
		return;
	note_cpu(call);
	futex_sleep(&call->asked, answered, &call->broker_sleeps, NULL);
}

void trade_serve(const struct trade *trade, int call_fd, int socket)
{
	struct wall_call *call =
		mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED, call_fd, 0);
	uint32_t pid = (uint32_t)getpid();
	uint64_t spin_ns = WALL_SPIN_NS, begin_ns = clock_now_ns();

	if (call == MAP_FAILED) /* NOLINT: the kernel's value */
		return;
	if (trade->is_hostile)
		close(call_fd);
	trade->give_up_rights(call);
	/* Now it may be asked. */
	atomic_store(&call->broker, pid);
	if (trade->is_hostile)
		futex_wake(&call->broker);
	while (!atomic_load(&call->abandoned)) {
		uint32_t answered = atomic_load(&call->answered);

		if (atomic_load(&call->asked) == answered) {
			wait_for_call(call, answered, spin_ns);
			continue;
		}
		spin_ns = futex_next_spin_ns(spin_ns, clock_now_ns() - begin_ns, WALL_SPIN_NS);
		answer(trade, call, socket);
		begin_ns = clock_now_ns();
		atomic_store(&call->answered, answered + 1);
		if (atomic_load(&call->asker_sleeps))
			futex_wake(&call->answered);
	}
}
