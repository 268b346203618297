/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the parts of the guest know of each other. docs/protocol.md describes what goes in and out.
 *
 * A new benchmark is one file bench/NAME.c that defines a struct benchmark with BENCHMARK(), and its entry in
 * bench/NAME.yaml: docs/benchmarks.md.
 */
#ifndef NSPATCH_GUEST_H
#define NSPATCH_GUEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL 1
#define MAX_PARAMETERS 4
#define NSEC_PER_SEC 1000000000ULL

/* the failure classes of the protocol */
enum class { CLASS_USAGE, CLASS_CALL, CLASS_ENOSPC, CLASS_COUNT, CLASS_CLOCK, CLASS_DRAIN };

/* what a benchmark leaves behind to be freed late; bits */
enum leftover { LEAVES_IPC = 1, LEAVES_MNT = 2, LEAVES_NET = 4, LEAVES_USER = 8, LEAVES_KINDS = 4 };

struct failure {
	bool set;
	enum class class;
	int error;
	char call[48];
	char detail[160];
};

/* One repeat, in a page that the process which runs it shares with init and with its own children. */
struct repeat {
	struct failure failure;
	bool finished;
	uint64_t elapsed_ns;
	uint64_t started_ns;
	uint64_t finished_ns;
	long operations;
	long done;
	long parameters[MAX_PARAMETERS];
};

struct parameter {
	const char *name;
	long value, min, max;
};

struct benchmark {
	const char *name;
	unsigned int leaves;
	/* operations must be a multiple of this; 0 counts as 1 */
	long multiple;
	struct parameter parameters[MAX_PARAMETERS];
	/* runs repeat->operations operations in a process of its own; counts in repeat->done those it has checked */
	int (*run)(struct repeat *repeat);
};

/* pointers in a section of their own: the linker gathers them, so no list has to be kept */
#define BENCHMARK(variable)                                                                                       \
	static const struct benchmark variable;                                                                   \
	static const struct benchmark *const variable##_entry __attribute__((used, section("benchmarks"))) = &variable; \
	static const struct benchmark variable

/* plan.c: one benchmark as asked for on the kernel command line */
struct job {
	const struct benchmark *benchmark;
	char name[48];
	long operations, repeats, warmups;
	long parameters[MAX_PARAMETERS];
	struct failure failure;
};

struct plan {
	char results[64];
	uint64_t seed;
	/* a prompt is asked for, in place of all the rest */
	bool shell;
	int jobs;
	struct job job[32];
	struct failure failure;
};

void plan_read(struct plan *plan);
/* the benchmarks of a plan's text, which is cut into pieces */
void plan_parse(struct plan *plan, char *text);
/* NULL behind the last one */
const struct benchmark *benchmark_at(int index);

/* report.c: records, gathered in memory until report_flush() */
void report_begin(const char *kind);
void report_number(const char *key, int64_t value);
void report_fact(const char *key, int64_t value); /* a negative value is null */
void report_bool(const char *key, bool value);
void report_text(const char *key, const char *value); /* NULL is null */
void report_object(const char *key);
void report_object_end(void);
void report_end(void);
void report_failure(const char *benchmark, const struct failure *failure);
int report_open(const char *path);
void report_to(int file);
int report_flush(void);
int report_finish(void);

/* failure.c: all of these return -1, to be returned on; only the first failure is kept */
int fail_call(struct failure *failure, const char *call, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int fail(struct failure *failure, enum class class, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* clock.c */
const char *clock_source(void);
void clock_wait_until_final(void);
uint64_t now_ns(void);
uint64_t tick_ns(void);
uint64_t clock_resolution_ns(void);
uint64_t clock_overhead_ns(void);
void sleep_ns(uint64_t ns);
void spin_ns(uint64_t ns);
uint64_t dither_ns(uint64_t seed, const char *name, long index);
/* a timed region; a repeat may have several, their times add up */
void region_begin(struct repeat *repeat);
void region_end(struct repeat *repeat);

/* facts.c */
void report_facts(uint64_t seed);

/* kernel.c: what /proc and /sys say; negative or NULL where they do not */
int64_t read_number(const char *path);
const char *read_word(const char *path);
int write_number(const char *path, int64_t value);
int64_t meminfo_kib(const char *field);
/* number that names the namespace of this process, or 0 */
uint64_t namespace_id(const char *kind);

/* drain.c */
const char *drain_method(void);
void drain_prepare(void);
int drain(unsigned int leaves, uint64_t *gone_ns, struct failure *failure);
void settle(void);
/* the limits that a drain changes, to be put back after one that was cut short */
void drain_save(void);
void drain_restore(void);

/* child.c: forks, runs body, waits; fails unless the body returned 0 */
int run_child(struct repeat *repeat, int (*body)(struct repeat *repeat));

/* run.c */
void run_job(struct job *job, uint64_t seed);

/* shell.c: commands from standard input; and the same on the console's own terminal, in a process of its own */
void shell(uint64_t seed);
void shell_on_console(uint64_t seed);

#endif
