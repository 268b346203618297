/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Patch 004: processes that each live alone in a user, an IPC and a mount namespace, one after the other. */
#define _GNU_SOURCE
#include "../guest.h"

#include <sched.h>
#include <sys/mount.h>

static const char *const kinds[] = { "user", "ipc", "mnt" };
static uint64_t before[3];

static int child(struct repeat *repeat)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWIPC | CLONE_NEWNS))
		return fail_call(&repeat->failure, "unshare", "operation %ld of %ld", repeat->done,
				 repeat->operations);
	/* looked at in the first and the last child only: it is inside the timed region */
	if (repeat->done != 0 && repeat->done != repeat->operations - 1)
		return 0;
	for (int i = 0; i < 3; i++) {
		if (namespace_id(kinds[i]) == before[i])
			return fail(&repeat->failure, CLASS_COUNT, "same %s namespace in operation %ld", kinds[i],
				    repeat->done);
	}
	return 0;
}

/* what each unshare of mounts has to copy, in a namespace that ends with the repeat */
static int add_mounts(struct repeat *repeat, long mounts)
{
	if (mounts == 0)
		return 0;
	if (unshare(CLONE_NEWNS))
		return fail_call(&repeat->failure, "unshare", "CLONE_NEWNS, for more mounts");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return fail_call(&repeat->failure, "mount", "/ private");
	for (long i = 0; i < mounts; i++) {
		if (mount("/mnt", "/mnt", NULL, MS_BIND, NULL))
			return fail_call(&repeat->failure, "mount", "%ld of %ld on /mnt", i, mounts);
	}
	return 0;
}

static int run(struct repeat *repeat)
{
	if (add_mounts(repeat, repeat->parameters[0]))
		return -1;
	for (int i = 0; i < 3; i++) {
		before[i] = namespace_id(kinds[i]);
		if (!before[i])
			return fail_call(&repeat->failure, "stat", "/proc/self/ns/%s", kinds[i]);
	}
	region_begin(repeat);
	for (; repeat->done < repeat->operations; repeat->done++) {
		if (run_child(repeat, child))
			return -1;
	}
	region_end(repeat);
	return 0;
}

BENCHMARK(unshare_user_ipc_mnt) = {
	.name = "unshare-user-ipc-mnt",
	.leaves = LEAVES_IPC | LEAVES_MNT | LEAVES_USER,
	.parameters = { { "mounts", 0, 0, 1000 } },
	.run = run,
};
