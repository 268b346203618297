//! How often the rule errs and how much it sees, by simulation. docs/statistics.md quotes these figures.

use crate::measure::{Repeat, Sample};

use super::{Looks, Settings, Verdict, judge};

/// SplitMix64: enough for a simulation, and the same everywhere.
pub(crate) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What disturbs a benchmark; all parts are relative.
#[derive(Clone, Copy, Default)]
struct Noise {
    /// Standard deviation between boots.
    boot: f64,
    /// Standard deviation between the repeats of a boot.
    repeat: f64,
    /// How often a repeat catches a tick, and by how much that moves it.
    tick: (f64, f64),
    /// How often a whole boot is in its slow mode, and by how much.
    mode: (f64, f64),
}

/// When the numbers are looked at, and how many repeats a boot has.
struct Plan {
    name: &'static str,
    looks: Looks,
    repeats: u32,
}

fn plans() -> [Plan; 4] {
    let plan = |name, looks, repeats| Plan { name, looks, repeats };
    [
        plan("3, 6, 12 x 3", Looks::virtual_clock(), 3),
        plan("3, 6, 12 x 5", Looks::virtual_clock(), 5),
        plan("3 x 3", Looks::once(3), 3),
        plan("8 x 3", Looks::once(8), 3),
    ]
}

fn side(random: &mut Random, plan: &Plan, noise: Noise, level: f64) -> Vec<Sample> {
    let boot = |random: &mut Random, seed| {
        let slow = if random.uniform() < noise.mode.0 { noise.mode.1 } else { 0.0 };
        let at = level * 1e9 * (noise.boot * random.normal()).exp() * (1.0 + slow);
        let repeats = (0..plan.repeats).map(|index| {
            let tick = if random.uniform() < noise.tick.0 { noise.tick.1 } else { 0.0 };
            let elapsed_ns = (at * (noise.repeat * random.normal()).exp() * (1.0 + tick)) as u64;
            Repeat { index, warmup: false, operations: 1, elapsed_ns, dither_ns: 0, drain_ns: 0 }
        });
        Sample { seed, repeats: repeats.collect() }
    };
    (0..plan.looks.most().into()).map(|seed| boot(random, seed)).collect()
}

/// The verdict of a comparison that gets more boots until it is decided, and how many pairs that took.
fn verdict(random: &mut Random, plan: &Plan, noise: Noise, change: f64) -> (Verdict, u32) {
    let settings = Settings { looks: plan.looks.clone(), ..Settings::default() };
    let (baseline, candidate) = (side(random, plan, noise, 1.0), side(random, plan, noise, change));
    let at = |pairs: u32| judge(&baseline[..pairs as usize], &candidate[..pairs as usize], &settings).verdict;
    let looks = plan.looks.pairs().map(|pairs| (at(pairs), pairs));
    let mut last = (Verdict::Inconclusive, 0);
    for look in looks {
        last = look;
        if look.0 != Verdict::Inconclusive {
            break;
        }
    }
    last
}

/// The part of simulated comparisons that end in one of the verdicts.
fn rate(plan: &Plan, noise: Noise, change: f64, verdicts: &[Verdict], runs: u32) -> f64 {
    let mut random = Random(u64::from(plan.looks.most() * 100 + plan.repeats));
    let hits = (0..runs).filter(|_| verdicts.contains(&verdict(&mut random, plan, noise, change).0));
    hits.count() as f64 / f64::from(runs)
}

const CLAIMS: [Verdict; 3] = [Verdict::Regressed, Verdict::Improved, Verdict::ChangedButSmaller];

fn kinds() -> [(&'static str, Noise); 7] {
    let quiet = Noise { repeat: 0.001, ..Noise::default() };
    [
        ("repeats 0.1 %", quiet),
        ("boots 0.2 %, repeats 0.1 %", Noise { boot: 0.002, ..quiet }),
        ("boots 5 %, repeats 0.2 %", Noise { boot: 0.05, repeat: 0.002, ..quiet }),
        ("boots 3 %, repeats 10 %", Noise { boot: 0.03, repeat: 0.1, ..quiet }),
        ("a tick adds 40 % to 1 repeat in 15", Noise { tick: (1.0 / 15.0, 0.4), ..quiet }),
        ("a tick adds 30 % to every other repeat", Noise { tick: (0.5, 0.3), ..quiet }),
        ("every other boot is 30 % slower", Noise { mode: (0.5, 0.3), ..quiet }),
    ]
}

/// The largest part of wrong claims of change that a kind of noise may lead to: 1 %, and what 4000 runs leave open.
const WRONG: f64 = 0.015;

#[test]
fn claims_of_a_change_that_is_not_there_stay_below_one_in_a_hundred() {
    for (name, noise) in kinds() {
        for plan in plans() {
            let wrong = rate(&plan, noise, 1.0, &CLAIMS, 4000);
            println!("{name:40} {:14} {:5.2} %", plan.name, 100.0 * wrong);
            assert!(wrong <= WRONG, "{name}: {wrong}");
        }
    }
}

#[test]
fn no_difference_is_not_said_of_twice_the_threshold() {
    for (name, noise) in kinds() {
        for plan in plans() {
            let missed = rate(&plan, noise, 1.02, &[Verdict::NoDifference], 500);
            println!("{name:40} {:14} {:5.2} %", plan.name, 100.0 * missed);
            assert!(missed <= WRONG, "{name}: {missed}");
        }
    }
}

#[test]
fn a_change_of_fifty_times_is_always_seen_and_one_of_two_times_under_small_noise() {
    for (name, noise) in kinds() {
        let seen = |change| rate(&plans()[0], noise, change, &[Verdict::Regressed], 500);
        let (double, fifty) = (seen(2.0), seen(50.0));
        println!("{name:40} 2x: {:5.1} % 50x: {:5.1} %", 100.0 * double, 100.0 * fifty);
        assert!(fifty >= 0.999, "{name}: {fifty}");
        let large = noise.boot > 0.01 || noise.tick.0 > 0.0 || noise.mode.0 > 0.0;
        assert!(large || double >= 0.999, "{name}: {double}");
    }
}

#[test]
fn an_unchanged_quiet_benchmark_is_said_not_to_differ() {
    for plan in plans() {
        let quiet = rate(&plan, kinds()[0].1, 1.0, &[Verdict::NoDifference], 500);
        println!("{:14} {:5.1} %", plan.name, 100.0 * quiet);
        let once = plan.looks.most() < 6;
        assert!(quiet >= if once { 0.94 } else { 0.99 }, "{}: {quiet}", plan.name);
    }
}
