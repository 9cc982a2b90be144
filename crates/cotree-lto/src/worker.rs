//! Starts `cotree` and exchanges messages with it.

use crate::protocol::{LinkOutput, LinkRequest, LinkResponse};
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use thiserror::Error;

/// SIGILL, SIGABRT, SIGBUS and SIGSEGV.
const CRASHES: [i32; 4] = [4, 6, 7, 11];

/// Names the `cotree` executable where no plugin option does.
pub const DRIVER_ENV: &str = "COTREE_DRIVER";
/// Keeps the work folder when set.
pub const KEEP_ENV: &str = "COTREE_KEEP_TEMPS";

/// Why there is no answer from `cotree`. Each is the sentence that the linker prints, with a code that
/// `cotree explain` knows.
#[derive(Debug, Error)]
pub enum Failure {
    /// No option or variable names `cotree`.
    #[error(
        "the linker plugin was not told where cotree is: link through `cotree cc`, `cotree ld` or `cargo cotree`, or pass \
         -plugin-opt=cotree-driver=PATH [plugin-lost]"
    )]
    NoDriver,
    /// The worker can't be started.
    #[error("can't start {}, which the linker plugin was told to use: {error} [plugin-lost]", path.display())]
    Start {
        /// The executable.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The worker failed and gave the reason.
    #[error("{0}")]
    Reported(String),
    /// The worker ended without giving a reason.
    #[error("`{} {command}` {}; its messages, if any, stand above [link-died]", path.display(), ended(*.status))]
    Died {
        /// The executable.
        path: PathBuf,
        /// The subcommand.
        command: &'static str,
        /// How it ended.
        status: ExitStatus,
    },
    /// A file of the work folder.
    #[error("can't {verb} {}: {error} [file-access]", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
}

fn crashed(status: ExitStatus) -> bool {
    status.signal().is_some_and(|signal| CRASHES.contains(&signal))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended, and it is not known how".into(),
    }
}

fn file_error(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::File { verb, path, error }
}

/// A private folder below `TMPDIR`, removed when dropped unless kept.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    keep: bool,
}

impl WorkDir {
    /// Makes one.
    ///
    /// # Errors
    /// If the folder for temporary files can't be written.
    pub fn new(keep: bool) -> Result<WorkDir, Failure> {
        let base = std::env::temp_dir();
        for attempt in 0_u32.. {
            let path = base.join(format!("cotree-{}-{attempt}", std::process::id()));
            // Mode 700 and "must not exist": nobody else can have prepared it.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(WorkDir { path, keep }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 10_000 => {}
                Err(error) => return Err(file_error("create the folder", &path)(error)),
            }
        }
        unreachable!("the loop ends with the attempts")
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if !self.keep {
            // Ignore a failure: the link has succeeded by then.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The file in which `lto-symtab` leaves the reason if it fails.
#[must_use]
pub fn reason_file(output: &Path) -> PathBuf {
    output.with_extension("reason")
}

/// The `cotree` executable.
#[derive(Clone, Debug)]
pub struct Driver(PathBuf);

impl Driver {
    /// From the plugin option, else from the environment.
    ///
    /// # Errors
    /// If neither names it.
    pub fn find(option: Option<&str>) -> Result<Driver, Failure> {
        let path = option.map(PathBuf::from).or_else(|| std::env::var_os(DRIVER_ENV).map(PathBuf::from));
        path.filter(|path| !path.as_os_str().is_empty()).map(Driver).ok_or(Failure::NoDriver)
    }

    /// Does the link unit. If LLVM crashes, it is done once more, so as to find out over which functions, or over
    /// which damaged bitcode. What LLVM said the first time is not passed on.
    ///
    /// # Errors
    /// With the sentence to print.
    pub fn link(&self, request: &LinkRequest) -> Result<LinkOutput, Failure> {
        let (ended, said) = self.attempt(request, Stdio::piped())?;
        if !crashed(ended) {
            // If nobody listens, there is nobody to tell it.
            let _ = io::stderr().write_all(&said);
            return self.answer(request, ended);
        }
        let mut careful = request.clone();
        careful.options.push("cotree-careful=on".into());
        let (ended, _) = self.attempt(&careful, Stdio::inherit())?;
        self.answer(&careful, ended)
    }

    fn attempt(&self, request: &LinkRequest, messages: Stdio) -> Result<(ExitStatus, Vec<u8>), Failure> {
        let path = request.work_dir.join("request.json");
        let json = serde_json::to_vec_pretty(request).map_err(io::Error::from).map_err(file_error("write", &path))?;
        fs::write(&path, json).map_err(file_error("write", &path))?;
        self.run("lto-link", &[path.into()], messages)
    }

    fn answer(&self, request: &LinkRequest, ended: ExitStatus) -> Result<LinkOutput, Failure> {
        let answer = request.work_dir.join("response.json");
        let response: LinkResponse = match fs::read(&answer) {
            Ok(json) => {
                serde_json::from_slice(&json).map_err(io::Error::from).map_err(file_error("understand", &answer))?
            }
            Err(_) if !ended.success() => return Err(self.died("lto-link", ended)),
            Err(error) => return Err(file_error("read the answer", &answer)(error)),
        };
        match response {
            Err(reason) => Err(Failure::Reported(reason)),
            Ok(_) if !ended.success() => Err(self.died("lto-link", ended)),
            Ok(output) => Ok(output),
        }
    }

    /// Rewrites bitcode so that it has a symbol table that we can read.
    ///
    /// # Errors
    /// With the sentence to print.
    pub fn rewrite(&self, input: &Path, output: &Path) -> Result<(), Failure> {
        let (status, said) = self.run("lto-symtab", &[input.into(), output.into()], Stdio::piped())?;
        if crashed(status) {
            return Err(Failure::Reported(
                "LLVM crashes over its bitcode, which is damaged: compile it again [bitcode-damaged]".into(),
            ));
        }
        let _ = io::stderr().write_all(&said);
        match fs::read_to_string(reason_file(output)) {
            _ if status.success() => Ok(()),
            Ok(reason) => Err(Failure::Reported(reason)),
            Err(_) => Err(self.died("lto-symtab", status)),
        }
    }

    fn died(&self, command: &'static str, status: ExitStatus) -> Failure {
        Failure::Died { path: self.0.clone(), command, status }
    }

    /// Runs a subcommand. Returns what it says, if that is a pipe.
    fn run(
        &self,
        command: &'static str,
        arguments: &[OsString],
        messages: Stdio,
    ) -> Result<(ExitStatus, Vec<u8>), Failure> {
        let mut process = Command::new(&self.0);
        process.arg(command).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages);
        let output = process.output().map_err(|error| Failure::Start { path: self.0.clone(), error })?;
        Ok((output.status, output.stderr))
    }
}
