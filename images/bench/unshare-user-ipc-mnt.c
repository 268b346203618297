/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Patch 004: processes that each live alone in a user, an IPC and a mount namespace, one after the other. Each of them
 * copies all mounts of the namespace that it leaves: the parameter says how many there are beside the usual ones.
 */
#define _GNU_SOURCE
#include "../guest.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

static const char *const kinds[] = { "user", "ipc", "mnt" };
static uint64_t before[3];

/* mounts in this process's namespace: lines of mountinfo; -1 if it cannot be read */
static long count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "r");
	long count = 0;
	int c;

	if (!file)
		return -1;
	while ((c = getc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

/* the first mount holds the places of the others, so that all of it goes with the namespace */
static int add_mount(struct repeat *repeat, long index)
{
	char place[32] = "/mnt";

	if (index == 0) {
		if (mount("nspatch", place, "tmpfs", 0, NULL))
			return fail_call(&repeat->failure, "mount", "tmpfs on %s", place);
		return 0;
	}
	snprintf(place, sizeof(place), "/mnt/%ld", index);
	if (mkdir(place, 0755))
		return fail_call(&repeat->failure, "mkdir", "%s", place);
	if (mount(place, place, NULL, MS_BIND, NULL))
		return fail_call(&repeat->failure, "mount", "%s on itself", place);
	return 0;
}

/*
 * The mounts that the children copy, in a namespace of this repeat's own and without propagation. Without any more of
 * them as well: else a row of several numbers would have one point that was measured otherwise.
 */
static int prepare_mounts(struct repeat *repeat)
{
	long wanted = repeat->parameters[0], usual, count;

	if (unshare(CLONE_NEWNS))
		return fail_call(&repeat->failure, "unshare", "mount namespace of the repeat");
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return fail_call(&repeat->failure, "mount", "private /");
	usual = count_mounts();
	for (long i = 0; i < wanted; i++) {
		if (add_mount(repeat, i))
			return -1;
	}
	count = count_mounts();
	if (usual < 0 || count < 0)
		return fail_call(&repeat->failure, "fopen", "/proc/self/mountinfo");
	if (count != usual + wanted)
		return fail(&repeat->failure, CLASS_COUNT, "%ld mounts beside %ld, not %ld", count - usual, usual,
			    wanted);
	return 0;
}

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

static int run(struct repeat *repeat)
{
	if (prepare_mounts(repeat))
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
