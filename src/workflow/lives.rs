//! What the boots of a comparison show beside numbers: kernels that died, and what others were allowed to complain of.

use super::findings::{Findings, judged};
use crate::apply::Variant;
use crate::blame::Blame;
use crate::boot::BootFailure;
use crate::compare::{Death, Reason};
use crate::measure::{Booted, Reading, Side};
use crate::report::Splat;

impl Findings<'_> {
    /// That a kernel died, which is a result of its own and leaves no number to judge: those of the boots that it
    /// happened to survive are not those of a kernel that works.
    pub(super) fn died(&self) -> Option<Reason> {
        let deaths: Vec<Death> =
            [Side::Baseline, Side::Candidate].into_iter().filter_map(|side| self.death(side)).collect();
        (!deaths.is_empty()).then_some(Reason::Died { deaths })
    }

    fn death(&self, side: Side) -> Option<Death> {
        let boots: Vec<&Booted> = self.booted.iter().filter(|booted| booted.side == side).collect();
        let broken: Vec<&BootFailure> = boots.iter().filter_map(|booted| death_of(&booted.reading)).collect();
        let first = broken.first()?;
        Some(Death {
            side: judged(side),
            kind: first.kind,
            how: first.message.clone(),
            boots: count(&broken),
            of: count(&boots),
        })
    }

    /// The splats that were allowed, each once for each variant.
    pub(super) fn splats(&self) -> Vec<Splat> {
        let mut found: Vec<Splat> = Vec::new();
        for booted in self.booted {
            let Some(variant) = self.variant(booted.side) else { continue };
            for message in allowed(&booted.reading) {
                match found.iter_mut().find(|splat| splat.variant == variant && splat.message == *message) {
                    Some(known) => known.boots += 1,
                    None => found.push(self.splat(variant, message)),
                }
            }
        }
        found
    }

    fn splat(&self, variant: Variant, message: &str) -> Splat {
        Splat {
            patch: self.comparison.patch.clone(),
            tree: self.comparison.tree.clone(),
            arch: self.comparison.arch,
            variant,
            message: message.to_owned(),
            boots: 1,
        }
    }
}

/// The failure of a boot that is the kernel's own.
fn death_of(reading: &Reading) -> Option<&BootFailure> {
    match reading {
        Reading::Broken(broken) if broken.blame != Blame::Host => Some(broken),
        _ => None,
    }
}

/// The splats of a boot that were allowed, each once.
fn allowed(reading: &Reading) -> impl Iterator<Item = &String> {
    let all = reading.guest().map_or(&[][..], |guest| &guest.allowed_splats);
    all.iter().enumerate().filter(|(place, message)| !all[..*place].contains(message)).map(|(_, message)| message)
}

fn count<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}
