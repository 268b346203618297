/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Waits until what a repeat left behind has really been freed.
 *
 * The kernel counts each user's namespaces until they are gone, so a limit of just what lives at rest lets a new one be
 * made only then. From 6.3 on an unshare of IPC at its limit waits for the kernel's worker by itself; all else fails
 * with ENOSPC and is tried again. Kernels before 4.9 have no such limits: there, memory that does not get freed any
 * more has to do.
 */
#define _GNU_SOURCE
#include "guest.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_LIMIT_NS (120 * NSEC_PER_SEC)
#define MEMBARRIER_GLOBAL 1

static struct kind {
	unsigned int leaves;
	int flag;
	const char *name, *path;
	/* smallest limit under which one more can be made at rest; 0: no such limit here */
	int64_t at_rest;
	/* limit to be put back by drain_restore() */
	int64_t usual;
} kinds[LEAVES_KINDS] = {
	{ LEAVES_IPC, CLONE_NEWIPC, "ipc", "/proc/sys/user/max_ipc_namespaces", 0, 0 },
	{ LEAVES_MNT, CLONE_NEWNS, "mnt", "/proc/sys/user/max_mnt_namespaces", 0, 0 },
	{ LEAVES_NET, CLONE_NEWNET, "net", "/proc/sys/user/max_net_namespaces", 0, 0 },
	{ LEAVES_USER, CLONE_NEWUSER, "user", "/proc/sys/user/max_user_namespaces", 0, 0 },
};

/* errno of making one namespace in a process that ends with it */
static int probe(int flag)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(flag) ? errno : 0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* lets grace periods that have begun end, and their callbacks run */
void settle(void)
{
	/* fails on kernels without it, and then the sleep alone has to do */
	syscall(SYS_membarrier, MEMBARRIER_GLOBAL, 0, 0);
	sleep_ns(8 * tick_ns());
}

void drain_prepare(void)
{
	for (struct kind *kind = kinds; kind < kinds + LEAVES_KINDS; kind++) {
		int64_t usual = read_number(kind->path);

		if (usual < 0)
			continue;
		for (int64_t limit = 1; limit <= 8 && !kind->at_rest; limit++) {
			if (write_number(kind->path, limit))
				break;
			if (probe(kind->flag) == 0)
				kind->at_rest = limit;
			settle();
		}
		write_number(kind->path, usual);
	}
}

void drain_save(void)
{
	for (struct kind *kind = kinds; kind < kinds + LEAVES_KINDS; kind++)
		kind->usual = read_number(kind->path);
}

void drain_restore(void)
{
	for (struct kind *kind = kinds; kind < kinds + LEAVES_KINDS; kind++) {
		if (kind->usual >= 0)
			write_number(kind->path, kind->usual);
	}
}

const char *drain_method(void)
{
	return kinds[0].at_rest ? "ucount" : "memory";
}

static int drain_counted(struct kind *kind, struct failure *failure)
{
	uint64_t deadline = now_ns() + DRAIN_LIMIT_NS;
	int64_t usual = read_number(kind->path);
	int error;

	if (usual < 0 || write_number(kind->path, kind->at_rest))
		return fail_call(failure, "write", "%s", kind->path);
	while ((error = probe(kind->flag)) == ENOSPC && now_ns() < deadline)
		sleep_ns(tick_ns());
	if (write_number(kind->path, usual))
		return fail_call(failure, "write", "%s", kind->path);
	if (error == ENOSPC)
		return fail(failure, CLASS_DRAIN, "%s namespaces are still there after 120 s", kind->name);
	errno = error;
	return error ? fail_call(failure, "unshare", "probe of %s namespaces", kind->name) : 0;
}

/* over when memory has not grown for longer than a few grace periods take; those frees come one a grace period */
static int drain_by_memory(uint64_t *gone_ns, struct failure *failure)
{
	enum { QUIET_TICKS = 48 };
	uint64_t deadline = now_ns() + DRAIN_LIMIT_NS;
	int64_t least = meminfo_kib("\nSUnreclaim:");

	for (int quiet = 0; quiet < QUIET_TICKS; quiet++) {
		int64_t in_use;

		sleep_ns(tick_ns());
		in_use = meminfo_kib("\nSUnreclaim:");
		if (in_use < least) {
			least = in_use;
			quiet = 0;
			*gone_ns = now_ns();
		}
		if (now_ns() > deadline)
			return fail(failure, CLASS_DRAIN, "kernel memory still shrinks after 120 s");
	}
	return 0;
}

int drain(unsigned int leaves, uint64_t *gone_ns, struct failure *failure)
{
	bool by_memory = false;

	for (struct kind *kind = kinds; kind < kinds + LEAVES_KINDS; kind++) {
		if (!(leaves & kind->leaves))
			continue;
		if (!kind->at_rest)
			by_memory = true;
		else if (drain_counted(kind, failure))
			return -1;
	}
	*gone_ns = now_ns();
	return by_memory ? drain_by_memory(gone_ns, failure) : 0;
}
