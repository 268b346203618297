//! `nspatch list`.

use super::global::Global;
use super::output::{Format, show, show_json, table};
use crate::arch::Arch;
use crate::blame::{Failure, exit};
use crate::catalogue::{Catalogue, Folder, Origin};
use crate::event::{Event, Stage};
use crate::tree::Places;
use crate::{rootfs, source};

/// Show what there is and where it comes from
///
/// Folders named patches, kconfigs and images in the current project come before the shipped ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch list                     everything
  nspatch list patches             names for --patch")]
pub(super) struct Args {
    /// What to show [default: everything]
    #[arg(value_enum)]
    kind: Option<Kind>,

    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Names for --patch
    Patches,
    /// Names for --bench
    Benchmarks,
    /// Names for --arch
    Architectures,
    /// Fragments of kernel configuration
    Kconfigs,
    /// Forms of --tree, and names for it
    Trees,
}

/// What --tree takes.
const TREES: [(&str, &str); 3] = [
    ("debian:VERSION", "the distribution's linux-source-VERSION, installed or downloaded with apt"),
    ("FOLDER", "a kernel source, with git or without"),
    ("TARBALL", "a kernel source as .tar, .tar.xz, .tar.gz or .tar.zst: its path or URL"),
];

/// One thing of the list.
#[derive(serde::Serialize)]
struct Item {
    kind: &'static str,
    name: String,
    about: String,
    from: String,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Patches => "patches",
            Kind::Benchmarks => "benchmarks",
            Kind::Architectures => "architectures",
            Kind::Kconfigs => "kconfigs",
            Kind::Trees => "trees",
        }
    }

    fn items(self, catalogue: &Catalogue, places: &Places) -> Result<Vec<Item>, Failure> {
        let item = |name: &str, about: &str, from: &dyn std::fmt::Display| Item {
            kind: self.name(),
            name: name.to_owned(),
            about: about.to_owned(),
            from: from.to_string(),
        };
        Ok(match self {
            Kind::Patches => {
                source::overview(catalogue)?.iter().map(|patch| item(&patch.name, &patch.title, &patch.found)).collect()
            }
            Kind::Architectures => Arch::all().map(|arch| item(arch.name, arch.qemu, &Origin::Shipped)).collect(),
            Kind::Kconfigs => {
                let files = catalogue.files(Folder::Kconfigs)?;
                files.iter().map(|(path, entry)| item(path.as_str(), "", &entry.origin)).collect()
            }
            Kind::Benchmarks => {
                let files = catalogue.files(Folder::Images)?;
                let from = |source| files.get(source).map_or(&Origin::Shipped, |entry| &entry.origin);
                let all = rootfs::benchmarks(catalogue)?;
                all.iter().map(|it| item(&it.name, &about(it), from(&it.source))).collect()
            }
            Kind::Trees => {
                let named = places.addresses.iter().map(|it| item(&it.name, &it.address, &it.from));
                TREES.iter().map(|(form, about)| item(form, about, &"")).chain(named).collect()
            }
        })
    }
}

/// What a benchmark measures, and what can be set.
fn about(benchmark: &rootfs::Benchmark) -> String {
    let parameters = benchmark.parameters.iter().map(|it| {
        let rootfs::Parameter { name, default, min, max, meaning } = it;
        format!("; {name}={default} ({min} to {max}): {meaning}")
    });
    benchmark.summary.clone() + &parameters.collect::<String>()
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let catalogue = global.catalogue()?;
    let places = global.places()?;
    let console = global.console();
    for message in catalogue.passed_over()?.into_iter().chain(source::passed_over(&catalogue)?) {
        console.emit(Event::Noticed { stage: Stage::Source, message, hint: None });
    }
    let all = [Kind::Patches, Kind::Benchmarks, Kind::Architectures, Kind::Kconfigs, Kind::Trees];
    let kinds = args.kind.map_or(all.to_vec(), |kind| vec![kind]);
    let mut items = Vec::new();
    for kind in &kinds {
        items.extend(kind.items(&catalogue, &places)?);
    }
    match args.format {
        Format::Json => show_json(&items)?,
        Format::Text => show(&text(&items, args.kind.is_none()))?,
    }
    Ok(exit::FINE)
}

/// One paragraph for each kind.
fn text(items: &[Item], headed: bool) -> String {
    let mut paragraphs = Vec::new();
    for part in items.chunk_by(|one, next| one.kind == next.kind) {
        let rows: Vec<[String; 3]> = part.iter().map(Item::row).collect();
        paragraphs.push(if headed { format!("{}\n{}", part[0].kind, table(&rows)) } else { table(&rows) });
    }
    paragraphs.join("\n")
}

impl Item {
    fn row(&self) -> [String; 3] {
        [self.name.clone(), self.about.clone(), self.from.clone()]
    }
}
