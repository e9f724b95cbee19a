//! The receivers of an edge as its sender knows them: which are awaited, connected and lost.

use fabric::ConnectionId;

use crate::{Error, PeerLoss};

/// The receivers of an edge, by their numbers.
pub(super) struct ReceiverTable {
    states: Vec<ConnectionState>,
    /// Numbers of the lost receivers, in the order in which they were lost.
    lost: Vec<u32>,
    /// Why the receiver was lost that was lost last.
    last_loss: String,
}

/// State of a receiver's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Awaited,
    Accepted(ConnectionId),
    Connected(ConnectionId),
    Lost,
}

impl ReceiverTable {
    /// A table of receivers that are all awaited.
    pub(super) fn new(receivers: u32) -> ReceiverTable {
        ReceiverTable {
            states: vec![ConnectionState::Awaited; receivers as usize],
            lost: Vec::with_capacity(receivers as usize),
            last_loss: String::new(),
        }
    }

    /// Numbers of the receivers that are not lost.
    pub(super) fn living(&self) -> impl Iterator<Item = usize> {
        let states = self.states.iter().enumerate();
        let living = states.filter(|(_, state)| **state != ConnectionState::Lost);
        living.map(|(receiver, _)| receiver)
    }

    /// Whether a receiver has asked for no connection yet.
    pub(super) fn is_awaited(&self, receiver: usize) -> bool {
        self.states.get(receiver) == Some(&ConnectionState::Awaited)
    }

    /// The connection of a receiver that is connected.
    pub(super) fn connection(&self, receiver: usize) -> Option<ConnectionId> {
        match self.states.get(receiver) {
            Some(ConnectionState::Connected(connection)) => Some(*connection),
            _ => None,
        }
    }

    /// The connection of a receiver that is connected, or will be.
    pub(super) fn accepted(&self, receiver: usize) -> Option<ConnectionId> {
        match self.states.get(receiver) {
            Some(
                ConnectionState::Accepted(connection) | ConnectionState::Connected(connection),
            ) => Some(*connection),
            _ => None,
        }
    }

    /// Notes that a receiver's request is being accepted.
    pub(super) fn accept(&mut self, receiver: usize, connection: ConnectionId) {
        self.states[receiver] = ConnectionState::Accepted(connection);
    }

    /// Notes that an accepted connection is made.
    pub(super) fn connect(&mut self, connection: ConnectionId) {
        let accepted = ConnectionState::Accepted(connection);
        if let Some(state) = self.states.iter_mut().find(|state| **state == accepted) {
            *state = ConnectionState::Connected(connection);
        }
    }

    /// The receiver that has a connection.
    pub(super) fn receiver_of(&self, connection: ConnectionId) -> Option<usize> {
        (0..self.states.len()).find(|receiver| self.accepted(*receiver) == Some(connection))
    }

    /// Notes that a receiver is lost, if it was not. Returns its connection, which is to be closed.
    pub(super) fn lose(&mut self, receiver: usize, why: String) -> Option<ConnectionId> {
        let connection = self.accepted(receiver);
        let state = self.states.get_mut(receiver)?;
        if std::mem::replace(state, ConnectionState::Lost) != ConnectionState::Lost {
            self.lost.push(receiver as u32);
            self.last_loss = why;
        }
        connection
    }

    /// Appends the lost receivers to a list that had all of an earlier call.
    pub(super) fn list_lost(&self, list: &mut Vec<u32>) {
        list.extend_from_slice(&self.lost[list.len()..]);
    }

    /// Checks that a receiver is left.
    ///
    /// # Errors
    /// The loss of the last receiver.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.lost.len() < self.states.len() {
            return Ok(());
        }
        Err(Error::PeerLost(PeerLoss {
            receiver: self.lost.last().copied(),
            reason: self.last_loss.clone(),
        }))
    }
}
