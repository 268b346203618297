//! Boots on the wall clock: one after another, as two at once would be each other's noise, and the two of a pair next to each
//! other, so that what drifts on the host meets both. Which pair comes when, and which side of it first, is drawn by lot.

use std::collections::HashMap;

use super::results::check_plan;
use super::{Booted, Lab, Lost, Order, Pair, Reading, Side};
use crate::blame::Failure;
use crate::interrupt;
use crate::store::Digest;

/// How often a boot is made at most to have one whose guest finds a fine clock.
const MOST_TURNS: u32 = 5;

/// Makes the boots of comparisons one by one and gives for each pair its boots by seed, the baseline first. None is shared: on
/// this clock another boot of the same is another sample. `lot` decides the order; equal lots draw equal orders.
///
/// A guest whose clock moves only once a tick is booted again, and `coarse` is told: a kernel that could not calibrate
/// its CPUs' counter, because the host was busy just then, says so before anything is measured.
///
/// # Errors
///
/// As [`run`](super::run()).
pub fn alternate(
    pairs: &[Pair],
    seeds: &[u64],
    lot: &str,
    lab: &dyn Lab,
    coarse: &dyn Fn(&Order<'_>),
) -> Result<Vec<Vec<Booted>>, Failure> {
    let mut turns = Turns { lab, coarse, made: HashMap::new() };
    let mut booted: Vec<Vec<Booted>> = pairs.iter().map(|_| Vec::new()).collect();
    for (place, seed) in drawn(pairs.len(), seeds, lot) {
        for side in pairs[place].sides(&drawing(lot, place, seed)) {
            let machine = pairs[place].side(side);
            check_plan(&machine.run)?;
            let reading = turns.boot(&Order { machine, seed, turn: 0 })?;
            booted[place].push(Booted { side, seed, reading });
        }
    }
    booted.iter_mut().for_each(|boots| boots.sort_by_key(|boot| (boot.seed, boot.side)));
    Ok(booted)
}

/// Every pair with every seed, in an order drawn by lot.
fn drawn(pairs: usize, seeds: &[u64], lot: &str) -> Vec<(usize, u64)> {
    let mut all: Vec<_> = (0..pairs).flat_map(|place| seeds.iter().map(move |seed| (place, *seed))).collect();
    all.sort_by_cached_key(|(place, seed)| drawing(lot, *place, *seed));
    all
}

/// A number drawn for a pair and a seed, as hexadecimal digits.
fn drawing(lot: &str, place: usize, seed: u64) -> String {
    Digest::of("lot").field("lot", lot).field("pair", place.to_le_bytes()).field("seed", seed.to_le_bytes()).hex()
}

impl Pair {
    /// The sides to be booted; the last digit of what was drawn says which one comes first.
    fn sides(&self, drawn: &str) -> Vec<Side> {
        let odd = drawn.chars().last().and_then(|digit| digit.to_digit(16)).is_some_and(|digit| digit % 2 == 1);
        match (&self.baseline, odd) {
            (None, _) => vec![Side::Candidate],
            (Some(_), false) => vec![Side::Baseline, Side::Candidate],
            (Some(_), true) => vec![Side::Candidate, Side::Baseline],
        }
    }
}

/// Counts the boots of each order, as each is a boot of its own.
struct Turns<'a> {
    lab: &'a dyn Lab,
    coarse: &'a dyn Fn(&Order<'_>),
    made: HashMap<String, u32>,
}

impl Turns<'_> {
    fn boot(&mut self, order: &Order<'_>) -> Result<Reading, Failure> {
        let next = self.made.entry(order.address()).or_default();
        for tried in 1.. {
            interrupt::check()?;
            let order = Order { turn: *next, ..*order };
            *next += 1;
            let reading = self.lab.boot(&order)?;
            if !is_coarse(&reading) || tried == MOST_TURNS {
                return Ok(reading);
            }
            (self.coarse)(&order);
        }
        Err(Failure::internal("a boot was made without end"))
    }
}

