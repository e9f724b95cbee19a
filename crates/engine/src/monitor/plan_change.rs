//! The command's side of `thalweg plan apply`: all PEs of a job check the plan before any applies
//! it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use super::job_sample::{JobSample, PeSample};
use super::plan_words::{PlanRequestState, PlanWords};

/// Time within which a running PE answers. Plans of many thousand operators take a while to read.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(20);

/// Time between two looks at an answer.
const PERIOD: Duration = Duration::from_millis(5);

/// The words of a PE, taken by this command; freed when it is dropped.
struct TakenWords {
    pe: u32,
    words: PlanWords,
}

/// Gives a running job the settings of another plan, whose text this is: cores of threads, sizes of
/// queues, threads of pools.
///
/// # Errors
/// A PE does not answer, or refuses the plan, in a sentence that says why. Nothing has changed
/// then, unless the sentence says that it was refused when others had applied it.
pub fn apply_plan(job: &JobSample, text: &str) -> io::Result<()> {
    let (here, all) = (job.pes.len(), job.pe_count as usize);
    if here < all {
        let away = all - here;
        let what = format!("{away} of its {all} processes run on other hosts, or have ended");
        return Err(io::Error::other(what));
    }
    let file = memfd_create("thalweg plan", MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(text.as_bytes())?;
    let taken: Vec<TakenWords> = job.pes.iter().map(take).collect::<io::Result<_>>()?;
    taken
        .iter()
        .for_each(|one| one.words.ask(file.as_raw_fd() as u32));
    for one in &taken {
        one.wait_for(PlanRequestState::Checked)?;
    }
    for one in &taken {
        one.words.set_state(PlanRequestState::ApplyAsked);
    }
    let applied: Vec<io::Result<()>> = taken
        .iter()
        .map(|one| one.wait_for(PlanRequestState::Applied))
        .collect();
    let count = applied.iter().filter(|result| result.is_ok()).count();
    let failed = applied.into_iter().find_map(Result::err);
    match failed {
        None => Ok(()),
        Some(error) if count == 0 => Err(error),
        Some(error) => {
            let what = format!("{error}; {count} of {all} processes have applied the plan");
            Err(io::Error::other(what))
        }
    }
}

fn take(pe: &PeSample) -> io::Result<TakenWords> {
    let Some(fd) = pe.plan_words else {
        return Err(io::Error::other(format!(
            "pe {} takes no plans while it runs",
            pe.pe
        )));
    };
    let path = format!("/proc/{}/fd/{fd}", pe.pid);
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let words = PlanWords::join(file.as_fd())?;
    match words.take() {
        true => Ok(TakenWords { pe: pe.pe, words }),
        false => Err(io::Error::other(format!(
            "another command changes the plan of pe {} now",
            pe.pe
        ))),
    }
}

impl TakenWords {
    fn wait_for(&self, wanted: PlanRequestState) -> io::Result<()> {
        let (begun, pe) = (Instant::now(), self.pe);
        while begun.elapsed() < ANSWER_TIME_MAX {
            match self.words.state() {
                PlanRequestState::Refused => {
                    return Err(io::Error::other(format!(
                        "pe {pe}: {}",
                        self.words.answer()
                    )));
                }
                state if state == wanted => return Ok(()),
                _ => std::thread::sleep(PERIOD),
            }
        }
        Err(io::Error::other(format!("pe {pe} does not answer")))
    }
}

impl Drop for TakenWords {
    fn drop(&mut self) {
        self.words.free();
    }
}
