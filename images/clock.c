/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The guest's clock: what it is worth, timed regions, sleeps and the dither before a repeat. */
#include "guest.h"

#include <string.h>
#include <time.h>

const char *clock_source(void)
{
	return read_word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

/*
 * x86 starts on "tsc-early" and goes over to "tsc" a second later: not in the middle of a repeat. Without sysfs there
 * is nothing to see, and nothing is waited for.
 */
void clock_wait_until_final(void)
{
	for (int second = 0; second < 3; second++) {
		const char *source = clock_source();

		if (!source || !strstr(source, "-early"))
			return;
		sleep_ns(NSEC_PER_SEC);
	}
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* 0 if the kernel does not say: then there is no dither and no pause */
uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return 0;
	return (uint64_t)tick.tv_sec * NSEC_PER_SEC + (uint64_t)tick.tv_nsec;
}

/* Seen, not asked for: clock_getres() says 1 ns for a clock that moves once a tick as well. */
uint64_t clock_resolution_ns(void)
{
	static uint64_t smallest;

	for (int step = 0; step < 8 && !(step == 0 && smallest); step++) {
		uint64_t before = now_ns(), after = before;

		while (after == before)
			after = now_ns();
		if (!smallest || after - before < smallest)
			smallest = after - before;
	}
	return smallest;
}

uint64_t clock_overhead_ns(void)
{
	enum { READINGS = 1000 };
	uint64_t start = now_ns();

	for (int i = 0; i < READINGS; i++)
		now_ns();
	return (now_ns() - start) / READINGS;
}

void sleep_ns(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* for the dither: x86 on the virtual clock has no timers finer than a tick, so a sleep would always end on one */
void spin_ns(uint64_t ns)
{
	uint64_t start = now_ns();

	while (now_ns() - start < ns)
		;
}

/*
 * Uniform over one tick. Made from the seed, the benchmark's name and the index alone, so it does not depend on what
 * else the boot runs.
 */
uint64_t dither_ns(uint64_t seed, const char *name, long index)
{
	uint64_t tick = tick_ns(), hash = 0xcbf29ce484222325;

	/* FNV-1a over the name, then splitmix64 to spread the bits */
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	hash += seed * 0xbf58476d1ce4e5b9 + (uint64_t)index * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
	hash ^= hash >> 31;
	return tick ? hash % tick : 0;
}

void region_begin(struct repeat *repeat)
{
	repeat->started_ns = now_ns();
}

void region_end(struct repeat *repeat)
{
	repeat->elapsed_ns += now_ns() - repeat->started_ns;
}
