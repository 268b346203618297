//! The order of boots.

use serde::{Deserialize, Serialize};

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What is compared with.
    Baseline,
    /// What is judged.
    Candidate,
}

/// One boot of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootOrder {
    /// The side that is booted.
    pub side: Side,
    /// The seed of the boot.
    pub seed: u64,
}

/// The boots of a comparison: every seed on every side, the sides next to each other, and the one
/// that goes first changing with every seed (A B, B A, A B, ...), so that what drifts on the host
/// meets both alike.
pub fn schedule(seeds: &[u64], sides: &[Side]) -> Vec<BootOrder> {
    let turn = |place: usize| -> Vec<Side> {
        if place.is_multiple_of(2) { sides.to_vec() } else { sides.iter().rev().copied().collect() }
    };
    let of_seed = |(place, &seed)| turn(place).into_iter().map(move |side| BootOrder { side, seed });
    seeds.iter().enumerate().flat_map(of_seed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Side; 2] = [Side::Baseline, Side::Candidate];

    #[test]
    fn neither_side_always_goes_first() {
        let orders = schedule(&[1, 2, 3], &BOTH);
        let shown: Vec<_> = orders.iter().map(|order| format!("{:?}{}", order.side, order.seed)).collect();
        let expected = ["Baseline1", "Candidate1", "Candidate2", "Baseline2", "Baseline3", "Candidate3"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn one_side_alone_can_be_booted() {
        assert_eq!(schedule(&[7, 8], &[Side::Candidate]).len(), 2);
        assert!(schedule(&[], &BOTH).is_empty());
    }

    proptest! {
        #[test]
        fn both_sides_get_the_same_seeds(seeds in proptest::collection::vec(any::<u64>(), 0..20)) {
            let of = |side| -> Vec<u64> {
                schedule(&seeds, &BOTH).iter().filter(|order| order.side == side).map(|order| order.seed).collect()
            };
            prop_assert_eq!(of(Side::Baseline), of(Side::Candidate));
        }
    }
}
