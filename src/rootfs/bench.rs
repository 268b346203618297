//! `images/bench/`: the files that describe the benchmarks, read and checked.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::benchmark::{Benchmark, is_name};
use super::description::{place, wrong};
use crate::blame::Failure;
use crate::catalogue::{Entry, located, read_yaml};

/// The folder in `images/`.
const FOLDER: &str = "bench";
/// What explains the files.
const MANUAL: &str = "docs/benchmarks.md";

/// All benchmarks of the files of `images/`, in the order in which they run.
///
/// # Errors
///
/// An entry is not understood or contradicts itself, or one of a benchmark's two files is missing.
pub(super) fn read_all(files: &BTreeMap<Utf8PathBuf, Entry>) -> Result<Vec<Benchmark>, Failure> {
    let mut found = Vec::new();
    for (path, entry) in files.iter().filter(|(path, _)| path.parent() == Some(Utf8Path::new(FOLDER))) {
        match path.extension() {
            Some("yaml") => found.push(read(path, entry, files)?),
            Some("c") if !files.contains_key(&path.with_extension("yaml")) => return Err(lonely(path, entry)),
            _ => {}
        }
    }
    found.sort_by_cached_key(|one: &Benchmark| (one.seed.is_none(), one.seed.clone(), one.name.clone()));
    Ok(found)
}

fn read(path: &Utf8Path, entry: &Entry, files: &BTreeMap<Utf8PathBuf, Entry>) -> Result<Benchmark, Failure> {
    let name = path.file_stem().unwrap_or_default().to_owned();
    let shown = place(path, entry);
    if !is_name(&name) {
        let what = format!("`{name}` is no name of a benchmark: small letters, digits and `-`, and fewer than 48");
        return Err(wrong(entry, Failure::usage(what).at(shown)));
    }
    let said = read_yaml(&entry.bytes, &shown, MANUAL).map_err(|failure| wrong(entry, failure))?;
    let benchmark = Benchmark { source: path.with_extension("c"), name, ..said };
    if let Some((key, what)) = benchmark.fault() {
        let failure = Failure::usage(what).at(located(&entry.bytes, &shown, &key));
        return Err(wrong(entry, failure.hint(format!("{MANUAL} explains every key"))));
    }
    let Some(source) = files.get(&benchmark.source) else {
        let what = format!("`{}` has no C file: there is no file {} in images/", benchmark.name, benchmark.source);
        return Err(wrong(entry, Failure::usage(what).at(shown)));
    };
    check_source(&benchmark, source)?;
    Ok(benchmark)
}

/// Looks for the name in the C file. One that was copied and not renamed would be found by the other's name, and two
/// benchmarks of one name be in the guest.
fn check_source(benchmark: &Benchmark, source: &Entry) -> Result<(), Failure> {
    let name = format!("\"{}\"", benchmark.name);
    let text = String::from_utf8_lossy(&source.bytes);
    if text.contains(&name) {
        return Ok(());
    }
    let failure = Failure::usage(format!("this file does not define the benchmark `{}`", benchmark.name))
        .at(located(&source.bytes, &place(&benchmark.source, source), ".name ="))
        .hint(format!("its BENCHMARK() has to say `.name = {name}`, as its file is called"));
    Err(wrong(source, failure))
}

