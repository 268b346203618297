/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reads the boot plan from the kernel command line. */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* set by the linker around the section that BENCHMARK() fills; weak, as there may be none */
extern const struct benchmark *const __start_benchmarks[] __attribute__((weak));
extern const struct benchmark *const __stop_benchmarks[] __attribute__((weak));

static const struct benchmark *find_benchmark(const char *name)
{
	for (const struct benchmark *const *entry = __start_benchmarks; entry < __stop_benchmarks; entry++) {
		if (strcmp((*entry)->name, name) == 0)
			return *entry;
	}
	return NULL;
}

const struct benchmark *benchmark_at(int index)
{
	return __start_benchmarks + index < __stop_benchmarks ? __start_benchmarks[index] : NULL;
}

static int set_number(struct job *job, const char *name, const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 10);
	if (errno || end == text || *end)
		return fail(&job->failure, CLASS_USAGE, "%s is no number", name);
	if (*value < min || *value > max)
		return fail(&job->failure, CLASS_USAGE, "%s must be from %ld to %ld", name, min, max);
	return 0;
}

static int set(struct job *job, char *setting)
{
	char *value = strchr(setting, '=');

	if (!value)
		return fail(&job->failure, CLASS_USAGE, "%s has no value", setting);
	*value++ = '\0';
	if (strcmp(setting, "operations") == 0)
		return set_number(job, setting, value, 1, 10000000, &job->operations);
	if (strcmp(setting, "repeats") == 0)
		return set_number(job, setting, value, 1, 100, &job->repeats);
	if (strcmp(setting, "warmups") == 0)
		return set_number(job, setting, value, 0, 100, &job->warmups);
	for (int i = 0; i < MAX_PARAMETERS && job->benchmark->parameters[i].name; i++) {
		const struct parameter *parameter = &job->benchmark->parameters[i];

		if (strcmp(setting, parameter->name) == 0)
			return set_number(job, setting, value, parameter->min, parameter->max, &job->parameters[i]);
	}
	return fail(&job->failure, CLASS_USAGE, "no parameter %s", setting);
}

static int read_job(struct job *job, char *text)
{
	char *rest, *setting = strtok_r(text, ":", &rest);

	/* what nspatch does not pass; the entry in bench/NAME.yaml holds the values for real use */
	job->operations = 100;
	job->repeats = 3;
	job->warmups = 1;
	snprintf(job->name, sizeof(job->name), "%s", setting ? setting : "");
	job->benchmark = find_benchmark(job->name);
	if (!job->benchmark)
		return fail(&job->failure, CLASS_USAGE, "no such benchmark");
	for (int i = 0; i < MAX_PARAMETERS; i++)
		job->parameters[i] = job->benchmark->parameters[i].value;
	while ((setting = strtok_r(NULL, ":", &rest))) {
		if (set(job, setting))
			return -1;
	}
	if (job->benchmark->multiple && job->operations % job->benchmark->multiple)
		return fail(&job->failure, CLASS_USAGE, "operations must be a multiple of %ld",
			    job->benchmark->multiple);
	return 0;
}

void plan_parse(struct plan *plan, char *text)
{
	enum { MAX_JOBS = sizeof(plan->job) / sizeof(plan->job[0]) };
	char *rest, *name = strtok_r(text, ",", &rest);

	for (; name; name = strtok_r(NULL, ",", &rest)) {
		if (plan->jobs == MAX_JOBS) {
			fail(&plan->failure, CLASS_USAGE, "more than %d benchmarks", MAX_JOBS);
			return;
		}
		/* a failure stays in the job and is reported in its turn */
		read_job(&plan->job[plan->jobs++], name);
	}
}

static char *value_of(char *word, const char *key)
{
	size_t length = strlen(key);

	return strncmp(word, key, length) ? NULL : word + length;
}

void plan_read(struct plan *plan)
{
	static char line[4096];
	FILE *file = fopen("/proc/cmdline", "r");
	char *rest, *word, *value, *jobs = NULL;

	if (!file || !fgets(line, sizeof(line), file)) {
		fail_call(&plan->failure, "read", "/proc/cmdline");
		return;
	}
	fclose(file);
	for (word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if ((value = value_of(word, "nspatch.results=")))
			snprintf(plan->results, sizeof(plan->results), "%s", value);
		else if ((value = value_of(word, "nspatch.seed=")))
			plan->seed = strtoull(value, NULL, 10);
		else if ((value = value_of(word, "nspatch.run=")))
			jobs = value;
		else if ((value = value_of(word, "nspatch.shell=")))
			plan->shell = strcmp(value, "1") == 0;
	}
	if (!jobs)
		fail(&plan->failure, CLASS_USAGE, "no nspatch.run on the kernel command line");
	else
		plan_parse(plan, jobs);
}
