/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A prompt for people who want to look: what `nspatch shell` boots, in place of a plan. */
#define _GNU_SOURCE
#include "guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* nspatch waits for this at the start of a line before it sends the next one where nobody types */
#define PROMPT "nspatch> "
#define MAX_WORDS 64
#define TERMINAL "/dev/terminal"

static uint64_t seed;

/* the kernel's words on what failed; returned on as the command's status */
static int complain(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

static int list(char **words)
{
	const struct benchmark *benchmark;

	(void)words;
	for (int i = 0; (benchmark = benchmark_at(i)); i++) {
		printf("%s", benchmark->name);
		for (int k = 0; k < MAX_PARAMETERS && benchmark->parameters[k].name; k++) {
			const struct parameter *parameter = &benchmark->parameters[k];

			printf(" %s=%ld (%ld to %ld)", parameter->name, parameter->value, parameter->min,
			       parameter->max);
		}
		printf("\n");
	}
	return 0;
}

/* what a boot with a plan does before its first record */
static void prepare(void)
{
	clock_wait_until_final();
	drain_prepare();
}

/* The records that nspatch would read, here for people. A benchmark that the plan has wrong touches nothing. */
static int run(char **words)
{
	static struct plan plan;
	bool prepared = false;

	if (!words[1]) {
		printf("run what? `list` shows the benchmarks; run NAME:operations=32,NAME:n=8\n");
		return 1;
	}
	plan_parse(&plan, words[1]);
	report_to(STDOUT_FILENO);
	for (int i = 0; i < plan.jobs; i++) {
		if (!plan.job[i].failure.set && !prepared) {
			prepare();
			prepared = true;
		}
		run_job(&plan.job[i], seed);
		report_flush();
	}
	if (plan.failure.set) {
		report_failure(NULL, &plan.failure);
		report_flush();
	}
	return 0;
}

static int facts(char **words)
{
	(void)words;
	prepare();
	report_to(STDOUT_FILENO);
	report_facts(seed);
	return report_flush();
}

static int cat_file(const char *path)
{
	char bytes[4096];
	ssize_t length;
	int file = open(path, O_RDONLY);

	if (file < 0)
		return complain(path);
	while ((length = read(file, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)length, stdout);
	if (length < 0)
		complain(path);
	close(file);
	return length < 0;
}

static int cat(char **words)
{
	int status = 0;

	if (!words[1])
		printf("cat what?\n");
	while (*++words)
		status |= cat_file(*words);
	return status;
}

static int ls(char **words)
{
	const char *path = words[1] ? words[1] : "/";
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);

	if (count < 0)
		return complain(path);
	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			printf("%s%s\n", entries[i]->d_name, entries[i]->d_type == DT_DIR ? "/" : "");
	}
	return 0;
}

static int write_file(char **words)
{
	int file, failed;

	if (!words[1] || !words[2]) {
		printf("write which file what?\n");
		return 1;
	}
	file = open(words[1], O_WRONLY);
	if (file < 0)
		return complain(words[1]);
	failed = dprintf(file, "%s\n", words[2]) < 0;
	if (failed)
		complain(words[1]);
	close(file);
	return failed;
}

static int mount_one(char **words)
{
	if (!words[1])
		return cat_file("/proc/self/mounts");
	if (!words[2]) {
		printf("mount TYPE FOLDER, as in `mount tmpfs /mnt`\n");
		return 1;
	}
	return mount(words[1], words[2], words[1], 0, NULL) ? complain(words[2]) : 0;
}

static int umount_one(char **words)
{
	if (!words[1]) {
		printf("umount what?\n");
		return 1;
	}
	return umount2(words[1], MNT_DETACH) ? complain(words[1]) : 0;
}

static int dmesg(char **words)
{
	enum { READ_ALL = 3, LONGEST = 1 << 20 };
	char *text = malloc(LONGEST);
	int length = text ? klogctl(READ_ALL, text, LONGEST) : -1;

	(void)words;
	if (length < 0)
		return complain("dmesg");
	fwrite(text, 1, (size_t)length, stdout);
	return 0;
}

