//! The configuration that is asked for: fragments from `kconfigs/`, and symbols that patches and
//! benchmarks need. `docs/kconfigs.md` describes the format.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::fragment::{is_symbol, read_line};
use crate::arch::Arch;
use crate::blame::{Blame, Class, Failure};
use crate::catalogue::{Catalogue, Folder, Origin, nearest};
use crate::store::Digest;

/// One symbol that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The symbol without `CONFIG_`.
    pub symbol: String,
    /// `y`, `m`, `n`, a number, or a text with its quotes.
    pub value: String,
    /// The file and line, such as `kconfigs/base.config:12`.
    pub place: String,
    /// Whether a tree that does not know the symbol is fine.
    pub optional: bool,
    /// Whether the user wrote it, and not nspatch.
    pub own: bool,
}

impl Wish {
    /// The wish as a line of a configuration file.
    pub fn line(&self) -> String {
        match self.value.as_str() {
            "n" => format!("# CONFIG_{} is not set", self.symbol),
            value => format!("CONFIG_{}={value}", self.symbol),
        }
    }
}

/// Everything that is asked for: one value for each symbol, fragment by fragment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kconfig {
    wishes: BTreeMap<String, Wish>,
    fragments: Vec<(String, Vec<String>)>,
}

impl Kconfig {
    /// Reads `base.config`, the architecture's fragment, and `<name>.config` for every purpose.
    ///
    /// # Errors
    ///
    /// A fragment does not exist or has a line that is not understood, or two lines ask for
    /// different values of one symbol.
    pub fn load(catalogue: &Catalogue, arch: Arch, purposes: &[String]) -> Result<Self, Failure> {
        let files = catalogue.files(Folder::Kconfigs)?;
        let mut kconfig = Kconfig::default();
        for name in ["base", arch.name].into_iter().chain(purposes.iter().map(String::as_str)) {
            let file = format!("{name}.config");
            let entry = files.get(Utf8Path::new(&file)).ok_or_else(|| no_fragment(name, files.keys()))?;
            let (place, own) = match &entry.origin {
                Origin::Shipped => (format!("kconfigs/{file}"), false),
                Origin::Project(path) => (path.to_string(), true),
            };
            kconfig.add(name, &String::from_utf8_lossy(&entry.bytes), &place, own)?;
        }
        Ok(kconfig)
    }

    /// Adds a fragment: `name` for files and messages, its text, the file it is in, and whether the
    /// user wrote it.
    ///
    /// # Errors
    ///
    /// A line is not understood, or asks for another value of a symbol than an earlier one.
    pub fn add(&mut self, name: &str, text: &str, file: &str, own: bool) -> Result<(), Failure> {
        let mut symbols = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let place = format!("{file}:{number}");
            let Some((symbol, value, optional)) = read_line(line).map_err(|what| Self::wrong(what, &place))? else {
                continue;
            };
            symbols.push(symbol.clone());
            self.wish(Wish { symbol, value, place, optional, own })?;
        }
        self.fragments.push((name.to_owned(), symbols));
        Ok(())
    }

    /// Asks for symbols as `y`, as a patch or a benchmark does; `place` says what asks.
    ///
    /// # Errors
    ///
    /// A symbol has no valid name, or a fragment asks for another value of it.
    pub fn require<'a>(
        mut self,
        symbols: impl IntoIterator<Item = &'a str>,
        place: &str,
        own: bool,
    ) -> Result<Self, Failure> {
        let mut added = Vec::new();
        for symbol in symbols {
            let symbol = symbol.strip_prefix("CONFIG_").unwrap_or(symbol).to_owned();
            if !is_symbol(&symbol) {
                return Err(Self::wrong(format!("`{symbol}` is no configuration symbol"), place));
            }
            added.push(symbol.clone());
            self.wish(Wish { symbol, value: "y".into(), place: place.into(), optional: false, own })?;
        }
        self.fragments.push((format!("required-{}", self.fragments.len()), added));
        Ok(self)
    }

    /// All wishes, by symbol.
    pub fn wishes(&self) -> impl Iterator<Item = &Wish> {
        self.wishes.values()
    }

    /// What names this configuration: the symbols and values, whatever file they stand in.
    pub fn key(&self) -> String {
        self.wishes
            .values()
            .fold(Digest::of("kconfig"), |digest, wish| {
                digest.field(&wish.symbol, &wish.value).field("optional", [u8::from(wish.optional)])
            })
            .hex()
    }

    /// The fragments as the tree's own scripts read them: a name and a text each. Every symbol
    /// stands in the first fragment that asks for it.
    pub(super) fn fragments(&self) -> Vec<(&str, String)> {
        let mut seen = std::collections::BTreeSet::new();
        let mut texts = Vec::new();
        for (name, symbols) in &self.fragments {
            let lines = symbols.iter().filter(|symbol| seen.insert(symbol.as_str())).filter_map(|s| self.wishes.get(s));
            texts.push((name.as_str(), lines.map(|wish| wish.line() + "\n").collect()));
        }
        texts
    }

    fn wish(&mut self, wish: Wish) -> Result<(), Failure> {
        match self.wishes.get_mut(&wish.symbol) {
            Some(old) if old.value != wish.value => Err(Failure::new(
                Class::Config,
                if old.own || wish.own { Blame::User } else { Blame::Nspatch },
                format!("CONFIG_{} is asked for as {} and as {}", wish.symbol, old.value, wish.value),
            )
            .at(format!("{} and {}", old.place, wish.place))
            .hint("keep one of the two lines")),
            // Whoever needs it for certain decides
            Some(old) if old.optional && !wish.optional => {
                *old = wish;
                Ok(())
            }
            Some(_) => Ok(()),
            None => {
                self.wishes.insert(wish.symbol.clone(), wish);
                Ok(())
            }
        }
    }

    fn wrong(what: String, place: &str) -> Failure {
        Failure::new(Class::Config, Blame::User, what).at(place).hint(
            "a line is `CONFIG_NAME=value`, `# CONFIG_NAME is not set`, `# optional: ` before these, or a comment",
        )
    }
}

