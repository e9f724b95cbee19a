//! A run in which one call fails: by `inject.c`, compiled here with `cc` or what `CC` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::calls::{Comes, Failure, number};
use crate::programs::Program;

/// Nothing takes so long that is not stuck, on whatever machine.
const HUNG_SECONDS: &str = "300";

/// Which call of which process fails.
#[derive(Clone, Copy)]
pub struct Case<'p> {
    pub program: &'p Program,
    /// 0: the command; n + 1: PE n.
    pub process: u32,
    pub failure: Failure,
    /// The number of the failing call among those of its kind, from 1.
    pub nth: u32,
}

/// The outcome of a case.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// The process made fewer calls than the number of the failing one.
    NotReached,
    /// The run ended as it has to.
    Right,
    /// The run ended wrongly, for this reason.
    Wrong(String),
}

/// The path of the injector, which is compiled once.
static INJECT: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inject");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/inject.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
    let done = command.arg(&program).arg(source).output();
    let done = done.unwrap_or_else(|error| panic!("no C compiler, `{compiler}`: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    program
});

/// A folder of one run, removed with all that is in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("thalweg-faults-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Case<'_> {
    /// Runs the case in a new folder.
    pub fn run(&self) -> Fate {
        let folder = Folder::new();
        let args = self.program.set_up(&folder.0);
        let report = folder.0.join("report");
        let done = Command::new(&*INJECT)
            .arg(&report)
            .arg(HUNG_SECONDS)
            .arg(self.process.to_string())
            .arg(self.failure.call)
            .arg(self.nth.to_string())
            .arg(number(self.failure.error).to_string())
            .arg(env!("CARGO_BIN_EXE_thalweg"))
            .args(args)
            .env("TMPDIR", &folder.0)
            .env("RUST_BACKTRACE", "0")
            .env("XDG_RUNTIME_DIR", &folder.0)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = String::from_utf8_lossy(&done.stdout);
        let stderr = String::from_utf8_lossy(&done.stderr);
        let report = fs::read_to_string(&report).unwrap_or_else(|_| panic!("{stderr}"));
        let is_right = self.program.is_right(&folder.0, &stdout);
        let status = done.status.code().unwrap_or(-1);
        let wrong = match report.trim().split_once(' ') {
            Some((_, fate)) if fate != "ended" => Some(fate),
            Some(("failed", _)) => self.fault(status, is_right, &stderr),
            _ if status == 0 && is_right => return Fate::NotReached,
            _ => Some("fails by itself"),
        };
        match wrong {
            None => Fate::Right,
            Some(what) => Fate::Wrong(format!(
                "{what}\n  status {status}, output right: {is_right}\n{stderr}"
            )),
        }
    }

    /// The reason why a run that has ended is wrong; `None` if it is right.
    fn fault(&self, status: i32, is_right: bool, stderr: &str) -> Option<&'static str> {
        let blunders = [
            "panicked",
            "internal error",
            "without reporting why",
            "without a result",
            "SIGABRT",
        ];
        if blunders.iter().any(|blunder| stderr.contains(blunder)) {
            return Some("says nothing to a user");
        }
        let is_said = !stderr.trim().is_empty();
        match (status, self.failure.comes) {
            (0, _) if is_right => None,
            (0, _) if self.program.may_lose && is_said => None,
            (0, _) => Some("loses tuples and says nothing"),
            (_, Comes::ToNothing) => Some("ends by what comes to nothing"),
            // A reader that has closed its end of our output is not reported.
            (1 | 2, Comes::ToAnError) if is_said || self.failure.error == "EPIPE" => None,
            (1 | 2, Comes::ToAnError) => Some("says nothing"),
            (_, Comes::ToAnError) => Some("is killed"),
        }
    }

    /// The name of the case: `shm:1:sendmsg:EPIPE:3`.
    pub fn name(&self) -> String {
        let Failure { call, error, .. } = self.failure;
        let (program, process) = (self.program.name, self.process);
        format!("{program}:{process}:{call}:{error}:{}", self.nth)
    }
}
