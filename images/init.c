/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The guest's one program: process 1. It runs the boot plan, reports, and restarts the machine, which ends QEMU. */
#define _GNU_SOURCE
#include "guest.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>

/* Markers that the boot stage looks for, and words on why there are no results. */
static void say(const char *what)
{
	dprintf(STDOUT_FILENO, "nspatch: %s\n", what);
}

static void say_error(const char *what)
{
	dprintf(STDOUT_FILENO, "nspatch: %s: %s\n", what, strerror(errno));
}

/* Restart and not power off: it needs no ACPI on x86, and with -no-reboot it ends QEMU on every architecture. */
static void stop(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	say_error("restart");
	for (;;)
		pause();
}

/* the kernel opens /dev/console for init, unless the initramfs lacks it */
static void open_console(void)
{
	int console = open("/dev/console", O_RDWR | O_NOCTTY);

	for (int i = 0; i <= STDERR_FILENO && console >= 0; i++)
		dup2(console, i);
}

static int mount_all(void)
{
	/* without sysfs some facts are missing, no more */
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		say_error("mount /sys");
	return mount("proc", "/proc", "proc", 0, NULL);
}

static void run_plan(struct plan *plan)
{
	clock_wait_until_final();
	drain_prepare();
	report_begin("hello");
	report_number("protocol", PROTOCOL);
	report_end();
	report_facts(plan->seed);
	for (int i = 0; i < plan->jobs; i++) {
		run_job(&plan->job[i], plan->seed);
		if (report_flush())
			say_error("write results");
	}
	if (plan->failure.set)
		report_failure(NULL, &plan->failure);
	if (report_finish())
		say_error("write results");
	else
		say("end");
}

int main(void)
{
	static struct plan plan;

	open_console();
	say("init");
	if (mount_all()) {
		say_error("mount /proc");
		stop();
	}
	plan_read(&plan);
	if (plan.shell) {
		shell_on_console(plan.seed);
		say("shell over");
		stop();
	}
	if (report_open(plan.results)) {
		say_error("open results");
		stop();
	}
	run_plan(&plan);
	stop();
}
