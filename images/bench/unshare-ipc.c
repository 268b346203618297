/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patch 002: a process moves from one IPC namespace into the next, so each call but the first gives one up. */
#define _GNU_SOURCE
#include "../guest.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static int unshare_ipc_once(struct repeat *repeat)
{
	if (unshare(CLONE_NEWIPC))
		return fail_call(&repeat->failure, "unshare", "operation %ld of %ld", repeat->done, repeat->operations);
	return 0;
}

/*
 * The call really leads into another namespace; not timed, and not counted. The one before is held meanwhile, as the
 * number of one that is gone may be given to the next.
 */
static int check(struct repeat *repeat)
{
	int held = open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC);
	uint64_t before = namespace_id("ipc"), now;

	if (held < 0)
		return fail_call(&repeat->failure, "open", "/proc/self/ns/ipc");
	if (unshare_ipc_once(repeat))
		return -1;
	now = namespace_id("ipc");
	close(held);
	if (now && now != before)
		return 0;
	return fail(&repeat->failure, CLASS_COUNT, "same IPC namespace after operation %ld", repeat->done);
}

static int run(struct repeat *repeat)
{
	if (check(repeat))
		return -1;
	region_begin(repeat);
	for (; repeat->done < repeat->operations; repeat->done++) {
		if (unshare_ipc_once(repeat))
			return -1;
	}
	region_end(repeat);
	return check(repeat);
}

BENCHMARK(unshare_ipc) = {
	.name = "unshare-ipc",
	.leaves = LEAVES_IPC,
	.run = run,
};
