//! The table of a library, checked: what is wrong is said, and what is right can be called.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use crate::abi::{
    Accept, ArmReceiver, ArmSender, CapsFields, ClaimRoom, ClaimRun, Flush, FunctionFields,
    MediumTableHead, OnReceiver, OnSender, Open, Poll, RECEIVERS_MAX, ReceiverBytes, RunFields,
    RunWords, STATUS_LOST, STATUS_REFUSED, STATUS_SYSTEM, SenderBytes, SenderNumber, Sentence,
    TableFields, TableWithRuns, VERSION,
};
use crate::error::PluginError;

/// Most bytes of the line that describes a medium.
const ABOUT_BYTES_MAX: usize = 200;

/// Capabilities of a medium as its library states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryCaps {
    /// Whether edges can cross processes.
    pub crosses_processes: bool,
    /// Whether edges can cross hosts.
    pub crosses_hosts: bool,
    /// Whether bytes come from a network.
    pub is_untrusted: bool,
    /// Whether one write serves several receivers.
    pub is_one_to_many: bool,
    /// Most receivers of an edge, 1 to 64.
    pub receivers_max: u32,
    /// Stated cost of a frame without bytes, in nanoseconds; 0: unknown.
    pub frame_ns: u32,
    /// Stated cost of each byte, in picoseconds; 0: unknown.
    pub byte_ps: u32,
}

/// A library's table, whose functions are all there.
#[derive(Debug)]
pub struct Table {
    pub file: PathBuf,
    pub about: String,
    pub caps: LibraryCaps,
    pub functions: Functions,
    /// Functions for runs of blocks, if the library has them.
    pub runs: Option<RunFunctions>,
    /// Whether polls show whole blocks, as the library says.
    pub polls_whole_blocks: bool,
}

/// Functions of a library for runs of blocks.
#[derive(Clone, Copy, Debug)]
pub struct RunFunctions {
    pub run_words: RunWords,
    pub claim_run: ClaimRun,
    pub wake: OnSender,
}

/// Declares the functions that a library must have, and takes each from its table.
macro_rules! functions {
    ($($name:ident: $type:ty,)+) => {
        /// Functions of a library, none of them null.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(pub $name: $type,)+
        }

        impl Functions {
            /// The functions of a table, or the name of the first that is null.
            fn new(fields: &FunctionFields) -> Result<Functions, &'static str> {
                Ok(Functions {
                    $($name: fields.$name.ok_or(stringify!($name))?,)+
                })
            }
        }
    };
}

functions! {
    open: Open,
    accept: Accept,
    claim: ClaimRoom,
    commit: SenderBytes,
    flush: Flush,
    queued: SenderNumber,
    lost: SenderNumber,
    arm_sender: ArmSender,
    disarm_sender: OnSender,
    close_sender: OnSender,
    poll: Poll,
    release: ReceiverBytes,
    arm_receiver: ArmReceiver,
    disarm_receiver: OnReceiver,
    close_receiver: OnReceiver,
}

impl Table {
    /// Reads and checks the table of a library.
    ///
    /// # Errors
    /// [`PluginError::Unusable`]: another version, a table that is too small, a null function, or
    /// capabilities that contradict each other.
    ///
    /// # Safety
    /// `table` is the address of a `thalweg_medium` of any version, which stays.
    pub unsafe fn read(file: &Path, table: *const TableFields) -> Result<Table, PluginError> {
        let unusable = |why: String| PluginError::unusable(file, why);
        if table.is_null() {
            return Err(unusable("thalweg_medium_table is at a null address".into()));
        }
        // SAFETY: each version of the table begins with its head.
        let MediumTableHead { version, bytes } =
            unsafe { table.cast::<MediumTableHead>().read_unaligned() };
        if version != VERSION {
            return Err(unusable(format!(
                "its table has version {version}, and this thalweg calls version {VERSION}; compile \
                 it with the thalweg_medium.h of this thalweg"
            )));
        }
        let (without_runs, whole) = (size_of::<TableFields>(), size_of::<TableWithRuns>());
        let bytes = bytes as usize;
        if bytes != without_runs && bytes < whole {
            return Err(unusable(format!(
                "its table has {bytes} bytes, and version {VERSION} has {without_runs} or {whole}: \
                 `bytes` must be sizeof(thalweg_medium)"
            )));
        }
        // SAFETY: the library says that the table has all these bytes.
        let fields = unsafe { table.read_unaligned() };
        let runs = match bytes < whole {
            true => RunFields::default(),
            // SAFETY: the library says that the table has these bytes too.
            false => unsafe { table.cast::<TableWithRuns>().read_unaligned() }.runs,
        };
        let functions = Functions::new(&fields.functions)
            .map_err(|name| unusable(format!("the function `{name}` of its table is null")))?;
        if fields.about.is_null() {
            return Err(unusable("`about` of its table is null".into()));
        }
        // SAFETY: by the header, `about` is text that ends with a zero and stays.
        let about = unsafe { CStr::from_ptr(fields.about) };
        Ok(Table {
            file: file.to_owned(),
            about: one_line(about).map_err(unusable)?,
            caps: check_caps(fields.caps).map_err(unusable)?,
            functions,
            runs: check_runs(&runs).map_err(unusable)?,
            polls_whole_blocks: check_flag("polls_whole_blocks", runs.polls_whole_blocks)
                .map_err(unusable)?,
        })
    }

