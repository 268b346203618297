//! Making the boots of comparisons, several at once, each only once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::results::check_plan;
use super::{BootOrder, Lab, Machine, Order, Reading, Side, schedule};
use crate::blame::Failure;
use crate::interrupt;

/// What is booted for one comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What is compared with; `None` where only today's cost is asked for.
    pub baseline: Option<Machine>,
    /// What is judged.
    pub candidate: Machine,
}

impl Pair {
    pub(super) fn side(&self, side: Side) -> &Machine {
        match side {
            Side::Baseline => self.baseline.as_ref().unwrap_or(&self.candidate),
            Side::Candidate => &self.candidate,
        }
    }

    fn schedule(&self, seeds: &[u64]) -> Vec<BootOrder> {
        let sides = [Side::Baseline, Side::Candidate];
        schedule(seeds, if self.baseline.is_some() { &sides } else { &sides[1..] })
    }
}

/// One boot of a comparison, made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Booted {
    /// The side.
    pub side: Side,
    /// The seed.
    pub seed: u64,
    /// What came of it. Broken boots stand here like good ones: dropping them would leave only
    /// the kernels that happened to live.
    pub reading: Reading,
}

/// Makes the boots of comparisons with so many workers and gives for each pair its boots in the
/// order of their schedule, whatever order they ended in. Equal boots, within a pair or between
/// pairs, are made once and shared.
///
/// # Errors
///
/// The first failure of the lab, or an interrupt; no boot is begun after it.
pub fn run(pairs: &[Pair], seeds: &[u64], workers: usize, lab: &dyn Lab) -> Result<Vec<Vec<Booted>>, Failure> {
    let mut queue = Queue::default();
    let mut places = Vec::new();
    for pair in pairs {
        let orders = pair.schedule(seeds);
        for order in &orders {
            check_plan(&pair.side(order.side).run)?;
        }
        let ask = |order: BootOrder| (order, queue.ask(pair.side(order.side), order.seed));
        places.push(orders.into_iter().map(ask).collect::<Vec<_>>());
    }
    let readings = queue.work(workers, lab)?;
    let booted = |(order, place): (BootOrder, usize)| Booted {
        side: order.side,
        seed: order.seed,
        reading: readings[place].clone(),
    };
    Ok(places.into_iter().map(|pair| pair.into_iter().map(booted).collect()).collect())
}

/// The boots to be made, each once.
#[derive(Default)]
struct Queue<'a> {
    orders: Vec<Order<'a>>,
    known: HashMap<String, usize>,
}

impl<'a> Queue<'a> {
    /// Asks for a boot; gives its place.
    fn ask(&mut self, machine: &'a Machine, seed: u64) -> usize {
        let order = Order { machine, seed, turn: 0 };
        *self.known.entry(order.address()).or_insert_with(|| {
            self.orders.push(order);
            self.orders.len() - 1
        })
    }

    /// Makes all boots; gives their readings by place.
    fn work(&self, workers: usize, lab: &dyn Lab) -> Result<Vec<Reading>, Failure> {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let made = Mutex::new(Vec::new());
        let one = || {
            while !failed.load(Ordering::SeqCst) {
                let place = next.fetch_add(1, Ordering::SeqCst);
                let Some(order) = self.orders.get(place) else { return };
                let reading = interrupt::check().and_then(|()| lab.boot(order));
                failed.fetch_or(reading.is_err(), Ordering::SeqCst);
                made.lock().unwrap_or_else(PoisonError::into_inner).push((place, reading));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..workers.clamp(1, self.orders.len().max(1)) {
                scope.spawn(one);
            }
        });
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|(place, _)| *place);
        made.into_iter().map(|(_, reading)| reading).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;
    use crate::arch::Arch;
    use crate::blame::Blame;
    use crate::boot::{BootFailure, Kind};
    use crate::measure::{Accelerator, Clock};

    /// Notes what it is asked for and answers with the order itself, the later orders sooner.
    struct Table {
        asked: Mutex<Vec<(String, u64)>>,
        fails_at: Option<u64>,
    }

    impl Table {
        fn new(fails_at: Option<u64>) -> Self {
            Table { asked: Mutex::new(Vec::new()), fails_at }
        }

