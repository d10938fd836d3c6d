/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: threads SECONDS
 * Two threads that stay (thread_long -> thread_work) and one that is made anew for each 3 ms of
 * work (thread_short -> thread_work) while main -> make_threads waits for it.
 */
#include "known.h"

#include <pthread.h>

static uint64_t end_ns;

KNOWN static void thread_work(uint64_t rounds)
{
	known_spin(rounds);
}

KNOWN static void *thread_long(void *unused)
{
	while (known_goes_on(end_ns))
		thread_work(1000000);
	return unused;
}

KNOWN static void *thread_short(void *unused)
{
	thread_work(3000000);
	return unused;
}

KNOWN static void make_threads(void)
{
	pthread_t thread;

	while (known_goes_on(end_ns)) {
		if (pthread_create(&thread, NULL, thread_short, NULL) == 0)
			pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	end_ns = known_end_ns(argc, argv);
	puts("ready");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread_long, NULL);
	make_threads();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return known_done();
}
