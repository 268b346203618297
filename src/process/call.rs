//! What is to be started.

use std::ffi::OsString;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

/// One program to be started, with all that it gets.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) program: String,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(String, OsString)>,
    pub(super) without: Vec<String>,
    pub(super) folder: Option<Utf8PathBuf>,
    pub(super) input: Option<Vec<u8>>,
    pub(super) deadline: Duration,
    pub(super) log: Option<Utf8PathBuf>,
    pub(super) on_one_cpu: bool,
}

impl Call {
    /// A call of a program from `PATH`, or of a path. The deadline is ten minutes unless set.
    pub fn new(program: impl Into<String>) -> Self {
        Call {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            without: Vec::new(),
            folder: None,
            input: None,
            deadline: Duration::from_secs(600),
            log: None,
            on_one_cpu: false,
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

    /// The program's name.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The command line as it would be typed into a shell.
    pub fn line(&self) -> String {
        let env = self.env.iter().map(|(name, value)| format!("{name}={}", quote(&value.to_string_lossy())));
        let words =
            std::iter::once(quote(&self.program)).chain(self.args.iter().map(|arg| quote(&arg.to_string_lossy())));
        env.chain(words).collect::<Vec<_>>().join(" ")
    }
}

fn quote(word: &str) -> String {
    shell_words::quote(word).into_owned()
}
