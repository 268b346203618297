use super::*;
use crate::blame::Class;
use crate::tree::mini::{Surroundings, git, repository};
use crate::tree::{Address, Places, Tree, resolve_in};

mod faults;
mod servers;

struct Elsewhere {
    here: Surroundings,
    places: Places,
    first: String,
    second: String,
}

impl Elsewhere {
    /// A repository elsewhere: `v1` at its first commit, `main` at its second.
    fn new() -> Self {
        let here = Surroundings::new();
        let folder = here.root.join("elsewhere");
        let first = repository(&folder);
        git(&folder, &["tag", "-a", "-m", "one", "v1"]);
        git(&folder, &["commit", "--quiet", "--allow-empty", "-m", "second"]);
        git(&folder, &["branch", "linux-6.12.y"]);
        let second = git(&folder, &["rev-parse", "HEAD"]);
        let entry = |name: &str, revision: &str| Address {
            name: name.into(),
            address: format!("file://{folder}"),
            revision: revision.into(),
            from: "here".into(),
        };
        let addresses = vec![entry("mini", "refs/heads/main"), entry("VERSION.y", "refs/heads/linux-VERSION.y")];
        Elsewhere { here, places: Places { addresses, ..Places::default() }, first, second }
    }

    fn resolve(&self, spec: &str) -> Result<Tree, Failure> {
        self.here.job(|job| resolve_in(spec, &self.places, job))
    }

    fn folder(&self) -> camino::Utf8PathBuf {
        self.here.root.join("elsewhere")
    }
}

#[test]
fn names_branches_tags_and_commits_are_fetched_without_history() {
    let it = Elsewhere::new();
    let cases = [
        ("mini".to_owned(), &it.second),
        ("6.12.y".to_owned(), &it.second),
        ("mini@main".to_owned(), &it.second),
        ("mini@v1".to_owned(), &it.first),
        (format!("mini@{}", it.first), &it.first),
    ];
    for (spec, commit) in cases {
        let tree = it.resolve(&spec).unwrap_or_else(|failure| panic!("{spec}: {}", failure.render()));
        assert_eq!((&tree.commit, tree.version.as_str()), (commit, "6.12.3"), "{spec}");
        assert!(tree.origin.contains("file://") && tree.origin.ends_with(&commit[..12]), "{}", tree.origin);
        let count = tree.repository.git().args(["rev-list", "--count", &tree.commit]).demand().unwrap().text();
        assert_eq!(count, "1", "{spec}");
    }
}

#[test]
fn a_branch_is_asked_for_anew_and_a_known_commit_is_not() {
    let it = Elsewhere::new();
    it.resolve("mini").unwrap();
    git(&it.folder(), &["commit", "--quiet", "--allow-empty", "-m", "third"]);
    assert_eq!(it.resolve("mini").unwrap().commit, git(&it.folder(), &["rev-parse", "HEAD"]));
    fs_err::remove_dir_all(it.folder()).unwrap();
    assert_eq!(it.resolve(&format!("mini@{}", it.second)).unwrap().commit, it.second);
    let failure = it.resolve("mini").unwrap_err();
    assert!(failure.what.starts_with("there is no git repository at this address"), "{}", failure.render());
    assert!(failure.hints.last().unwrap().contains("--tree mini@"), "{}", failure.render());
}

#[test]
fn an_unknown_revision_is_the_user_s() {
    let it = Elsewhere::new();
    for rev in ["nowhere", "", "-x", "a:b", "*", &"1".repeat(40)] {
        let failure = it.resolve(&format!("mini@{rev}")).unwrap_err();
        assert_eq!(failure.class, Class::Usage, "{rev}: {}", failure.render());
    }
}
