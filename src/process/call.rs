//! What is to be started.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::blame::Failure;

/// Adds what it knows to the failure of a call that concerned a file or folder.
pub type Explain = fn(Failure, &Utf8Path) -> Failure;

/// One program to be started, with all that it gets.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) program: String,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(String, OsString)>,
    pub(super) fixed: Vec<(String, OsString)>,
    pub(super) without: Vec<String>,
    pub(super) folder: Option<Utf8PathBuf>,
    pub(super) input: Option<Vec<u8>>,
    pub(super) deadline: Duration,
    pub(super) log: Option<Utf8PathBuf>,
    pub(super) on_one_cpu: bool,
    pub(super) held: Option<Arc<File>>,
    pub(super) explain: Option<(Utf8PathBuf, Explain)>,
}

impl Call {
    /// A call of a program from `PATH`, or of a path. The deadline is ten minutes unless set.
    pub fn new(program: impl Into<String>) -> Self {
        Call {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            fixed: Vec::new(),
            without: Vec::new(),
            folder: None,
            input: None,
            deadline: Duration::from_secs(600),
            log: None,
            on_one_cpu: false,
            held: None,
            explain: None,
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets environment variables that every call of this kind has: they stand in the log, but are
    /// left out where a failure names the command. [`Call::env`] comes before them.
    pub fn fixed_env<'a>(mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.fixed.extend(variables.into_iter().map(|(name, value)| (name.to_owned(), value.into())));
        self
    }

    /// Keeps environment variables of nspatch's own from the program; [`Call::env`] can still set them.
    pub fn without(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// The folder to start in; nspatch's own unless set.
    pub fn folder(mut self, folder: &Utf8Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Bytes for standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// How long the program may run.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// Lets the program run for as long as it likes: there is a person who ends it.
    pub fn without_deadline(mut self) -> Self {
        self.deadline = Duration::MAX;
        self
    }

    /// The file that takes the command line, then all that the program prints. Without one, output
    /// is kept in memory and given back.
    pub fn log(mut self, path: impl Into<Utf8PathBuf>) -> Self {
        self.log = Some(path.into());
        self
    }

    /// Keeps all threads of the program on one CPU, on the one that the fewest such programs have.
    pub fn on_one_cpu(mut self) -> Self {
        self.on_one_cpu = true;
        self
    }

    /// Lets the program and all that it starts keep a file open, so that a lock on it ends with the
    /// last of them, whatever becomes of nspatch.
    pub fn holding(mut self, file: Arc<File>) -> Self {
        self.held = Some(file);
        self
    }

    /// Has a failure of the program explained by who knows what lies at `subject`.
    pub fn explained(mut self, subject: &Utf8Path, by: Explain) -> Self {
        self.explain = Some((subject.to_owned(), by));
        self
    }

    /// Leaves a failure of the program as it is.
    pub fn unexplained(mut self) -> Self {
        self.explain = None;
        self
    }

    /// Whether the program is there to be started.
    pub fn is_installed(&self) -> bool {
        let there = |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
        if self.program.contains('/') {
            return there(Path::new(&self.program));
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| there(&folder.join(&self.program)))
    }

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The command line as it would be typed into a shell, with all that was set for it.
    pub fn line(&self) -> String {
        self.line_with(self.fixed.iter().chain(&self.env))
    }

    /// The command line without what every call of its kind has in its environment.
    pub(super) fn short_line(&self) -> String {
        self.line_with(self.env.iter())
    }

    fn line_with<'a>(&self, env: impl Iterator<Item = &'a (String, OsString)>) -> String {
        let env = env.map(|(name, value)| format!("{name}={}", quote(&value.to_string_lossy())));
        let words =
            std::iter::once(quote(&self.program)).chain(self.args.iter().map(|arg| quote(&arg.to_string_lossy())));
        env.chain(words).collect::<Vec<_>>().join(" ")
    }
}

fn quote(word: &str) -> String {
    shell_words::quote(word).into_owned()
}
