/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs one benchmark: warm-ups and repeats, each in a process of its own, with a full drain after each. */
#define _GNU_SOURCE
#include "guest.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* one step of the clock may be this small part of what was measured, or the number means nothing */
#define STEPS_WANTED 100
/* a repeat that takes this long says enough: where each operation waits, thousands of them would take minutes */
#define ENOUGH_NS 400000000ULL
/* where there are more than MANY, the first few tell how long the others will take */
#define MANY_OPERATIONS 100
#define PILOT_OPERATIONS 20
#define TRIALS 3

/* Never returns. What the process still holds dies with it, so no repeat inherits namespaces. */
static void repeat_process(const struct benchmark *benchmark, struct repeat *repeat, uint64_t dither)
{
	/* sleeps end when asked for, not up to 50 us later */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	spin_ns(dither);
	if (benchmark->run(repeat))
		_exit(1);
	if (repeat->done != repeat->operations) {
		fail(&repeat->failure, CLASS_COUNT, "%ld of %ld operations done", repeat->done, repeat->operations);
		_exit(1);
	}
	repeat->finished_ns = now_ns();
	repeat->finished = true;
	_exit(0);
}

static int check_clock(struct repeat *repeat)
{
	uint64_t step = clock_resolution_ns();

	if (repeat->elapsed_ns >= STEPS_WANTED * step)
		return 0;
	return fail(&repeat->failure, CLASS_CLOCK, "%llu ns measured with steps of %llu ns",
		    (unsigned long long)repeat->elapsed_ns, (unsigned long long)step);
}

static int run_repeat(const struct job *job, struct repeat *repeat, uint64_t dither)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return fail_call(&repeat->failure, "fork", "repeat");
	if (child == 0)
		repeat_process(job->benchmark, repeat, dither);
	while (waitpid(child, &status, 0) != child) {
		if (errno != EINTR)
			return fail_call(&repeat->failure, "waitpid", "repeat");
	}
	if (repeat->failure.set)
		return -1;
	if (!repeat->finished)
		return fail(&repeat->failure, CLASS_COUNT, "process of the repeat ended with wait status %#x", status);
	return 0;
}

/* one repeat from quiet to quiet; gone_ns is when all that it left behind was freed */
static int run_drained(const struct job *job, struct repeat *repeat, uint64_t dither, uint64_t *gone_ns)
{
	int failed;

	memset(repeat, 0, sizeof(*repeat));
	repeat->operations = job->operations;
	memcpy(repeat->parameters, job->parameters, sizeof(repeat->parameters));
	settle();
	failed = run_repeat(job, repeat, dither);
	/* after a failure as well: the next benchmark must not pay for it */
	failed |= drain(job->benchmark->leaves, gone_ns, &repeat->failure);
	return failed;
}

/* Operations of a repeat that say enough, by trying a few; or -1. */
static long enough_by_trial(const struct job *job, struct repeat *repeat, uint64_t dither)
{
	long multiple = job->benchmark->multiple ? job->benchmark->multiple : 1;
	struct job pilot = *job;
	uint64_t gone_ns, each_ns;

	pilot.operations = (PILOT_OPERATIONS + multiple - 1) / multiple * multiple;
	if (run_drained(&pilot, repeat, dither, &gone_ns))
		return -1;
	each_ns = repeat->elapsed_ns / (uint64_t)pilot.operations + 1;
	return ((long)(ENOUGH_NS / each_ns) / multiple + 1) * multiple;
}

/*
 * Asks for no more operations than say enough. A trial can only take too long, as all is cold in the first one, or as
 * the host was busy with something else: so what one says is believed when others do not say more.
 */
static int shorten(struct job *job, struct repeat *repeat, uint64_t dither)
{
	long most = 0;

	if (job->operations <= MANY_OPERATIONS)
		return 0;
	for (int trial = 0; trial < TRIALS && most < job->operations; trial++) {
		long enough = enough_by_trial(job, repeat, dither);

		if (enough < 0)
			return -1;
		if (enough > most)
			most = enough;
	}
	if (most < job->operations)
		job->operations = most;
	return 0;
}

static void report_repeat(const struct job *job, const struct repeat *repeat, long index, uint64_t dither,
			  uint64_t drained)
{
	report_begin("repeat");
	report_text("benchmark", job->name);
	report_number("index", index);
	report_bool("warmup", index < job->warmups);
	report_number("operations", repeat->done);
	report_number("elapsed_ns", (int64_t)repeat->elapsed_ns);
	report_number("dither_ns", (int64_t)dither);
	report_number("drain_ns", (int64_t)drained);
	report_end();
}

static int run_and_report(const struct job *job, struct repeat *repeat, uint64_t seed, long index)
{
	uint64_t dither = dither_ns(seed, job->name, index);
	uint64_t gone_ns = 0;
	int failed = run_drained(job, repeat, dither, &gone_ns) || check_clock(repeat);

	if (!failed)
		report_repeat(job, repeat, index, dither, gone_ns - repeat->finished_ns);
	return failed;
}

static void report_job(const struct job *job, uint64_t seed)
{
	report_begin("benchmark");
	report_text("name", job->name);
	report_object("parameters");
	for (int i = 0; i < MAX_PARAMETERS && job->benchmark->parameters[i].name; i++)
		report_number(job->benchmark->parameters[i].name, job->parameters[i]);
	report_object_end();
	report_number("operations", job->operations);
	report_number("repeats", job->repeats);
	report_number("warmups", job->warmups);
	report_number("seed", (int64_t)seed);
	report_end();
}

void run_job(struct job *job, uint64_t seed)
{
	struct repeat *repeat = mmap(NULL, sizeof(*repeat), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int64_t before = meminfo_kib("MemAvailable:");
	long index;

	if (repeat == MAP_FAILED && !job->failure.set)
		fail_call(&job->failure, "mmap", "shared page");
	if (job->failure.set) {
		report_failure(job->name, &job->failure);
		return;
	}
	if (shorten(job, repeat, dither_ns(seed, job->name, -1))) {
		report_failure(job->name, &repeat->failure);
		munmap(repeat, sizeof(*repeat));
		return;
	}
	report_job(job, seed);
	for (index = 0; index < job->warmups + job->repeats; index++) {
		if (run_and_report(job, repeat, seed, index)) {
			report_failure(job->name, &repeat->failure);
			munmap(repeat, sizeof(*repeat));
			return;
		}
	}
	munmap(repeat, sizeof(*repeat));
	report_begin("done");
	report_text("benchmark", job->name);
	report_number("repeats", index);
	report_text("drain", job->benchmark->leaves ? drain_method() : "none");
	report_fact("mem_available_before_kib", before);
	report_fact("mem_available_after_kib", meminfo_kib("MemAvailable:"));
	report_end();
}
