//! The table of failures in `docs/exit-codes.md`, held against the code.

use std::path::{Path, PathBuf};

use nspatch::blame::{Blame, Class};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The rows of the table: failure, class, exit code, owners, example, test.
fn table() -> Vec<[String; 6]> {
    let text = read("docs/exit-codes.md");
    let part = text.split("## Every failure").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = part.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| -> [String; 6] {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().unwrap_or_else(|_| panic!("no row of six cells: {line}"))
    };
    rows.map(cells).collect()
}

/// The variants of an enum without fields, read off the source, as JSON has them: so that none is forgotten here.
fn variants(file: &str, name: &str) -> Vec<String> {
    let text = read(file);
    let body = text.split(&format!("pub enum {name} {{")).nth(1).unwrap().split("\n}").next().unwrap();
    let names = body.lines().filter_map(|line| line.trim().strip_suffix(','));
    let kebab = |name: &str| -> String {
        let of =
            |(place, c): (usize, char)| if c.is_uppercase() && place > 0 { format!("-{c}") } else { c.to_string() };
        name.chars().enumerate().map(of).collect::<String>().to_lowercase()
    };
    names.map(kebab).collect()
}

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn every_class_of_failure_stands_in_the_table_with_its_exit_code_and_its_owners() {
    let table = table();
    let class = |name: &str| -> Class { serde_json::from_value(name.into()).unwrap() };
    for name in variants("src/blame.rs", "Class") {
        assert!(table.iter().any(|row| row[1] == name), "the class {name} is missing");
    }
    let owners: Vec<String> = variants("src/blame.rs", "Blame")
        .into_iter()
        .map(|name| serde_json::from_value::<Blame>(name.into()).unwrap().to_string())
        .collect();
    for row in &table {
        assert_eq!(row[2], class(&row[1]).exit_code().to_string(), "{row:?}");
        assert!(row[3].split(" or ").all(|owner| owners.iter().any(|known| known == owner)), "{row:?}");
    }
}

#[test]
fn every_way_in_which_a_boot_or_a_benchmark_fails_stands_in_the_table() {
    let failures: Vec<String> = table().into_iter().map(|row| row[0].clone()).collect();
    for name in variants("src/boot/outcome.rs", "Kind") {
        let kind: nspatch::boot::Kind = serde_json::from_value(name.into()).unwrap();
        assert!(failures.contains(&format!("boot: {kind}")), "{kind} is missing");
    }
    for name in variants("src/measure/record.rs", "FailureClass") {
        assert!(failures.contains(&format!("guest: {name}")), "{name} is missing");
    }
    let named = ["usage", "ingest", "apply", "config", "build", "boot", "guest", "lost result", "host", "interrupted"];
    for name in named {
        assert!(failures.iter().any(|failure| failure.split(':').next() == Some(name)), "{name} is missing");
    }
}

#[test]
fn every_test_of_the_table_exists() {
    let mut files = Vec::new();
    for folder in ["src", "tests/it"] {
        sources(&root().join(folder), &mut files);
    }
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for row in table() {
        let name = row[5].trim_matches('`');
        assert!(
            text.contains(&format!("#[test]\nfn {name}()")) || text.contains(&format!("#[test]\n    fn {name}()")),
            "{name}"
        );
    }
}
