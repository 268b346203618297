//! Runs that were kept: judged again, and judged against each other.

use camino::{Utf8Path, Utf8PathBuf};

use super::findings::Findings;
use super::judging;
use super::record::BOOTS;
use crate::blame::Failure;
use crate::event::Stage;
use crate::measure::Booted;
use crate::report::{self, Asked, Comparison, Run, Trouble};
use crate::store::read_json;

/// A run folder, read.
pub(super) struct Kept {
    pub folder: Utf8PathBuf,
    pub run: Run,
    /// The boots of each comparison of the run, in their order.
    pub booted: Vec<Vec<Booted>>,
}

impl Kept {
    /// Reads a run folder.
    ///
    /// # Errors
    ///
    /// It is none, or the run was not finished.
    pub(super) fn read(folder: &Utf8Path) -> Result<Self, Failure> {
        let (file, boots) = (folder.join("run.json"), folder.join(BOOTS));
        if !file.is_file() {
            return Err(Failure::usage(format!("`{folder}` is no run folder"))
                .at(&file)
                .hint("`nspatch test` says where its run folder is, and writes run.json there"));
        }
        let run = report::read(&fs_err::read_to_string(&file)?).map_err(|failure| failure.at(&file))?;
        if run.is_cut() || !boots.is_file() {
            return Err(Failure::usage(format!("the run of `{folder}` has no boots to judge: it was not finished"))
                .at(&boots)
                .hint("give its command again: finished builds are kept"));
        }
        let booted: Vec<Vec<Booted>> = read_json(&boots)?;
        if booted.len() != run.comparisons.len() {
            return Err(Failure::usage(format!("the boots of `{folder}` are not those of its comparisons")).at(&boots));
        }
        Ok(Kept { folder: folder.to_owned(), run, booted })
    }

    /// What was asked of a comparison.
    pub(super) fn asked(&self, comparison: &Comparison) -> Vec<Asked> {
        self.run.rows.iter().filter(|row| row.is_of(comparison)).map(report::Row::asked).collect()
    }
}

/// Judges the boots of a run folder again, with another threshold if one is given; nothing is built or booted.
///
/// # Errors
///
/// The folder holds no finished run.
pub fn replay(folder: &Utf8Path, threshold: Option<f64>) -> Result<Replayed, Failure> {
    let kept = Kept::read(folder)?;
    let mut settings = kept.run.settings.clone();
    if let Some(threshold) = threshold {
        settings.compare.threshold = threshold;
        // Where it was not measured what a rebuild may move, it may move as much as matters
        if settings.compare.layout_floor > 0.0 {
            settings.compare.layout_floor = threshold;
        }
    }
    let asked: Vec<Vec<Asked>> = kept.run.comparisons.iter().map(|comparison| kept.asked(comparison)).collect();
    let parts = kept.run.comparisons.iter().zip(&asked).zip(&kept.booted);
    let findings: Vec<_> = parts
        .map(|((comparison, asked), booted)| Findings {
            comparison,
            asked,
            booted,
            layouts: &kept.run.layouts,
            refusal: None,
        })
        .collect();
    let rows = judging::judge(&findings, &settings.compare).rows(&findings);
    let of_boots = judging::troubles(&findings);
    // Boots of comparisons are judged anew; those that --layout made are about no patch, and stay as they were
    let stays = |trouble: &&Trouble| trouble.stage != Some(Stage::Boot) || trouble.patch.is_none();
    let of_before = kept.run.failures.iter().filter(stays).cloned();
    let failures = of_before.chain(of_boots).collect();
    let growths = judging::growths(&rows);
    let run = Run { rows, growths, failures, settings, ..kept.run.clone() };
    Ok(Replayed { run, kept: kept.run })
}

/// A run that was judged again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// As it is judged now.
    pub run: Run,
    /// As it was kept.
    pub kept: Run,
}

impl Replayed {
    /// How many rows have another verdict now.
    pub fn changed(&self) -> usize {
        self.run.rows.iter().zip(&self.kept.rows).filter(|(now, before)| now.verdict != before.verdict).count()
    }
}
