//! Ranks, their launcher and mpirun are killed: it is said who was, and nothing stays.

use rustix::process::Signal;

use super::{by_mpi, library_folder, mpirun};
use crate::processes::{Live, Process, children_of};
use crate::scratch::{Run, Scratch};

const ENDLESS: &str = r#"composite Main {
    graph
        stream<uint64 n> In = Beacon() {
            param period : 0.001;
            output In : n = IterationCount();
        }
        () as Said = Custom(In) {
            logic onTuple In : if (n == 0ul) { printStringLn("running"); }
        }
}"#;

/// A job of two ranks that runs.
struct Ranks {
    live: Live,
    /// Processes of the ranks; the first is the launcher.
    ranks: Vec<Process>,
    /// PE 0, the child of the launcher.
    first: Process,
}

impl Ranks {
    fn start(scratch: &Scratch, folder: &str) -> Ranks {
        let file = scratch.write("Main.spl", ENDLESS);
        let args = [
            &["run", file.to_str().unwrap()][..],
            &by_mpi(folder, "none"),
        ]
        .concat();
        let mut live = Live::of(scratch, mpirun(scratch, &[], 2, &args));
        assert_eq!(live.line(), "running\n");
        let mut ranks = children_of(live.pid());
        ranks.sort_by_key(|process| rank_of(process.pid));
        let first = children_of(ranks[0].pid).remove(0);
        Ranks { live, ranks, first }
    }

    /// Waits for the end of the job, and of all its processes.
    fn end(self) -> Run {
        let run = self.live.end();
        for process in self.ranks.iter().chain([&self.first]) {
            process.is_gone();
        }
        run
    }
}

/// The number of a rank, by its environment.
fn rank_of(pid: i32) -> u32 {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let variables = environment.split(|byte| *byte == 0);
    let texts = variables.filter_map(|variable| std::str::from_utf8(variable).ok());
    let mut ranks = texts.filter_map(|text| text.strip_prefix("OMPI_COMM_WORLD_RANK="));
    ranks.next().unwrap().parse().unwrap()
}

#[test]
fn a_killed_receiver_is_named() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let job = Ranks::start(&scratch, folder);
    job.ranks[1].signal(Signal::KILL);
    let stderr = job.end().fails(137);
    // One of both is said: mpirun may kill the launcher before it says anything.
    let own = "thalweg: pe 1 (Said): its rank has ended without reporting why";
    assert!(
        stderr.contains(own) || stderr.contains("process rank 1"),
        "{stderr}"
    );
}

#[test]
fn a_killed_sender_is_named() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let job = Ranks::start(&scratch, folder);
    job.first.signal(Signal::KILL);
    let stderr = job.end().fails(1);
    assert!(
        stderr.contains("thalweg: pe 0 (In): killed by signal 9 (SIGKILL)"),
        "{stderr}"
    );
}

#[test]
fn a_killed_launcher_leaves_nothing() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let job = Ranks::start(&scratch, folder);
    job.ranks[0].signal(Signal::KILL);
    let stderr = job.end().fails(137);
    assert!(stderr.contains("process rank 0"), "{stderr}");
}

#[test]
fn a_killed_mpirun_leaves_nothing() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let job = Ranks::start(&scratch, folder);
    job.live.signal(Signal::KILL);
    assert_eq!(job.end().status, -1);
}

/// An orderly shutdown of rank 0 is one of the job.
#[test]
fn a_shutdown_ends_all_ranks_in_order() {
    let Some(folder) = library_folder() else {
        return;
    };
    let scratch = Scratch::new();
    let job = Ranks::start(&scratch, folder);
    job.ranks[0].signal(Signal::TERM);
    let run = job.end();
    assert_eq!((run.status, &*run.stderr), (0, ""));
}
