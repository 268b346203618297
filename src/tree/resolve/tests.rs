use super::super::mini::{self, Surroundings};
use super::super::places::Address;
use super::*;
use crate::blame::Class;

fn places(here: &Surroundings) -> Places {
    let tools = here.root.join("tools");
    Places {
        sources: here.root.join("sources"),
        tools: Some(tools),
        lists: here.root.join("lists"),
        addresses: vec![],
        ..Places::default()
    }
}

fn resolved(here: &Surroundings, spec: &str) -> Result<Tree, Failure> {
    here.job(|job| resolve_in(spec, &places(here), job))
}

fn folder(here: &Surroundings, name: &str) -> Utf8PathBuf {
    let folder = here.root.join(name);
    fs_err::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn an_unknown_tree_names_the_nearest_and_the_forms() {
    let here = Surroundings::new();
    fs_err::write(folder(&here, "sources").join("linux-source-6.12.tar.xz"), "").unwrap();
    let failure = resolved(&here, "debain:6.12").unwrap_err();
    assert_eq!(failure.class, Class::Usage);
    assert_eq!(failure.hints[0], "did you mean `debian:6.12`?");
    assert!(failure.hints[1].contains("FOLDER@REVISION"), "{failure:?}");
}

#[test]
fn an_installed_package_is_found_without_its_tools() {
    let here = Surroundings::new();
    let [_, (ending, archive), ..] = mini::packed(&mini::tar(&mini::items("linux-source-6.12")));
    fs_err::write(folder(&here, "sources").join(format!("linux-source-6.12.{ending}")), archive).unwrap();
    let tree = resolved(&here, "debian:6.12").unwrap();
    assert_eq!((tree.name.as_str(), tree.version.as_str()), ("debian:6.12", "6.12.3"));
    assert!(tree.origin.starts_with("debian linux-source-6.12 ("), "{}", tree.origin);
    assert_eq!(here.done(), 1);
    assert_eq!(resolved(&here, "debian:6.12").unwrap(), tree);
    assert_eq!(here.done(), 1, "imported once");
}

#[test]
fn plain_files_a_tarball_and_a_repository_of_the_same_content_are_the_same_git_tree() {
    let here = Surroundings::new();
    let (plain, repository) = (folder(&here, "plain"), folder(&here, "repository"));
    mini::unpack(&plain);
    let commit = mini::repository(&repository);
    let tarball = here.root.join("mini.tar");
    fs_err::write(&tarball, mini::tar(&mini::items("mini"))).unwrap();
    let content = |spec: &Utf8Path| {
        let tree = resolved(&here, spec.as_str()).unwrap();
        let rev = format!("{}^{{tree}}", tree.commit);
        (tree.commit, tree.repository.git().args(["rev-parse", &rev]).demand().unwrap().text())
    };
    let [of_plain, of_tarball, of_repository] = [&plain, &tarball, &repository].map(|spec| content(spec));
    assert_eq!(of_plain.1, of_tarball.1);
    assert_eq!(of_plain.1, of_repository.1);
    assert_eq!(of_repository.0, commit);
}

#[test]
fn a_changed_folder_is_another_commit_and_nothing_is_written_into_it() {
    let here = Surroundings::new();
    let plain = folder(&here, "plain");
    mini::unpack(&plain);
    let first = resolved(&here, plain.as_str()).unwrap();
    assert_eq!(resolved(&here, plain.as_str()).unwrap().commit, first.commit);
    fs_err::write(plain.join("kernel/fork.c"), "int knife;\n").unwrap();
    assert_ne!(resolved(&here, plain.as_str()).unwrap().commit, first.commit);
    assert!(!plain.join(".git").exists());
}

#[test]
fn edits_that_are_not_committed_are_told_and_left_out() {
    let here = Surroundings::new();
    let repository = folder(&here, "repository");
    let commit = mini::repository(&repository);
    fs_err::write(repository.join("kernel/fork.c"), "int knife;\n").unwrap();
    assert_eq!(resolved(&here, repository.as_str()).unwrap().commit, commit);
    assert!(here.notices().contains("has 1 change not committed"), "{}", here.notices());
}

#[test]
fn a_revision_is_taken_from_a_repository_only() {
    let here = Surroundings::new();
    let (plain, repository) = (folder(&here, "plain"), folder(&here, "repository"));
    mini::unpack(&plain);
    let first = mini::repository(&repository);
    fs_err::write(repository.join("kernel/fork.c"), "int knife;\n").unwrap();
    mini::git(&repository, &["commit", "--quiet", "--all", "-m", "second"]);
    assert_eq!(resolved(&here, &format!("{repository}@HEAD~1")).unwrap().commit, first);
    assert!(resolved(&here, &format!("{repository}@nowhere")).unwrap_err().what.contains("`nowhere`"));
    assert!(resolved(&here, &format!("{plain}@HEAD")).unwrap_err().what.contains("is no git repository"));
}

#[test]
fn a_name_of_the_table_is_fetched_from_its_address() {
    let here = Surroundings::new();
    let repository = folder(&here, "repository");
    let commit = mini::repository(&repository);
    let table = format!("- {{ name: mini, address: 'file://{repository}', revision: refs/heads/main }}\n");
    let places = Places { addresses: Address::table(table.as_bytes(), "here", &[]).unwrap(), ..places(&here) };
    let tree = here.job(|job| resolve_in("mini", &places, job)).unwrap();
    assert_eq!((tree.commit, tree.version.as_str()), (commit, "6.12.3"));
}

#[test]
fn what_is_no_kernel_is_refused_before_it_is_imported() {
    let here = Surroundings::new();
    let empty = folder(&here, "empty");
    let failure = resolved(&here, empty.as_str()).unwrap_err();
    assert!(failure.what.contains("Makefile"), "{failure:?}");
    assert_eq!(failure.class, Class::Usage);
    assert_eq!(here.repositories(), Vec::<Utf8PathBuf>::new());
}
