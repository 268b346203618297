//! The tree as it is, but with its code and data lying elsewhere: what building a tree again with any other edit may do too.

use camino::Utf8Path;

use super::index::Index;
use super::{Revision, Variant};
use crate::blame::{Blame, Class, Failure};
use crate::job::Job;
use crate::store::Digest;
use crate::tree::Tree;

/// Linked in front of nearly all else, and there in every kernel.
const FILE: &str = "init/main.c";
/// Code and data move by at most this many bytes: more than a page holds, so that both cross pages too.
const FARTHEST: u64 = 6000;

/// The tree with bytes in front of most of its code and data that nothing uses; how many, follows from the number, which is
/// above 0.
///
/// # Errors
///
/// The tree has no `init/main.c`, the repository is damaged, or the machine fails.
pub fn padded(tree: &Tree, number: u32, job: Job<'_>) -> Result<Revision, Failure> {
    let path = Utf8Path::new(FILE);
    let index = Index::of_paths(tree, [FILE], job)?;
    let Some(mut source) = index.file(path)? else {
        let what = format!("{FILE} is missing, so nothing can be put in front of this tree's code");
        return Err(Failure::new(Class::Apply, Blame::Kernel, what).at(&tree.name));
    };
    source.extend(padding(number).as_bytes());
    index.replace(Variant::Base, path, &source, "Let code and data lie elsewhere\n")
}

/// Bytes that no symbol names, between functions and between variables. 0x90 is an instruction that does nothing, where
/// somebody looks at it as one.
fn padding(number: u32) -> String {
    let bytes = |of: &str| {
        let drawn = Digest::of("padding").field("of", of).field("number", number.to_le_bytes()).hex();
        let drawn = u64::from_str_radix(&drawn[..8], 16).unwrap_or_default();
        // Functions and variables are aligned, so that other steps would come to the same
        16 * (1 + drawn % (FARTHEST / 16))
    };
    let section = |name: &str, bytes: u64| {
        format!("asm(\".pushsection {name}\\n\\t.balign 16\\n\\t.skip {bytes}, 0x90\\n\\t.popsection\");\n")
    };
    format!("\n{}{}", section(".text", bytes("code")), section(".data", bytes("data")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_padding_of_its_own_and_always_the_same() {
        let all: std::collections::BTreeSet<String> = (1..=20).map(padding).collect();
        assert_eq!(all.len(), 20);
        insta::assert_snapshot!(padding(1), @r#"
        asm(".pushsection .text\n\t.balign 16\n\t.skip 5504, 0x90\n\t.popsection");
        asm(".pushsection .data\n\t.balign 16\n\t.skip 2288, 0x90\n\t.popsection");
        "#);
    }
}
