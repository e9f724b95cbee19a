//! OpenMPI: two ranks on one host, by `c/mpi_peer.c`.
//!
//! # Settings
//! Shared memory between the ranks (`self` and `vader`, the default on one host), windows of 64
//! messages as OSU's `osu_bw` has, blocking calls for latencies as `osu_latency` has. Each rank is
//! pinned to a core by itself, so `mpirun` binds none. The daemon of `mpirun` listens on the
//! loopback alone.

use std::env;
use std::process::Command;

use super::{BuiltProgram, built, output_of, turn_args, version_of};
use crate::peer::{BuiltInPeer, PeerEntry};
use crate::{BoxError, PeerTask, scratch_folder};

const NAME: &str = "openmpi";

const PROGRAM: BuiltProgram = built(env!("PEERS_OPENMPI"), env!("PEERS_OPENMPI_MISSING"));

/// Seconds after which `mpirun` ends a turn, less than the watchdog of turns.
const SECONDS_MAX: &str = "50";

const PEER: BuiltInPeer = BuiltInPeer {
    name: NAME,
    path: suite::StreamPath::Shm,
    version: || version_of(PROGRAM, ','),
    settings: "two ranks, vader, windows of 64 MPI_Isend, MPI_Send and MPI_Recv for latency",
    has_latency: true,
    run,
    serve_partner: None,
};

/// The peer, or why it cannot run here.
pub fn entry() -> PeerEntry {
    let has_mpirun = env::var_os("PATH").is_some_and(|path| {
        let mut folders = env::split_paths(&path);
        folders.any(|folder| folder.join("mpirun").is_file())
    });
    match PROGRAM {
        Ok(_) if has_mpirun => PeerEntry::built_in(PEER),
        Ok(_) => {
            let why = "`mpirun` is missing: install openmpi-bin";
            PeerEntry::missing(NAME, PEER.path, why)
        }
        Err(why) => PeerEntry::missing(NAME, PEER.path, why),
    }
}

fn run(task: &PeerTask) -> Result<String, BoxError> {
    let mut command = Command::new("mpirun");
    // The variables allow what root has to ask for: the ranks run as whoever has started this.
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .args(["-n", "2", "--oversubscribe", "--bind-to", "none"])
        .args(["--timeout", SECONDS_MAX])
        .args(["--mca", "btl", "self,vader"])
        .args(["--mca", "plm", "isolated"])
        .args(["--mca", "oob_tcp_if_include", "lo"])
        .args(["--mca", "orte_tmpdir_base"])
        .arg(scratch_folder::folder(&task.scratch))
        .arg(PROGRAM?)
        .args(turn_args(task));
    output_of(command)
}