        fn asked(self) -> Vec<(String, u64)> {
            self.asked.into_inner().unwrap()
        }
    }

    impl Lab for Table {
        fn boot(&self, order: &Order) -> Result<Reading, Failure> {
            self.asked.lock().unwrap().push((order.machine.image_digest.clone(), order.seed));
            std::thread::sleep(Duration::from_millis(20 / (order.seed + 1)));
            if self.fails_at == Some(order.seed) {
                return Err(Failure::host(format!("no space at {}", order.seed)));
            }
            Ok(reading(&order.machine.image_digest, order.seed))
        }
    }

    fn reading(image: &str, seed: u64) -> Reading {
        Reading::Broken(BootFailure {
            kind: Kind::Panic,
            message: format!("{image} {seed}"),
            excerpt: Vec::new(),
            console: "console.log".into(),
            log: "qemu.log".into(),
            blame: Blame::Kernel,
        })
    }

    pub(in crate::measure) fn machine(image: &str) -> Machine {
        Machine {
            name: format!("x86_64 {image}"),
            arch: Arch::named("x86_64").unwrap(),
            clock: Clock::Virtual,
            accelerator: Accelerator::Tcg,
            image: image.into(),
            image_digest: image.into(),
            initramfs: "initramfs".into(),
            initramfs_digest: "i".into(),
            run: "unshare-ipc".into(),
        }
    }

    pub(in crate::measure) fn pair(baseline: &str, candidate: &str) -> Pair {
        Pair { baseline: Some(machine(baseline)), candidate: machine(candidate) }
    }

    #[test]
    fn every_reading_stands_at_its_side_and_seed_whatever_ended_first() {
        for workers in [1, 2, 7] {
            let made = run(&[pair("base", "patched")], &[0, 1, 2, 3], workers, &Table::new(None)).unwrap();
            assert_eq!(made[0].len(), 8);
            for booted in &made[0] {
                let image = if booted.side == Side::Baseline { "base" } else { "patched" };
                assert_eq!(booted.reading, reading(image, booted.seed), "{workers} workers");
            }
        }
    }

    #[test]
    fn equal_boots_are_made_once_and_shared() {
        let table = Table::new(None);
        let pairs = [pair("base", "base"), pair("base", "patched"), pair("patched", "base")];
        let made = run(&pairs, &[1, 2], 2, &table).unwrap();
        assert!(made.iter().all(|boots| boots.len() == 4));
        let mut asked = table.asked();
        asked.sort();
        let expected = [("base", 1), ("base", 2), ("patched", 1), ("patched", 2)];
        assert_eq!(asked, expected.map(|(image, seed)| (image.to_owned(), seed)));
    }

    #[test]
    fn what_a_boot_depends_on_keeps_boots_apart() {
        let table = Table::new(None);
        let [mut run_differs, mut arch_differs, mut guest_differs] = [(); 3].map(|()| pair("base", "base"));
        run_differs.candidate.run = "setns-net".into();
        arch_differs.candidate.arch = Arch::named("arm64").unwrap();
        guest_differs.candidate.initramfs_digest = "other".into();
        run(&[run_differs, arch_differs, guest_differs], &[1], 1, &table).unwrap();
        assert_eq!(table.asked().len(), 4);
    }

    #[test]
    fn one_side_alone_can_be_booted() {
        let alone = Pair { baseline: None, candidate: machine("base") };
        let made = run(&[alone], &[1, 2], 1, &Table::new(None)).unwrap();
        assert!(made[0].iter().all(|booted| booted.side == Side::Candidate));
        assert_eq!(made[0].len(), 2);
    }

    #[test]
    fn the_first_failure_of_the_lab_ends_the_work() {
        let table = Table::new(Some(2));
        let failure = run(&[pair("base", "patched")], &[1, 2, 3, 4, 5], 1, &table).unwrap_err();
        assert_eq!(failure.what, "no space at 2");
        assert_eq!(table.asked().len(), 3);
    }

    #[test]
    fn a_plan_with_a_benchmark_twice_is_refused_before_the_first_boot() {
        let table = Table::new(None);
        let mut twice = pair("base", "patched");
        twice.candidate.run = "a:n=1,a:n=1".into();
        assert!(run(&[twice], &[1], 1, &table).is_err());
        assert!(table.asked().is_empty());
    }
}
