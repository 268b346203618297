//! One CPU for one child, so that its threads never run at the same moment.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many children sit on each CPU.
static TAKEN: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());

/// The CPU with the fewest of our children, held until dropped.
pub(super) struct Seat {
    cpu: usize,
}

impl Seat {
    /// Takes a seat; `None` where the system does not tell which CPUs there are.
    pub(super) fn take() -> Option<Self> {
        let allowed = sched_getaffinity(None).ok()?;
        let mut taken = taken();
        let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let cpu = cpus.min_by_key(|cpu| taken.get(cpu).copied().unwrap_or(0))?;
        *taken.entry(cpu).or_default() += 1;
        Some(Seat { cpu })
    }

    /// Starts a child on this CPU: it inherits the place of the thread that starts it, which gets its own back.
    pub(super) fn start<T>(&self, start: impl FnOnce() -> T) -> T {
        let before = sched_getaffinity(None);
        let mut one = CpuSet::new();
        one.set(self.cpu);
        // A child that may run anywhere is slower to repeat itself, but no less right: failures are let go
        let _ = sched_setaffinity(None, &one);
        let started = start();
        if let Ok(before) = before {
            let _ = sched_setaffinity(None, &before);
        }
        started
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(count) = taken().get_mut(&self.cpu) {
            *count = count.saturating_sub(1);
        }
    }
}

fn taken() -> MutexGuard<'static, BTreeMap<usize, u32>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Call;

    #[test]
    fn a_child_on_one_cpu_has_one_cpu_and_its_parent_keeps_all() {
        let before = sched_getaffinity(None).unwrap().count();
        let ended = Call::new("nproc").on_one_cpu().demand().unwrap();
        assert_eq!(ended.text(), "1");
        assert_eq!(sched_getaffinity(None).unwrap().count(), before);
    }
}
