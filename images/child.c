/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "guest.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The child tells why it failed through the repeat, which it shares; its exit status tells that it did not. It leaves
 * with _exit(): nothing of this process's may be flushed twice.
 */
int run_child(struct repeat *repeat, int (*body)(struct repeat *repeat))
{
	int status;
	pid_t child = fork();

	if (child < 0)
		return fail_call(&repeat->failure, "fork", "operation %ld", repeat->done);
	if (child == 0)
		_exit(body(repeat) ? 1 : 0);
	while (waitpid(child, &status, 0) != child) {
		if (errno != EINTR)
			return fail_call(&repeat->failure, "waitpid", "operation %ld", repeat->done);
	}
	if (WIFSIGNALED(status))
		return fail(&repeat->failure, CLASS_COUNT, "child killed by signal %d in operation %ld",
			    WTERMSIG(status), repeat->done);
	if (WEXITSTATUS(status))
		return fail(&repeat->failure, CLASS_COUNT, "child ended with status %d in operation %ld",
			    WEXITSTATUS(status), repeat->done);
	return 0;
}
