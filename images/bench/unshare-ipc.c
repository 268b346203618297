/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patch 002: a process moves from one IPC namespace into the next, so each call but the first gives one up. */
#define _GNU_SOURCE
#include "../guest.h"

#include <sched.h>

static int check(struct repeat *repeat, uint64_t before)
{
	uint64_t now = namespace_id("ipc");

	if (now && now != before)
		return 0;
	return fail(&repeat->failure, CLASS_COUNT, "same IPC namespace after operation %ld", repeat->done);
}

static int unshare_times(struct repeat *repeat, long times)
{
	uint64_t before = namespace_id("ipc");

	region_begin(repeat);
	for (long i = 0; i < times; i++, repeat->done++) {
		if (unshare(CLONE_NEWIPC))
			return fail_call(&repeat->failure, "unshare", "operation %ld of %ld", repeat->done,
					 repeat->operations);
	}
	region_end(repeat);
	return check(repeat, before);
}

static int run(struct repeat *repeat)
{
	/* the namespace is looked at after the first call and after the last, outside of the timed regions */
	if (unshare_times(repeat, 1))
		return -1;
	return repeat->operations > 1 ? unshare_times(repeat, repeat->operations - 1) : 0;
}

BENCHMARK(unshare_ipc) = {
	.name = "unshare-ipc",
	.leaves = LEAVES_IPC,
	.run = run,
};
