//! How often the machine is right, and what it costs, on made-up histories.

use super::{Answer, Machine, Outcome, Range, Settings, Spot, Step};
use crate::compare::simulation::Random;

/// A made-up history: a line of commits, one of which changes the value.
#[derive(Clone, Copy)]
struct History {
    commits: usize,
    /// The value after the change over the value before it.
    effect: f64,
    /// The standard deviation of boots, as a part of 1.
    noise: f64,
    /// How often a boot is slowed by up to twice.
    wild: f64,
    /// How many in a hundred commits cannot be measured, in stretches of 12.
    broken: u64,
}

const PLAIN: History = History { commits: 1024, effect: 1.2, noise: 0.05, wild: 0.0, broken: 0 };

#[derive(Default, Debug)]
struct Score {
    right: u32,
    wrong: u32,
    boots: u32,
    builds: u32,
}

impl History {
    /// Lets the machine find the change of so many histories.
    fn score(self, trials: u32, seed: u64) -> Score {
        let mut random = Random(seed);
        let mut score = Score::default();
        for _ in 0..trials {
            self.trial(&mut random, &mut score);
        }
        score
    }

    fn trial(self, random: &mut Random, score: &mut Score) {
        let culprit = (random.uniform() * self.commits as f64) as usize;
        let broken: Vec<bool> = (0..self.commits.div_ceil(12))
            .flat_map(|_| [random.uniform() * 100.0 < self.broken as f64; 12])
            .take(self.commits)
            .collect();
        let mut machine = Machine::new(Range::line(self.commits), Settings { threshold: 0.02, ..Settings::default() });
        let mut built = std::collections::BTreeSet::new();
        let outcome = loop {
            match machine.next() {
                Step::Done(outcome) => break outcome,
                Step::Measure { spot, times } => {
                    built.insert(spot);
                    let is_end = spot == Spot::Good || spot == Spot::Candidate(self.commits - 1);
                    let answer = match spot {
                        Spot::Candidate(place) if broken[place] && !is_end => Answer::Skip,
                        _ => Answer::Values((0..times).map(|_| self.boot(spot, culprit, random)).collect()),
                    };
                    machine.tell(spot, answer);
                }
            }
        };
        score.boots += machine.boots();
        score.builds += built.len() as u32;
        match outcome {
            Outcome::Found { place, .. } if place == culprit => score.right += 1,
            Outcome::Found { .. } => score.wrong += 1,
            Outcome::OneOf { places, .. } if self.broken > 0 && places.contains(&culprit) => score.right += 1,
            _ => {}
        }
    }

    fn boot(self, spot: Spot, culprit: usize, random: &mut Random) -> f64 {
        let slow = matches!(spot, Spot::Candidate(place) if place >= culprit);
        let level = if slow { self.effect } else { 1.0 };
        let wild = if random.uniform() < self.wild { 1.0 + random.uniform() } else { 1.0 };
        level * (self.noise * random.normal()).exp() * wild
    }
}

fn told(name: &str, history: History, trials: u32) -> Score {
    let score = history.score(trials, 11);
    let each = |sum: u32| f64::from(sum) / f64::from(trials);
    println!(
        "{name:30} right {:5.1} %, wrong {:4.1} %, {:5.1} boots, {:4.1} builds",
        100.0 * each(score.right),
        100.0 * each(score.wrong),
        each(score.boots),
        each(score.builds)
    );
    score
}

#[test]
fn a_large_change_is_found_with_little_more_than_the_fewest_measurements() {
    let ten = told("10 times, noise 5 %", History { effect: 10.0, ..PLAIN }, 60);
    assert!(ten.right == 60 && ten.boots <= 24 * 60 && ten.builds <= 13 * 60, "{ten:?}");
    let fifth = told("20 %, noise 5 %", PLAIN, 60);
    assert!(fifth.right >= 58 && fifth.boots <= 33 * 60 && fifth.builds <= 13 * 60, "{fifth:?}");
}

#[test]
fn a_change_as_small_as_the_noise_is_found_with_more() {
    let small = told("5 %, noise 5 %", History { effect: 1.05, ..PLAIN }, 60);
    assert!(small.wrong <= 6 && small.right >= 51, "{small:?}");
}

#[test]
fn where_nothing_changed_nobody_is_named() {
    let none = told("nothing, noise 5 %", History { effect: 1.0, ..PLAIN }, 300);
    assert!(none.right + none.wrong <= 3, "{none:?}");
}

#[test]
fn wild_boots_and_broken_commits_mislead_seldom() {
    let wild = told("20 %, noise 5 %, 5 % wild", History { wild: 0.05, ..PLAIN }, 60);
    assert!(wild.wrong <= 2, "{wild:?}");
    let broken = told("20 %, noise 5 %, 10 % broken", History { broken: 10, ..PLAIN }, 60);
    assert!(broken.wrong <= 1 && broken.right >= 57, "{broken:?}");
}
