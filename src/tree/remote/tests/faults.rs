//! Fetching from real servers, and from such as are slow, wrong or gone.

use std::net::TcpListener;

use super::servers::{Act, Daemon, Http};
use crate::blame::{Class, Failure};
use crate::tree::health::damage;
use crate::tree::mini::{Surroundings, git, repository};
use crate::tree::{Address, Places, Tree, resolve_in};

/// A kernel that a server gives out, under the name `far`.
struct Far {
    here: Surroundings,
    places: Places,
    first: String,
}

impl Far {
    /// `address` tells the address of the folder that is given out.
    fn new(address: impl FnOnce(&Surroundings) -> String) -> Self {
        let here = Surroundings::new();
        let folder = here.root.join("pub/linux.git");
        let first = repository(&folder);
        let noise: String = (0..20_000_u64).map(|n| format!("{}\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        fs_err::write(folder.join("kernel/noise.c"), noise).unwrap();
        git(&folder, &["add", "kernel/noise.c"]);
        git(&folder, &["commit", "--quiet", "-m", "something to transfer"]);
        git(&folder, &["tag", "-a", "-m", "one", "v1"]);
        let address = format!("{}/linux.git", address(&here));
        let entry = Address { name: "far".into(), address, revision: "refs/heads/main".into(), from: "here".into() };
        Far { here, places: Places { addresses: vec![entry], ..Places::default() }, first }
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.here.root.join("pub/linux.git"), args)
    }

    fn resolve(&self, spec: &str) -> Result<Tree, Failure> {
        self.here.job(|job| resolve_in(spec, &self.places, job))
    }

    /// The branch as another history: rebased, and its old commits gone.
    fn rebase(&self) -> String {
        self.git(&["checkout", "--quiet", "--orphan", "other"]);
        self.git(&["commit", "--quiet", "-m", "another history"]);
        self.git(&["branch", "--quiet", "--force", "main", "other"]);
        self.git(&["rev-parse", "HEAD"])
    }
}

fn serves(far: &Far) {
    let head = far.git(&["rev-parse", "HEAD"]);
    for (spec, commit) in
        [("far".to_owned(), &head), ("far@v1".to_owned(), &head), (format!("far@{}", far.first), &far.first)]
    {
        let tree = far.resolve(&spec).unwrap_or_else(|failure| panic!("{spec}: {}", failure.render()));
        assert_eq!((&tree.commit, tree.version.as_str()), (commit, "6.12.3"), "{spec}");
        let count = tree.repository.git().args(["rev-list", "--count", &tree.commit]).demand().unwrap().text();
        assert_eq!(count, "1", "{spec} brings no history");
    }
    let rebased = far.rebase();
    assert_eq!(far.resolve("far").unwrap().commit, rebased);
    assert_eq!(far.resolve(&format!("far@{head}")).unwrap().commit, head, "what was fetched before is still there");
    far.git(&["branch", "--quiet", "--move", "main", "trunk"]);
    let failure = far.resolve("far").unwrap_err();
    assert!(failure.class == Class::Usage && failure.hints[0].contains("renamed"), "{}", failure.render());
    assert_eq!(damage(far.resolve("far@trunk").unwrap().repository.git_dir()), None);
}

#[test]
fn a_git_daemon_gives_branches_tags_and_commits_also_after_a_rebase() {
    let mut daemon = None;
    let far = Far::new(|here| daemon.insert(Daemon::start(&here.root.join("pub"))).address.clone());
    serves(&far);
    drop(daemon);
    let failure = far.resolve("far@trunk").unwrap_err();
    assert!(failure.class == Class::Host && failure.what.starts_with("the server cannot be reached"), "{failure:?}");
}

#[test]
fn an_http_server_gives_branches_tags_and_commits_also_after_a_rebase() {
    serves(&Far::new(|here| Http::start(&here.root.join("pub")).address));
}

#[test]
fn a_connection_that_is_lost_once_is_made_anew() {
    let mut http = None;
    let far = Far::new(|here| http.insert(Http::start(&here.root.join("pub"))).address.clone());
    let http = http.unwrap();
    for after in [10, 300, 40_000] {
        http.act(&[Act::Cut(after), Act::Serve]);
        far.git(&["commit", "--quiet", "--allow-empty", "-m", "newer"]);
        let tree = far.resolve("far").unwrap_or_else(|failure| panic!("{after}: {}", failure.render()));
        assert_eq!(tree.commit, far.git(&["rev-parse", "HEAD"]), "{after}");
    }
}

#[test]
fn a_server_that_answers_wrongly_or_not_is_told_and_leaves_the_cache_as_it_was() {
    let mut http = None;
    let mut far = Far::new(|here| http.insert(Http::start(&here.root.join("pub"))).address.clone());
    let http = http.unwrap();
    far.places.silence = std::time::Duration::from_secs(2);
    let cases = [
        (Act::Cut(300), Class::Host, "the connection was lost"),
        (Act::Garble, Class::Host, "the server answered wrongly"),
        (Act::Silent, Class::Host, "the server said nothing for 2 s"),
        (Act::Page, Class::Usage, "there is no git repository at this address"),
        (Act::Status("404 Not Found"), Class::Usage, "there is no git repository at this address"),
        (Act::Status("401 Unauthorized"), Class::Usage, "the server wants a login"),
        (Act::Status("403 Forbidden"), Class::Usage, "the server wants a login"),
        (Act::Status("503 Service Unavailable"), Class::Host, "the server is in trouble"),
    ];
    let fails = |act: Act, class: Class, what: &str| {
        http.act(&[act]);
        let failure = far.resolve("far").err().unwrap_or_else(|| panic!("{act:?} is no failure"));
        assert!(failure.class == class && failure.what.starts_with(what), "{act:?}: {}", failure.render());
        assert!(failure.place.as_deref() == Some(&far.places.addresses[0].address), "{}", failure.render());
        failure
    };
    for (act, class, what) in cases {
        fails(act, class, what);
    }
    assert_eq!(far.here.repositories(), Vec::<camino::Utf8PathBuf>::new(), "nothing was fetched, nothing is left");
    http.act(&[Act::Serve]);
    let known = far.resolve("far").unwrap();
    far.git(&["commit", "--quiet", "--allow-empty", "-m", "newer"]);
    for (act, class, what) in cases {
        let failure = fails(act, class, what);
        assert!(failure.hints.last().unwrap().contains(&known.commit), "{}", failure.render());
        assert_eq!(damage(known.repository.git_dir()), None, "{act:?}");
        assert_eq!(far.resolve(&format!("far@{}", known.commit)).unwrap().commit, known.commit, "{act:?}");
    }
    http.act(&[Act::Serve]);
    assert_eq!(far.resolve("far").unwrap().commit, far.git(&["rev-parse", "HEAD"]));
    assert_eq!(far.here.notices(), "");
}

#[test]
fn nobody_at_the_address_is_told() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for scheme in ["git", "http"] {
        let far = Far::new(|_| format!("{scheme}://{closed}"));
        let failure = far.resolve("far").unwrap_err();
        assert!(
            failure.class == Class::Host && failure.what.starts_with("the server cannot be reached"),
            "{}",
            failure.render()
        );
    }
}
