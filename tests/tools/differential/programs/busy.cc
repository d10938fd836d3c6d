// SPDX-License-Identifier: Apache-2.0
// Busy with throwing, through frames with and without something to clean up.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

static volatile unsigned long sink;

struct guard {
	std::string text;
	explicit guard(int n) : text(static_cast<size_t>(n), 'x') {}
	~guard() { sink += text.size(); }
};

__attribute__((noinline)) static int thrower(int depth)
{
	guard g(depth + 20);

	if (depth == 0)
		throw std::runtime_error("thrown");
	return thrower(depth - 1) + static_cast<int>(sink & 1);
}

__attribute__((noinline)) static int rethrower(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::logic_error &) {
		return 1;
	} catch (...) {
		throw;
	}
}

static double now()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return static_cast<double>(ts.tv_sec) + static_cast<double>(ts.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 2);

	while (now() < end) {
		try {
			sink += static_cast<unsigned long>(rethrower(20));
		} catch (const std::exception &e) {
			sink += e.what()[0];
		}
	}
	printf("%lu\n", sink);
}
