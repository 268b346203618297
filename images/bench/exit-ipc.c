/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patch 000: processes that each end alone in an IPC namespace of their own, one after the other. */
#define _GNU_SOURCE
#include "../guest.h"

#include <sched.h>
#include <unistd.h>

static uint64_t parent_namespace;

static int child(struct repeat *repeat)
{
	if (unshare(CLONE_NEWIPC))
		return fail_call(&repeat->failure, "unshare", "operation %ld of %ld", repeat->done,
				 repeat->operations);
	/* looked at in the first and the last child only: it is inside the timed region */
	if (repeat->done != 0 && repeat->done != repeat->operations - 1)
		return 0;
	if (namespace_id("ipc") == parent_namespace)
		return fail(&repeat->failure, CLASS_COUNT, "same IPC namespace in operation %ld", repeat->done);
	return 0;
}

static int run(struct repeat *repeat)
{
	parent_namespace = namespace_id("ipc");
	if (!parent_namespace)
		return fail_call(&repeat->failure, "stat", "/proc/self/ns/ipc");
	region_begin(repeat);
	for (; repeat->done < repeat->operations; repeat->done++) {
		if (run_child(repeat, child))
			return -1;
	}
	region_end(repeat);
	return 0;
}

BENCHMARK(exit_ipc) = {
	.name = "exit-ipc",
	.leaves = LEAVES_IPC,
	.run = run,
};
