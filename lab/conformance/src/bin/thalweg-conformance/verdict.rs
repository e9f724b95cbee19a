//! The verdict on one behaviour of a library, and the words for it.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::isolated::{ChildEnd, ChildOutput};

/// Kinds of verdicts on a library in one behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// The library shows the behaviour.
    Passed,
    /// The library does something else.
    Failed,
    /// The library has ended its process.
    Crashed,
    /// The library did not come to an end.
    Blocked,
    /// The behaviour was not tested.
    PassedOver,
}

/// A verdict, with its sentence.
#[derive(Clone, Debug)]
pub struct MediumVerdict {
    pub kind: VerdictKind,
    /// Sentence that says what was wrong; empty for [`VerdictKind::Passed`].
    pub sentence: String,
}

impl VerdictKind {
    /// The word for the verdict in reports.
    pub fn word(self) -> &'static str {
        match self {
            VerdictKind::Passed => "passed",
            VerdictKind::Failed => "failed",
            VerdictKind::Crashed => "crashed",
            VerdictKind::Blocked => "blocked",
            VerdictKind::PassedOver => "passed over",
        }
    }
}

impl MediumVerdict {
    /// The verdict on a behaviour that is not tested, with the reason.
    pub fn passed_over(why: &str) -> MediumVerdict {
        MediumVerdict {
            kind: VerdictKind::PassedOver,
            sentence: why.to_owned(),
        }
    }

    /// The verdict on a child that had this long.
    pub fn new(end: &ChildEnd, deadline: Duration) -> MediumVerdict {
        let (kind, sentence) = match end {
            ChildEnd::Done(status, _) if status.success() => (VerdictKind::Passed, String::new()),
            ChildEnd::Done(_, output) => (VerdictKind::Failed, last_words(output)),
            ChildEnd::Crashed(status) => (VerdictKind::Crashed, how_it_ended(*status)),
            ChildEnd::Blocked => (VerdictKind::Blocked, blocked(deadline)),
        };
        MediumVerdict { kind, sentence }
    }
}

/// Standard error of a child, as one line.
fn last_words(output: &ChildOutput) -> String {
    let lines = output.stderr.lines().map(str::trim);
    // The first line of a panic says where in the suite it happened; the last is a hint for the
    // suite's own developers.
    let lines = lines.filter(|line| {
        !line.is_empty() && !line.starts_with("thread '") && !line.starts_with("note: ")
    });
    let words: Vec<_> = lines.collect();
    match words.is_empty() {
        true => "the test failed without a word".to_owned(),
        false => words.join(" "),
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => {
            let name = signal_name(signal);
            format!("the library ended its process by signal {signal}{name}")
        }
        None => {
            let code = status.code().unwrap_or_default();
            format!("the library ended its process by exit({code})")
        }
    }
}

/// Names of the signals by which code that is wrong ends.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        11 => " (SIGSEGV)",
        _ => "",
    }
}

fn blocked(deadline: Duration) -> String {
    format!(
        "the library blocked: the test had not ended after {} s and was killed",
        deadline.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_words() {
        let signal = ExitStatus::from_raw(11);
        let words = how_it_ended(signal);
        assert_eq!(
            words,
            "the library ended its process by signal 11 (SIGSEGV)"
        );
        let words = how_it_ended(ExitStatus::from_raw(3 << 8));
        assert_eq!(words, "the library ended its process by exit(3)");
        let deadline = Duration::from_millis(1500);
        let blocked = MediumVerdict::new(&ChildEnd::Blocked, deadline);
        assert_eq!(blocked.kind, VerdictKind::Blocked);
        assert!(blocked.sentence.contains("after 1.5 s"));
    }

    #[test]
    fn panics_are_one_line() {
        let output = ChildOutput {
            stdout: String::new(),
            stderr: "thread 'main' (7) panicked at a.rs:1:2:\na crooked claim\nnote: run with \
                     `RUST_BACKTRACE=1`\n"
                .to_owned(),
        };
        assert_eq!(last_words(&output), "a crooked claim");
    }
}
