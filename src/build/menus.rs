//! A tree's Kconfig files, read far enough to explain why a symbol was lost. The decision itself is
//! always that of the tree's own tools.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::expression::Expression;
use crate::arch::Arch;
use crate::blame::Failure;

/// One place that defines a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    /// File and line, relative to the tree.
    pub(super) place: String,
    /// All that has to hold: its own `depends on`, and those of the menus and `if` blocks around it.
    pub(super) depends: Vec<Expression>,
    /// When the user may set it; empty where only the tree does.
    pub(super) prompts: Vec<Option<Expression>>,
    /// What it selects, and when.
    pub(super) selects: Vec<(String, Option<Expression>)>,
    /// The `choice` it belongs to.
    pub(super) choice: Option<usize>,
}

/// All definitions, by symbol.
#[derive(Debug, Default)]
pub(super) struct Menus {
    definitions: BTreeMap<String, Vec<Definition>>,
    choices: usize,
}

impl Menus {
    /// Reads the Kconfig files of a tree that count for an architecture.
    ///
    /// # Errors
    ///
    /// The tree's first Kconfig file cannot be read.
    pub(super) fn read(source: &Utf8Path, arch: Arch) -> Result<Self, Failure> {
        // The kernel keeps x86_64 under arch/x86; every other name is its own folder
        let family = arch.linux.split('_').next().unwrap_or(arch.linux);
        let srcarch = if source.join("arch").join(arch.linux).is_dir() { arch.linux } else { family };
        let mut walk = Walk { source, srcarch, menus: Menus::default(), around: Vec::new(), current: Current::Nothing };
        let text = fs_err::read(source.join("Kconfig"))?;
        walk.file("Kconfig", &String::from_utf8_lossy(&text), 0);
        walk.close();
        Ok(walk.menus)
    }

    /// The places that define a symbol.
    pub(super) fn of(&self, symbol: &str) -> &[Definition] {
        self.definitions.get(symbol).map_or(&[], Vec::as_slice)
    }

    /// All definitions with their symbols.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.definitions.iter().flat_map(|(symbol, all)| all.iter().map(move |one| (symbol.as_str(), one)))
    }

    /// All symbols.
    pub(super) fn symbols(&self) -> impl Iterator<Item = &str> {
        self.definitions.keys().map(String::as_str)
    }
}

/// What encloses the line being read.
#[derive(Debug)]
enum Around {
    If(Expression),
    Menu(Vec<Expression>),
    Choice(usize, Vec<Expression>),
}

/// What the attributes being read belong to.
#[derive(Debug)]
enum Current {
    Nothing,
    Symbol(String, Definition),
    Around,
}

struct Walk<'a> {
    source: &'a Utf8Path,
    srcarch: &'a str,
    menus: Menus,
    around: Vec<Around>,
    current: Current,
}

/// Deeper nesting of `source` than this is a loop.
const DEEPEST: usize = 20;

impl Walk<'_> {
    fn file(&mut self, name: &str, text: &str, depth: usize) {
        let mut lines = (1..).zip(text.lines()).peekable();
        while let Some((number, line)) = lines.next() {
            let mut line = line.to_owned();
            while line.ends_with('\\')
                && let Some((_, more)) = lines.next()
            {
                line.pop();
                line.push_str(more);
            }
            let line = without_comment(&line);
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = rest.trim();
            match word {
                "help" | "---help---" => skip_help(&mut lines),
                "source" | "rsource" | "osource" | "orsource" => self.source(name, word, rest, depth),
                "config" | "menuconfig" => self.open_symbol(rest, format!("{name}:{number}")),
                _ if self.block(word, rest) => {}
                _ => self.attribute(word, rest),
            }
        }
    }

    fn source(&mut self, from: &str, word: &str, rest: &str, depth: usize) {
        self.close();
        let name = rest.trim_matches(['"', '\'']).replace("$(SRCARCH)", self.srcarch).replace("$SRCARCH", self.srcarch);
        let folder = Utf8Path::new(from).parent().unwrap_or(Utf8Path::new(""));
        let name = if word.contains("rsource") { folder.join(name).into_string() } else { name };
        // A file that is not there is no matter: the tree's own tools have already passed
        if depth < DEEPEST
            && let Ok(text) = fs_err::read(self.source.join(&name))
        {
            self.file(&name, &String::from_utf8_lossy(&text), depth + 1);
            self.close();
        }
    }

    fn open_symbol(&mut self, symbol: &str, place: String) {
        self.close();
        let mut definition = Definition { place, ..Definition::default() };
        for around in &self.around {
            match around {
                Around::If(condition) => definition.depends.push(condition.clone()),
                Around::Menu(conditions) => definition.depends.extend(conditions.iter().cloned()),
                Around::Choice(number, conditions) => {
                    definition.choice = Some(*number);
                    definition.depends.extend(conditions.iter().cloned());
                }
            }
        }
        self.current = Current::Symbol(symbol.to_owned(), definition);
    }

    /// Opens or closes a block; says whether the word was one of these.
    fn block(&mut self, word: &str, rest: &str) -> bool {
        let opened = match word {
            "if" => Some(Around::If(Expression::read(rest))),
            "menu" => Some(Around::Menu(Vec::new())),
            "choice" => {
                self.menus.choices += 1;
                Some(Around::Choice(self.menus.choices, Vec::new()))
            }
            "endif" | "endmenu" | "endchoice" | "comment" | "mainmenu" => None,
            _ => return false,
        };
        self.close();
        match opened {
            Some(around) => {
                self.around.push(around);
                self.current = Current::Around;
            }
            None if word.starts_with("end") => drop(self.around.pop()),
            None => {}
        }
        true
    }

    fn attribute(&mut self, word: &str, rest: &str) {
        let condition = match (word, rest.split_once(char::is_whitespace)) {
            ("depends", Some(("on", condition))) | ("visible", Some(("if", condition))) => {
                Some(Expression::read(condition))
            }
            _ => None,
        };
        match (&mut self.current, self.around.last_mut()) {
            (Current::Symbol(_, definition), _) => match (condition, word) {
                (Some(condition), _) => definition.depends.push(condition),
                (None, "select") => definition.selects.push(with_condition(rest)),
                (None, "bool" | "tristate" | "string" | "int" | "hex" | "prompt") if !rest.is_empty() => {
                    definition.prompts.push(after_text(rest));
                }
                _ => {}
            },
            (Current::Around, Some(Around::Menu(conditions) | Around::Choice(_, conditions))) => {
                conditions.extend(condition);
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        if let Current::Symbol(symbol, definition) = std::mem::replace(&mut self.current, Current::Nothing) {
            self.menus.definitions.entry(symbol).or_default().push(definition);
        }
    }
}

/// `X if CONDITION`.
fn with_condition(text: &str) -> (String, Option<Expression>) {
    match text.split_once(" if ") {
        Some((name, condition)) => (name.trim().to_owned(), Some(Expression::read(condition))),
        None => (text.to_owned(), None),
    }
}

/// The condition behind a quoted text, if there is one.
fn after_text(text: &str) -> Option<Expression> {
    let quote = text.chars().next()?;
    let end = if "\"'".contains(quote) { text[1..].find(quote)? + 2 } else { 0 };
    let rest = text[end..].trim();
    Some(Expression::read(rest.strip_prefix("if ")?))
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return line[..at].trim(),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    line.trim()
}

/// Skips a help text: it ends at the first line that is less indented than its first one.
fn skip_help<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>) {
    let mut indent = None;
    while let Some((_, line)) = lines.peek() {
        if !line.trim().is_empty() {
            let here = indent_of(line);
            if here == 0 || indent.is_some_and(|indent| here < indent) {
                return;
            }
            indent.get_or_insert(here);
        }
        lines.next();
    }
}

