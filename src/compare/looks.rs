//! When the numbers are looked at. Who looks several times and stops when he sees something errs more often than
//! who looks once, so each look has only a share of the error that the whole may make.
//!
//! The shares add up to the whole (Bonferroni), which is all that the method rests on: it holds for any noise for
//! which one look's interval holds. The sharper limits of group-sequential plans, such as Pocock's, gain little here, as
//! every look has twice the pairs of the one before.

use serde::{Deserialize, Serialize};

/// One look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// After how many pairs of boots.
    pub pairs: u32,
    /// Its share of the error.
    pub share: f64,
}

/// The looks of a comparison, by rising number of pairs; never none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Looks(Vec<Look>);

impl Looks {
    /// On the virtual clock most is plain after 3 pairs. That look has most of the error: so few pairs pay dearly for
    /// less, and 12 hardly notice it.
    pub fn virtual_clock() -> Self {
        Looks([(3, 0.6), (6, 0.2), (12, 0.2)].map(|(pairs, share)| Look { pairs, share }).to_vec())
    }

    /// On the wall clock boots have noise of their own, which takes more of them.
    pub fn wall_clock() -> Self {
        Looks([4, 8, 16, 32].map(|pairs| Look { pairs, share: 0.25 }).to_vec())
    }

    /// A single look.
    pub fn once(pairs: u32) -> Self {
        Looks(vec![Look { pairs, share: 1.0 }])
    }

    /// What they cannot be, if they are.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let sound = |look: &Look| look.pairs > 0 && look.share > 0.0 && look.share <= 1.0;
        (self.0.is_empty() || !self.0.iter().all(sound))
            .then_some("`looks` has at least one, each with pairs and a share from 0 to 1")
    }

    /// After how many pairs each look is.
    pub fn pairs(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|look| look.pairs)
    }

    /// The most pairs that are ever looked at.
    pub fn most(&self) -> u32 {
        self.pairs().max().unwrap_or_default()
    }

    /// The share of the look at so many pairs. A number between two looks belongs to the later one, and one beyond
    /// the last to that.
    pub(super) fn share(&self, pairs: u32) -> f64 {
        let look = self.0.iter().find(|look| look.pairs >= pairs).or(self.0.last());
        look.map_or(1.0, |look| look.share)
    }

    /// The confidence that one look's interval needs for all of them to have this one together.
    pub(super) fn level(&self, all: f64, pairs: u32) -> f64 {
        1.0 - (1.0 - all) * self.share(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_looks_are_the_whole() {
        for looks in [Looks::virtual_clock(), Looks::wall_clock(), Looks::once(5)] {
            assert!((looks.0.iter().map(|look| look.share).sum::<f64>() - 1.0).abs() < 1e-12, "{looks:?}");
        }
    }

    #[test]
    fn each_number_of_pairs_belongs_to_a_look() {
        let looks = Looks::virtual_clock();
        assert_eq!([1, 3, 4, 6, 12, 50].map(|pairs| looks.share(pairs)), [0.6, 0.6, 0.2, 0.2, 0.2, 0.2]);
        assert!((looks.level(0.99, 3) - 0.994).abs() < 1e-12);
        assert_eq!((looks.most(), Looks::once(7).level(0.99, 7)), (12, 0.99));
    }
}
