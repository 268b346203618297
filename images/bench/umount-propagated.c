/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Patch 001: the lazy umount of a tree of mounts that all propagate to each other. Binding a directory of a shared
 * mount onto itself doubles the tree each time. Only the umount is timed.
 */
#define _GNU_SOURCE
#include "../guest.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* mounts at or under /mnt/1, from mountinfo: the fifth word of a line is the place; -1 if it cannot be read */
static long count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "r");
	char line[512], place[256];
	long count = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %*s %*s %255s", place) == 1 && strncmp(place, "/mnt/1", 6) == 0)
			count++;
	}
	fclose(file);
	return count;
}

static int mount_checked(struct repeat *repeat, const char *source, const char *target, unsigned long flags)
{
	const char *type = flags & (MS_BIND | MS_SHARED | MS_PRIVATE) ? NULL : "tmpfs";

	if (mount(source, target, type, flags, NULL))
		return fail_call(&repeat->failure, "mount", "%s on %s, flags %#lx", source, target, flags);
	return 0;
}

static int make_directory(struct repeat *repeat, const char *path)
{
	return mkdir(path, 0755) ? fail_call(&repeat->failure, "mkdir", "%s", path) : 0;
}

/* in a mount namespace of its own, so that nothing of an earlier tree is there */
static int build_tree(struct repeat *repeat)
{
	if (unshare(CLONE_NEWNS))
		return fail_call(&repeat->failure, "unshare", "operation %ld", repeat->done);
	if (mount_checked(repeat, "none", "/", MS_REC | MS_PRIVATE) ||
	    mount_checked(repeat, "nspatch", "/mnt", 0) || make_directory(repeat, "/mnt/1") ||
	    mount_checked(repeat, "nspatch", "/mnt/1", 0) || mount_checked(repeat, "none", "/mnt/1", MS_SHARED) ||
	    make_directory(repeat, "/mnt/1/1"))
		return -1;
	for (long i = 0; i < repeat->parameters[0]; i++) {
		if (mount_checked(repeat, "/mnt/1/1", "/mnt/1/1", MS_BIND))
			return -1;
	}
	return 0;
}

static int expect_mounts(struct repeat *repeat, const char *when, long expected)
{
	long count = count_mounts();

	if (count < 0)
		return fail_call(&repeat->failure, "fopen", "/proc/self/mountinfo");
	if (count != expected)
		return fail(&repeat->failure, CLASS_COUNT, "%ld mounts %s the umount, not %ld", count, when, expected);
	return 0;
}

static int run(struct repeat *repeat)
{
	for (; repeat->done < repeat->operations; repeat->done++) {
		int failed;

		if (build_tree(repeat) || expect_mounts(repeat, "before", 1L << repeat->parameters[0]))
			return -1;
		/* the mounts of the operation before are freed by now */
		settle();
		region_begin(repeat);
		failed = umount2("/mnt/1", MNT_DETACH);
		region_end(repeat);
		if (failed)
			return fail_call(&repeat->failure, "umount2", "operation %ld", repeat->done);
		if (expect_mounts(repeat, "after", 0))
			return -1;
	}
	return 0;
}

BENCHMARK(umount_propagated) = {
	.name = "umount-propagated",
	.leaves = LEAVES_MNT,
	.parameters = { { "n", 10, 1, 15 } },
	.run = run,
};