/// A C file without an entry would be left out, and nobody told.
fn lonely(path: &Utf8Path, entry: &Entry) -> Failure {
    let beside = path.with_extension("yaml");
    let failure = Failure::usage(format!("there is no images/{beside} beside this file")).at(place(path, entry));
    wrong(entry, failure.hint(format!("{MANUAL} shows what it holds")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::{Blame, Class};
    use crate::catalogue::Catalogue;
    use crate::rootfs::benchmarks;

    const ENTRY: &str = "\
summary: a try
operation: nothing
parameters:
  - { name: n, default: 3, min: 1, max: 9, meaning: none }
operations: 10
repeats: 3
warmups: 1
";
    const SOURCE: &str = "#include \"../guest.h\"\n\nBENCHMARK(try) = {\n\t.name = \"try-it\",\n};\n";

    /// What is read with these files of a project.
    fn read(files: &[(&str, &str)]) -> Result<Vec<Benchmark>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        for (name, text) in files {
            let path = project.join("images/bench").join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        benchmarks(&Catalogue::of_project(project))
    }

    /// What a changed entry of a project is told, and the end of its place.
    fn refused(files: &[(&str, &str)], end: &str, what: &str) -> Failure {
        let failure = read(files).unwrap_err();
        assert_eq!((failure.class, failure.blame), (Class::Usage, Blame::User), "{failure:?}");
        assert!(failure.what.contains(what), "{what}: {}", failure.what);
        assert!(failure.place.as_ref().unwrap().ends_with(&format!("/images/bench/{end}")), "{failure:?}");
        failure
    }

    #[test]
    fn two_files_of_a_project_add_a_benchmark_behind_the_shipped_ones() {
        let shipped = read(&[]).unwrap();
        let seeds: Vec<_> = shipped.iter().map(|one| one.seed.as_deref().unwrap()).collect();
        assert_eq!(seeds, ["000", "001", "002", "003", "004"]);
        let files = [("try-it.c", SOURCE), ("try-it.yaml", ENTRY), ("a-try.c", "\"a-try\""), ("a-try.yaml", ENTRY)];
        let all = read(&files).unwrap();
        assert_eq!(all[..5], shipped);
        let own: Vec<_> = all[5..].iter().map(|one| (one.name.as_str(), one.source.as_str())).collect();
        assert_eq!(own, [("a-try", "bench/a-try.c"), ("try-it", "bench/try-it.c")]);
    }

    #[test]
    fn an_entry_of_a_project_takes_the_place_of_a_shipped_one_of_its_name() {
        let all = read(&[("setns-net.yaml", &ENTRY.replace("name: n,", "name: m,"))]).unwrap();
        assert_eq!(
            all.iter().filter(|one| one.name == "setns-net").map(|one| one.operations).collect::<Vec<_>>(),
            [10]
        );
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
        let entry = ENTRY.replace("warmups", "warm-ups");
        let failure = refused(&[("try-it.c", SOURCE), ("try-it.yaml", &entry)], "try-it.yaml:7", "warm-ups");
        assert_eq!(failure.hints, ["did you mean `warmups`?"]);
        let entry = ENTRY.replace("max: 9", "most: 9");
        refused(&[("try-it.c", SOURCE), ("try-it.yaml", &entry)], "try-it.yaml:4", "unknown field `most`");
        let failure = refused(&[("try-it.c", SOURCE), ("try-it.yaml", "summary: x\n")], "try-it.yaml:1", "operation");
        assert_eq!(failure.hints, ["docs/benchmarks.md explains every key"]);
    }

    #[test]
    fn contradictions_are_refused_with_their_line() {
        for (from, to, line, what) in [
            ("name: n,", "name: repeats,", 4, "`try-it` cannot have a parameter `repeats`"),
            ("default: 3,", "default: 0,", 4, "n of `try-it` is 0, which is not from 1 to 9"),
            ("repeats: 3", "repeats: 0", 6, "repeats of `try-it` is 0, which is not from 1 to 100"),
        ] {
            let entry = ENTRY.replace(from, to);
            refused(&[("try-it.c", SOURCE), ("try-it.yaml", &entry)], &format!("try-it.yaml:{line}"), what);
        }
        refused(&[("Try_It.c", SOURCE), ("Try_It.yaml", ENTRY)], "Try_It.yaml", "`Try_It` is no name");
    }

    #[test]
    fn one_file_of_the_two_alone_is_refused() {
        refused(&[("try-it.yaml", ENTRY)], "try-it.yaml", "there is no file bench/try-it.c in images/");
        refused(&[("try-it.c", SOURCE)], "try-it.c", "there is no images/bench/try-it.yaml beside this file");
    }

    #[test]
    fn a_second_benchmark_of_one_name_is_refused() {
        let files = [("try-it.c", SOURCE), ("try-it.yaml", ENTRY), ("copy.c", SOURCE), ("copy.yaml", ENTRY)];
        let failure = refused(&files, "copy.c:4", "this file does not define the benchmark `copy`");
        assert!(failure.hints[0].contains("`.name = \"copy\"`"), "{failure:?}");
    }
}