    /// The error of a status below 0 and the sentence that came with it.
    #[cold]
    pub fn error(&self, function: &str, status: i32, sentence: &Sentence) -> PluginError {
        let text = match CStr::from_bytes_until_nul(sentence) {
            Ok(text) => text.to_string_lossy().trim().to_owned(),
            Err(_) => return self.broken(function, "writes a sentence without a zero at its end"),
        };
        let text = match text.is_empty() {
            true => format!("{}: {function} says nothing more", self.file.display()),
            false => text,
        };
        match status {
            STATUS_LOST => PluginError::Lost(text),
            STATUS_REFUSED => PluginError::Refused(text),
            STATUS_SYSTEM => PluginError::System(text),
            _ => self.broken(function, format!("returns {status}, which is no status")),
        }
    }

    /// The error that a function did what no library may do.
    #[cold]
    pub fn broken(&self, function: &str, what: impl std::fmt::Display) -> PluginError {
        PluginError::broken(&self.file, function, what)
    }
}

/// The line that describes a medium.
fn one_line(about: &CStr) -> Result<String, String> {
    match about.to_str() {
        Ok(line) if line.len() > ABOUT_BYTES_MAX || line.contains(char::is_control) => Err(
            format!("`about` of its table is not one line of at most {ABOUT_BYTES_MAX} bytes"),
        ),
        Ok(line) => Ok(line.to_owned()),
        Err(_) => Err("`about` of its table is no UTF-8".to_owned()),
    }
}

/// The functions for runs, which are all there or all missing.
fn check_runs(fields: &RunFields) -> Result<Option<RunFunctions>, String> {
    match *fields {
        RunFields {
            run_words: Some(run_words),
            claim_run: Some(claim_run),
            wake: Some(wake),
            ..
        } => Ok(Some(RunFunctions {
            run_words,
            claim_run,
            wake,
        })),
        RunFields {
            run_words: None,
            claim_run: None,
            wake: None,
            ..
        } => Ok(None),
        _ => Err(
            "of the functions `run_words`, `claim_run` and `wake` of its table some are null: it \
             must have all of them or none"
                .to_owned(),
        ),
    }
}

/// A flag of the table.
fn check_flag(name: &str, value: u64) -> Result<bool, String> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(format!(
            "the capability `{name}` is {value}, and must be 0 or 1"
        )),
    }
}

/// The capabilities, if no two of them contradict each other.
fn check_caps(caps: CapsFields) -> Result<LibraryCaps, String> {
    let flag = |name: &str, value: u32| check_flag(name, value.into());
    let checked = LibraryCaps {
        crosses_processes: flag("crosses_processes", caps.crosses_processes)?,
        crosses_hosts: flag("crosses_hosts", caps.crosses_hosts)?,
        is_untrusted: flag("is_untrusted", caps.is_untrusted)?,
        is_one_to_many: flag("is_one_to_many", caps.is_one_to_many)?,
        receivers_max: caps.receivers_max,
        frame_ns: caps.frame_ns,
        byte_ps: caps.byte_ps,
    };
    let most = checked.receivers_max;
    if most == 0 || most > RECEIVERS_MAX {
        return Err(format!(
            "the capability `receivers_max` is {most}, and must be 1 to {RECEIVERS_MAX}"
        ));
    }
    let contradiction = match checked {
        LibraryCaps {
            crosses_hosts: true,
            crosses_processes: false,
            ..
        } => "a medium that crosses hosts crosses processes",
        LibraryCaps {
            crosses_hosts: true,
            is_untrusted: false,
            ..
        } => "bytes from another host are untrusted",
        LibraryCaps {
            is_one_to_many: true,
            receivers_max: 1,
            ..
        } => "a medium that is one to many has more than one receiver",
        _ => return Ok(checked),
    };
    Err(format!(
        "its capabilities contradict each other: {contradiction}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: CapsFields = CapsFields {
        crosses_processes: 1,
        crosses_hosts: 0,
        is_untrusted: 0,
        is_one_to_many: 0,
        receivers_max: 1,
        frame_ns: 0,
        byte_ps: 0,
    };

    #[test]
    fn contradicting_capabilities_are_said() {
        assert!(check_caps(PIPE).is_ok());
        let wrong = [
            (
                CapsFields {
                    crosses_processes: 2,
                    ..PIPE
                },
                "`crosses_processes` is 2",
            ),
            (
                CapsFields {
                    receivers_max: 0,
                    ..PIPE
                },
                "`receivers_max` is 0",
            ),
            (
                CapsFields {
                    receivers_max: 65,
                    ..PIPE
                },
                "1 to 64",
            ),
            (
                CapsFields {
                    crosses_hosts: 1,
                    ..PIPE
                },
                "are untrusted",
            ),
            (
                CapsFields {
                    is_one_to_many: 1,
                    ..PIPE
                },
                "more than one receiver",
            ),
            (
                CapsFields {
                    crosses_hosts: 1,
                    crosses_processes: 0,
                    is_untrusted: 1,
                    ..PIPE
                },
                "crosses processes",
            ),
        ];
        for (caps, words) in wrong {
            let found = check_caps(caps).unwrap_err();
            assert!(found.contains(words), "{found}");
        }
    }

    #[test]
    fn a_description_is_one_line() {
        assert_eq!(one_line(c"a pipe").as_deref(), Ok("a pipe"));
        for wrong in [c"a\npipe", c"\xff"] {
            assert!(one_line(wrong).is_err());
        }
        let long = std::ffi::CString::new("x".repeat(201)).unwrap();
        assert!(one_line(&long).is_err());
    }
}