fn no_fragment<'a>(name: &str, files: impl Iterator<Item = &'a camino::Utf8PathBuf>) -> Failure {
    let names: Vec<_> = files.filter_map(|file| file.as_str().strip_suffix(".config")).collect();
    let failure = Failure::usage(format!("there is no kernel configuration `{name}`")).at("kconfigs/");
    match nearest(name, names.iter().copied()).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("there are {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Kconfig, Failure> {
        let mut kconfig = Kconfig::default();
        kconfig.add("a", text, "a.config", true)?;
        Ok(kconfig)
    }

    #[test]
    fn the_shipped_fragments_fit_together_on_every_architecture() {
        for arch in Arch::all() {
            let kconfig = Kconfig::load(&Catalogue::shipped(), arch, &[]).unwrap();
            assert!(kconfig.wishes().any(|wish| wish.symbol == "IPC_NS"), "{arch}");
        }
    }

    #[test]
    fn lines_are_read_with_their_place() {
        let kconfig = read("# why\n\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x y\"\nCONFIG_D=0x1f\n").unwrap();
        let found: Vec<_> = kconfig.wishes().map(|w| (w.line(), w.place.as_str())).collect();
        assert_eq!(
            found,
            [
                ("CONFIG_A=y".to_owned(), "a.config:3"),
                ("# CONFIG_B is not set".to_owned(), "a.config:4"),
                ("CONFIG_C=\"x y\"".to_owned(), "a.config:5"),
                ("CONFIG_D=0x1f".to_owned(), "a.config:6"),
            ]
        );
    }

    #[test]
    fn a_line_that_is_not_understood_is_named_with_its_place() {
        for (text, what) in [
            ("CONFIG_A=y\nA=y\n", "this line is not understood: `A=y`"),
            ("\nCONFIG_A y\n", "this line is not understood: `CONFIG_A y`"),
            ("\nCONFIG_A-B=y\n", "`A-B` is no configuration symbol"),
            ("\nCONFIG_A=yes\n", "`yes` is no value for CONFIG_A"),
            ("\nCONFIG_A=\n", "`` is no value for CONFIG_A"),
            ("\n# optional: nothing\n", "this line is not understood: `nothing`"),
        ] {
            let failure = read(text).unwrap_err();
            assert_eq!((failure.what.as_str(), failure.place.as_deref()), (what, Some("a.config:2")), "{text}");
        }
    }

    #[test]
    fn two_values_for_one_symbol_name_both_places() {
        let mut kconfig = read("CONFIG_A=y\n").unwrap();
        let failure = kconfig.add("b", "# x\n# CONFIG_A is not set\n", "b.config", true).unwrap_err();
        insta::assert_snapshot!(failure.render(), @r"
        error: CONFIG_A is asked for as y and as n
          where: a.config:1 and b.config:2
          owner: the command
        hint: keep one of the two lines
        ");
    }

    #[test]
    fn the_same_value_twice_is_fine_and_is_merged_once() {
        let kconfig = read("CONFIG_A=y\n").unwrap().require(["A", "B"], "patches/p/patch.yaml", false).unwrap();
        assert_eq!(kconfig.fragments(), [("a", "CONFIG_A=y\n".to_owned()), ("required-1", "CONFIG_B=y\n".to_owned())]);
    }

    #[test]
    fn an_optional_symbol_that_somebody_needs_is_not_optional() {
        let optional = read("# optional: CONFIG_A=y\n").unwrap();
        assert!(optional.wishes().all(|wish| wish.optional));
        let needed = optional.require(["CONFIG_A"], "patches/p/patch.yaml", false).unwrap();
        assert!(needed.wishes().all(|wish| !wish.optional));
    }

    #[test]
    fn an_unknown_purpose_names_the_nearest() {
        let arch = Arch::named("x86_64").unwrap();
        let failure = Kconfig::load(&Catalogue::shipped(), arch, &["bsae".into()]).unwrap_err();
        assert_eq!(failure.hints, ["did you mean `base`?"]);
    }

    #[test]
    fn the_key_depends_on_values_and_not_on_comments_or_order() {
        let key = |text| read(text).unwrap().key();
        assert_eq!(key("CONFIG_A=y\nCONFIG_B=2\n"), key("# x\nCONFIG_B=2\nCONFIG_A=y\n"));
        assert_ne!(key("CONFIG_A=y\n"), key("CONFIG_A=m\n"));
        assert_ne!(key("CONFIG_A=y\n"), key("# optional: CONFIG_A=y\n"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_never_panics(text in "[ -~\n]{0,200}") {
            let _ = read(&text);
        }

        #[test]
        fn what_a_wish_writes_is_read_back(symbol in "[A-Z][A-Z0-9_]{0,20}", value in "y|m|n|[1-9][0-9]{0,5}|\"[a-z ]{0,8}\"") {
            let wish = Wish { symbol: symbol.clone(), value: value.clone(), place: "a.config:1".into(), optional: false, own: true };
            let kconfig = read(&wish.line()).unwrap();
            prop_assert_eq!(kconfig.wishes().collect::<Vec<_>>(), [&wish]);
        }
    }
}
