//! The actions that the coordinator of a job asks for.

use std::os::fd::OwnedFd;

use graph::PeId;

use crate::control::MessageToPe;

/// An action that the launcher has to carry out.
#[derive(Debug)]
pub enum CoordinatorAction {
    /// Send a message with descriptors to a PE.
    Send(PeId, MessageToPe, Vec<OwnedFd>),
    /// Kill the process of a PE.
    Kill(PeId),
}