/// Whether the guest's clock moved no more often than its tick, or not often enough for what was measured.
fn is_coarse(reading: &Reading) -> bool {
    match reading {
        Reading::Lost { lost, .. } => matches!(lost, Lost::Coarse { .. }),
        _ => reading.results().is_some_and(|results| results.facts.clock_resolution_ns >= results.facts.tick_ns),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::boot::Guest;
    use crate::measure::run::tests::{machine, pair};
    use crate::measure::{Results, read};

    /// Notes what it is asked for; the first guests find no fine clock.
    struct Table {
        asked: Mutex<Vec<(String, u64, u32)>>,
        coarse: usize,
    }

    impl Lab for Table {
        fn boot(&self, order: &Order<'_>) -> Result<Reading, Failure> {
            let mut asked = self.asked.lock().unwrap();
            asked.push((order.machine.image_digest.clone(), order.seed, order.turn));
            Ok(reading(asked.len() <= self.coarse))
        }
    }

    fn reading(coarse: bool) -> Reading {
        let mut results: Results = read(include_bytes!("../../tests/fakes/qemu-results.jsonl")).unwrap();
        if coarse {
            results.facts.clock_resolution_ns = results.facts.tick_ns;
        }
        let [console, command] = [(); 2].map(|()| String::new());
        let guest = Guest {
            results: "results.jsonl".into(),
            console: console.into(),
            command,
            allowed_splats: Vec::new(),
            seconds: 1.0,
            seconds_to_init: None,
            host: None,
        };
        Reading::Read { results, guest }
    }

    /// The image, the seed and the turn of each boot that was asked for, and what came of all.
    type Made = (Vec<(String, u64, u32)>, Vec<Vec<Booted>>);

    fn asked(pairs: &[Pair], seeds: &[u64], lot: &str, coarse: usize) -> Made {
        let table = Table { asked: Mutex::new(Vec::new()), coarse };
        let booted = alternate(pairs, seeds, lot, &table, &|_| {}).unwrap();
        (table.asked.into_inner().unwrap(), booted)
    }

    #[test]
    fn the_boots_of_a_pair_are_neighbours_and_the_lot_decides_all_else() {
        let pairs = [pair("base", "patched"), pair("reversed", "base")];
        let seeds: Vec<u64> = (1..=16).collect();
        let (one, booted) = asked(&pairs, &seeds, "a", 0);
        assert!(one.chunks(2).all(|two| two[0].1 == two[1].1), "{one:?}");
        let first =
            |images: [&str; 2]| one.chunks(2).filter(|two| two[0].0 == images[0] && two[1].0 == images[1]).count();
        for images in [["base", "patched"], ["patched", "base"], ["reversed", "base"], ["base", "reversed"]] {
            assert!((2..=14).contains(&first(images)), "{images:?} {}", first(images));
        }
        assert_eq!(one, asked(&pairs, &seeds, "a", 0).0);
        assert_ne!(one, asked(&pairs, &seeds, "b", 0).0);
        let order: Vec<_> = booted[0].iter().map(|boot| (boot.seed, boot.side)).collect();
        let expected = seeds.iter().flat_map(|seed| [(*seed, Side::Baseline), (*seed, Side::Candidate)]);
        assert_eq!(order, expected.collect::<Vec<_>>());
    }

    #[test]
    fn no_boot_is_shared_even_of_an_image_with_itself() {
        let (mut asked, _) = asked(&[pair("base", "base")], &[1, 2], "a", 0);
        asked.sort();
        let expected = [("base", 1, 0), ("base", 1, 1), ("base", 2, 0), ("base", 2, 1)];
        assert_eq!(asked, expected.map(|(image, seed, turn)| (image.to_owned(), seed, turn)));
    }

    #[test]
    fn a_guest_without_a_fine_clock_is_booted_again_but_not_for_ever() {
        let alone = [Pair { baseline: None, candidate: machine("base") }];
        let (made, booted) = asked(&alone, &[7], "a", 2);
        assert_eq!(made.iter().map(|boot| boot.2).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!is_coarse(&booted[0][0].reading));
        let (made, booted) = asked(&alone, &[7], "a", 99);
        assert_eq!(made.len(), MOST_TURNS as usize);
        assert!(is_coarse(&booted[0][0].reading), "what it is stays to be seen");
    }
}
