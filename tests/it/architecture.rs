//! The rules of the code's layout, read off the sources: arrows follow the flow, a foreign crate
//! stays in its home, files and functions stay small.

use std::path::{Path, PathBuf};

/// The crates that only one module may touch, and that module; a crate with two lines has two.
const HOMES: &[(&str, &str)] = &[
    ("clap", "cli"),
    ("indicatif", "console"),
    ("duct", "process"),
    ("git2", "tree"),
    ("reqwest", "http"),
    ("reqwest", "tree"),
    ("rustls", "http"),
    ("tar", "tree"),
    ("liblzma", "tree"),
    ("zstd", "tree"),
    ("flate2", "tree"),
    ("flate2", "source"),
    ("mail_parser", "source"),
    ("cpio", "rootfs"),
    ("crc32fast", "measure"),
    ("include_dir", "catalogue"),
    ("sha2", "store"),
    ("signal_hook", "interrupt"),
    ("statrs", "compare"),
    ("strsim", "catalogue"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source below `src` as (top module, path relative to `src`, text).
fn modules() -> Vec<(String, String, String)> {
    let src = root().join("src");
    let mut found = Vec::new();
    sources(&src, &mut found);
    found
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
            let top = relative.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
            (top, relative, std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The modules in the order in which lib.rs lists them.
fn order() -> Vec<String> {
    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).map(str::to_owned).collect()
}

/// The top modules that a text names by `crate::`.
fn used(text: &str) -> Vec<String> {
    text.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .filter(|name: &String| !name.is_empty())
        .collect()
}

#[test]
fn no_arrow_points_against_the_flow() {
    let order = order();
    let place = |name: &str| order.iter().position(|module| module == name);
    let ground = place("job").unwrap();
    let mut wrong = Vec::new();
    for (top, file, text) in modules() {
        let Some(own) = place(&top) else { continue };
        for other in used(&text) {
            // The ground floor is one layer: its files may use each other
            let Some(at) = place(&other) else { continue };
            if at > own && at > ground {
                wrong.push(format!("{file} uses crate::{other}, which stands after it in lib.rs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_foreign_crate_is_touched_in_its_home_only() {
    let mut wrong = Vec::new();
    for (top, file, text) in modules() {
        for (foreign, home) in HOMES {
            let named = text.contains(&format!("use {foreign}::")) || text.contains(&format!(" {foreign}::"));
            if named && !HOMES.contains(&(*foreign, top.as_str())) {
                wrong.push(format!("{file} touches {foreign}, whose home is {home}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_and_functions_stay_small() {
    let mut wrong = Vec::new();
    for (_, file, text) in modules() {
        let lines: Vec<_> = text.lines().collect();
        if lines.len() > 500 {
            wrong.push(format!("{file} has {} lines; 500 is the limit", lines.len()));
        }
        for (start, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("fn ")) {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            let end = format!("{indent}}}");
            let body = lines[start..].split(|line| *line == end).next().unwrap_or_default();
            if line.trim_end().ends_with('{') && code_lines(body) > 80 {
                let length = body.len();
                wrong.push(format!("{file}:{} is a function of {length} lines; 80 is the limit", start + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines of a function without those of its inline snapshots, which are data.
fn code_lines(body: &[&str]) -> usize {
    let mut in_snapshot = false;
    let mut is_code = |line: &&str| {
        let opens = line.contains("@r#\"") || line.trim_end().ends_with("@r\"");
        let closes = matches!(line.trim_start(), "\"#);" | "\");");
        let code = !in_snapshot;
        in_snapshot = (in_snapshot || opens) && !closes;
        code
    };
    body.iter().filter(|line| is_code(line)).count()
}

#[test]
fn every_test_file_is_part_of_the_program() {
    let here = root().join("tests/it");
    let main = std::fs::read_to_string(here.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(main.contains(&format!("mod {module};")), "tests/it/main.rs does not list {module}");
        }
    }
}
