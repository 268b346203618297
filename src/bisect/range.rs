//! The commits that may have made the change, and which lies behind which.

/// The candidates between a good and a bad end, in an order in which parents come before their children.
///
/// The good end is none of them, and is behind all; the bad end is the last one, and all are behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// For each candidate those that are its ancestors, and itself: a bit each.
    behind: Vec<Vec<u64>>,
    /// For each candidate its parents among the candidates; none where the good end is its only parent.
    parents: Vec<Vec<usize>>,
}

impl Range {
    /// So many commits in a line.
    pub fn line(commits: usize) -> Self {
        Self::of((0..commits).map(|place| place.checked_sub(1).into_iter().collect()).collect())
    }

    /// Commits with the places of their parents, which all come earlier.
    pub fn of(parents: Vec<Vec<usize>>) -> Self {
        let words = parents.len().div_ceil(64);
        let mut behind: Vec<Vec<u64>> = Vec::with_capacity(parents.len());
        for (place, own) in parents.iter().enumerate() {
            let mut bits = vec![0; words];
            bits[place / 64] |= 1 << (place % 64);
            for parent in own {
                bits.iter_mut().zip(&behind[*parent]).for_each(|(all, of_parent)| *all |= of_parent);
            }
            behind.push(bits);
        }
        Range { behind, parents }
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.behind.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    /// The parents of a candidate among the candidates.
    pub(super) fn parents(&self, place: usize) -> &[usize] {
        &self.parents[place]
    }

    /// Whether `culprit` is `place` itself or one of its ancestors: whether its change is in there.
    pub(super) fn has(&self, place: usize, culprit: usize) -> bool {
        self.behind[place][culprit / 64] >> (culprit % 64) & 1 == 1
    }

    /// The weight of all that is behind a candidate, itself included.
    pub(super) fn weight_behind(&self, place: usize, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (word, bits) in self.behind[place].iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                sum += weights[word * 64 + bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_line_all_earlier_commits_are_behind() {
        let range = Range::line(130);
        assert!(range.has(100, 100) && range.has(100, 0) && !range.has(100, 101));
        assert_eq!(range.weight_behind(69, &[1.0; 130]), 70.0);
        assert_eq!((range.parents(0), range.parents(7)), (&[][..], &[6][..]));
    }

    #[test]
    fn a_branch_is_behind_its_merge_and_not_behind_the_other_one() {
        // 0 - 1 - 3
        //   \ 2 /
        let range = Range::of(vec![vec![], vec![0], vec![0], vec![1, 2]]);
        assert!(range.has(3, 1) && range.has(3, 2) && !range.has(1, 2) && !range.has(2, 1));
        assert_eq!(range.weight_behind(2, &[1.0, 10.0, 100.0, 1000.0]), 101.0);
    }
}