fn indent_of(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).fold(
        0,
        |column, c| {
            if c == '\t' { column / 8 * 8 + 8 } else { column + 1 }
        },
    )
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    fn read(files: &[(&str, &str)]) -> Menus {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (name, text) in files {
            fs_err::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs_err::write(root.join(name), text).unwrap();
        }
        Menus::read(&root, Arch::named("x86_64").unwrap()).unwrap()
    }

    fn depends(menus: &Menus, symbol: &str) -> Vec<String> {
        menus.of(symbol).iter().flat_map(|one| &one.depends).map(ToString::to_string).collect()
    }

    #[test]
    fn menus_ifs_and_choices_around_a_symbol_count() {
        let menus = read(&[(
            "Kconfig",
            "menu \"Net\"\n\tdepends on NET\nif INET && \\\n\tFOO\nconfig A\n\tbool \"a\"\n\tdepends on B\nendif\n\
             config C\n\tbool\nendmenu\nchoice\n\tprompt \"hz\"\n\tdepends on HZ\nconfig D\n\tbool \"d\"\nendchoice\n\
             config E\n\tbool \"e\" if X\n",
        )]);
        assert_eq!(depends(&menus, "A"), ["NET", "INET && FOO", "B"]);
        assert_eq!(depends(&menus, "C"), ["NET"]);
        assert_eq!(depends(&menus, "D"), ["HZ"]);
        assert!(depends(&menus, "E").is_empty());
        assert_eq!(menus.of("C")[0].prompts, []);
        assert_eq!(menus.of("D")[0].choice, Some(1));
        assert_eq!(menus.of("E")[0].prompts, [Some(Expression::read("X"))]);
        assert_eq!(menus.of("A")[0].place, "Kconfig:5");
    }

    #[test]
    fn sourced_files_stand_inside_the_block_that_sources_them() {
        let menus = read(&[
            (
                "Kconfig",
                "source \"arch/$(SRCARCH)/Kconfig\"\nif NET\nsource \"net/Kconfig\"\nendif\nconfig LAST\n\tbool\n",
            ),
            ("arch/x86/Kconfig", "config X86\n\tdef_bool y\n\tselect HAVE_X if 64BIT\n"),
            ("net/Kconfig", "config UNIX\n\tbool \"unix\"\nrsource \"sub/Kconfig\"\n"),
            ("net/sub/Kconfig", "config SUB\n\tbool \"sub\"\n"),
        ]);
        assert_eq!(depends(&menus, "SUB"), ["NET"]);
        assert!(depends(&menus, "LAST").is_empty());
        assert_eq!(menus.of("X86")[0].selects, [("HAVE_X".to_owned(), Some(Expression::read("64BIT")))]);
    }

    #[test]
    fn help_texts_and_comments_are_no_definitions() {
        let menus = read(&[(
            "Kconfig",
            "config A\n\tbool \"a # b\" # c\n\thelp\n\t  config B\n\n\t  if you like\n\tdepends on D\nconfig E\n\tbool\n",
        )]);
        assert_eq!(menus.symbols().collect::<Vec<_>>(), ["A", "E"]);
        assert_eq!(depends(&menus, "A"), ["D"]);
    }

    #[test]
    fn a_tree_that_sources_itself_ends() {
        let menus = read(&[("Kconfig", "config A\n\tbool\nsource \"Kconfig\"\n")]);
        assert_eq!(menus.symbols().collect::<Vec<_>>(), ["A"]);
    }
}