/* a program that was put into the guest, such as a static busybox */
static int execute(char **words)
{
	if (!words[1]) {
		printf("exec what?\n");
		return 1;
	}
	execv(words[1], words + 1);
	return complain(words[1]);
}

static int help(char **words);

static const struct command {
	const char *name, *use, *meaning;
	int (*run)(char **words);
} commands[] = {
	{ "list", "", "the benchmarks of this guest, and their parameters", list },
	{ "run", "PLAN", "benchmarks, as in: run unshare-ipc:operations=32,umount-propagated:n=8", run },
	{ "facts", "", "what the guest says of its kernel and its clock", facts },
	{ "dmesg", "", "what the kernel has said", dmesg },
	{ "cat", "FILE...", "what is in files", cat },
	{ "ls", "[FOLDER]", "what is in a folder", ls },
	{ "write", "FILE TEXT", "a line into a file, such as a sysctl", write_file },
	{ "mount", "[TYPE FOLDER]", "the mounts, or one more of them", mount_one },
	{ "umount", "FOLDER", "take a mount away, lazily", umount_one },
	{ "exec", "FILE [WORD...]", "a program that `nspatch shell --add` put into the guest", execute },
	{ "help", "", "this", help },
	{ "exit", "", "restarts the machine, which ends QEMU; Ctrl-D does the same", NULL },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int help(char **words)
{
	(void)words;
	for (int i = 0; i < COMMANDS; i++)
		printf("  %-6s %-15s %s\n", commands[i].name, commands[i].use, commands[i].meaning);
	return 0;
}

/* Each in a process of its own, which Ctrl-C can end. */
static void run_command(const struct command *command, char **words)
{
	int status;
	pid_t child;

	drain_save();
	fflush(stdout);
	child = fork();
	if (child < 0) {
		complain("fork");
		return;
	}
	if (child == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		status = command->run(words);
		fflush(stdout);
		_exit(status ? 1 : 0);
	}
	while (waitpid(child, &status, 0) != child) {
		if (errno != EINTR)
			return;
	}
	if (WIFSIGNALED(status)) {
		printf("%s: ended by signal %d\n", command->name, WTERMSIG(status));
		drain_restore();
	}
}

/* Whether to go on. */
static bool obey(char *line)
{
	char *words[MAX_WORDS + 1] = { NULL }, *rest;
	int count = 0;

	for (char *word = strtok_r(line, " \t\r\n", &rest); word && count < MAX_WORDS;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		words[count++] = word;
	if (!count)
		return true;
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(words[0], commands[i].name))
			continue;
		if (commands[i].run)
			run_command(&commands[i], words);
		return commands[i].run;
	}
	printf("there is no command `%s`; `help` shows those that there are\n", words[0]);
	return true;
}

/* Reads commands from standard input until there are no more, or `exit` is one of them. */
void shell(uint64_t with_seed)
{
	static char line[1024];

	seed = with_seed;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	printf("`help` shows the commands\n");
	do {
		printf(PROMPT);
		fflush(stdout);
	} while (fgets(line, sizeof(line), stdin) && obey(line));
	fflush(stdout);
}

/* The terminal behind the console, in a session of its own: /dev/console itself turns Ctrl-C into no signal. */
static void open_terminal(void)
{
	char path[64];
	const char *word = read_word("/sys/class/tty/console/active");
	int major, minor, terminal;

	snprintf(path, sizeof(path), "/sys/class/tty/%s/dev", word ? word : "");
	word = read_word(path);
	if (setsid() < 0 || !word || sscanf(word, "%d:%d", &major, &minor) != 2)
		return;
	if (mknod(TERMINAL, S_IFCHR | 0600, makedev(major, minor)) && errno != EEXIST)
		return;
	terminal = open(TERMINAL, O_RDWR);
	for (int i = 0; i <= STDERR_FILENO && terminal >= 0; i++)
		dup2(terminal, i);
}

void shell_on_console(uint64_t with_seed)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		open_terminal();
		shell(with_seed);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) != child)
		;
}
