/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Patch 003: a process goes back and forth between two network namespaces. A round is four calls of setns: into each
 * to open a socket, then into each to close it.
 */
#define _GNU_SOURCE
#include "../guest.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Sockets are freed after a grace period. Over a long stretch one batch of these more or less falls into the time, by
 * chance 3 %; so the time is taken in stretches that are over before a grace period is.
 */
#define ROUNDS_AT_ONCE 500

static int spaces[2];
static uint64_t ids[2];

static int make_space(struct repeat *repeat, int which)
{
	if (unshare(CLONE_NEWNET))
		return fail_call(&repeat->failure, "unshare", "network namespace %d", which);
	spaces[which] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (spaces[which] < 0)
		return fail_call(&repeat->failure, "open", "/proc/self/ns/net");
	ids[which] = namespace_id("net");
	return 0;
}

static int enter(struct repeat *repeat, int which)
{
	if (setns(spaces[which], CLONE_NEWNET))
		return fail_call(&repeat->failure, "setns", "operation %ld of %ld", repeat->done, repeat->operations);
	repeat->done++;
	return 0;
}

static int round_trip(struct repeat *repeat)
{
	int sockets[2];

	for (int i = 0; i < 2; i++) {
		if (enter(repeat, i))
			return -1;
		sockets[i] = socket(AF_UNIX, SOCK_DGRAM, 0);
		if (sockets[i] < 0)
			return fail_call(&repeat->failure, "socket", "operation %ld", repeat->done);
	}
	for (int i = 0; i < 2; i++) {
		if (enter(repeat, i))
			return -1;
		if (close(sockets[i]))
			return fail_call(&repeat->failure, "close", "operation %ld", repeat->done);
	}
	return 0;
}

/* each call really leads where it should; not timed, and not counted */
static int check(struct repeat *repeat)
{
	long done = repeat->done;

	for (int i = 0; i < 2; i++) {
		if (enter(repeat, i))
			return -1;
		if (!ids[i] || namespace_id("net") != ids[i] || ids[0] == ids[1])
			return fail(&repeat->failure, CLASS_COUNT, "not in network namespace %d", i);
	}
	repeat->done = done;
	return 0;
}

static int run(struct repeat *repeat)
{
	if (make_space(repeat, 0) || make_space(repeat, 1) || check(repeat))
		return -1;
	while (repeat->done < repeat->operations) {
		settle();
		region_begin(repeat);
		for (int i = 0; i < ROUNDS_AT_ONCE && repeat->done < repeat->operations; i++) {
			if (round_trip(repeat))
				return -1;
		}
		region_end(repeat);
	}
	if (namespace_id("net") != ids[1])
		return fail(&repeat->failure, CLASS_COUNT, "not in the second network namespace at the end");
	return check(repeat);
}

BENCHMARK(setns_net) = {
	.name = "setns-net",
	.leaves = LEAVES_NET,
	.multiple = 4,
	.run = run,
};
