/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "guest.h"

#include <sys/utsname.h>
#include <unistd.h>

void report_facts(uint64_t seed)
{
	struct utsname name = { 0 };

	uname(&name);
	report_begin("facts");
	report_text("kernel", name.release);
	report_text("machine", name.machine);
	report_number("cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	report_number("page_size", sysconf(_SC_PAGESIZE));
	report_fact("mem_total_kib", meminfo_kib("MemTotal:"));
	report_text("clocksource", clock_source());
	report_number("tick_ns", (int64_t)tick_ns());
	report_number("clock_resolution_ns", (int64_t)clock_resolution_ns());
	report_number("clock_overhead_ns", (int64_t)clock_overhead_ns());
	report_fact("rcu_expedited", read_number("/sys/kernel/rcu_expedited"));
	report_fact("rcu_normal", read_number("/sys/kernel/rcu_normal"));
	report_fact("mount_max", read_number("/proc/sys/fs/mount-max"));
	report_text("drain", drain_method());
	report_number("seed", (int64_t)seed);
	report_end();
}
