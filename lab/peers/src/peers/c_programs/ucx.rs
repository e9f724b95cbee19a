//! UCX: tagged messages by UCP between two processes of one host, by `c/ucx_peer.c`.
//!
//! # Settings
//! Shared memory alone (`UCX_TLS=sm,self`), so that nothing listens on a network; 32 sends
//! outstanding, the default of UCX's own `ucx_perftest`; all other settings as UCX has them. One
//! thread a process, which polls its worker.

use std::process::Command;

use super::{BuiltProgram, built, output_of, turn_args, version_of};
use crate::peer::{BuiltInPeer, PeerEntry};
use crate::{BoxError, PeerTask};

const NAME: &str = "ucx";

const PROGRAM: BuiltProgram = built(env!("PEERS_UCX"), env!("PEERS_UCX_MISSING"));

const PEER: BuiltInPeer = BuiltInPeer {
    name: NAME,
    path: suite::StreamPath::Shm,
    version: || version_of(PROGRAM, ','),
    settings: "UCP tags over shared memory, 32 sends outstanding, polled workers",
    has_latency: true,
    run,
    serve_partner: None,
};

/// The peer, or why it cannot run here.
pub fn entry() -> PeerEntry {
    match PROGRAM {
        Ok(_) => PeerEntry::built_in(PEER),
        Err(why) => PeerEntry::missing(NAME, PEER.path, why),
    }
}

fn run(task: &PeerTask) -> Result<String, BoxError> {
    let mut command = Command::new(PROGRAM?);
    command.env("UCX_TLS", "sm,self").args(turn_args(task));
    output_of(command)
}
