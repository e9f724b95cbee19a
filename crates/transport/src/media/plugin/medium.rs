//! The medium of a library: opens and accepts edges.

use std::path::Path;

use ::plugin::{LibraryCaps, LibraryEdge, MediumLibrary, PluginError};

use super::plugin_ticket;
use super::receiver::PluginReceivingEnd;
use super::sender::PluginSendingEnd;
use crate::{
    EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, PeerLoss, ReceivingEnd, SendingEnd, StatedCost,
};

/// A medium that a library is.
pub(super) struct PluginMedium {
    /// Name of the medium in plans.
    pub(super) name: &'static str,
    /// The library, which stays loaded.
    pub(super) library: MediumLibrary,
}

impl PluginMedium {
    /// Whether this is the medium of the library in a file.
    pub(super) fn is_of(&self, file: &Path) -> bool {
        let absolute = |file: &Path| std::path::absolute(file).ok();
        absolute(self.library.file()) == absolute(file)
    }
}

impl Medium for PluginMedium {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        let LibraryCaps {
            crosses_processes,
            crosses_hosts,
            is_untrusted,
            is_one_to_many,
            receivers_max,
            ..
        } = self.library.caps();
        MediumCaps {
            crosses_processes,
            crosses_hosts,
            is_untrusted,
            is_one_to_many,
            is_batching: false,
            receivers_max,
            is_for_tests: false,
        }
    }

    fn library(&self) -> Option<&Path> {
        Some(self.library.file())
    }

    fn stated_cost(&self) -> Option<StatedCost> {
        let LibraryCaps {
            frame_ns, byte_ps, ..
        } = self.library.caps();
        (frame_ns > 0 || byte_ps > 0).then_some(StatedCost { frame_ns, byte_ps })
    }

    fn description(&self) -> String {
        self.library.about().to_owned()
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let (most, asked) = (self.library.caps().receivers_max, spec.receiver_count);
        if asked == 0 || asked > most {
            return Err(Error::Refused(format!(
                "{}: an edge of the medium {} has 1 to {most} receivers, not {asked}",
                spec.name, self.name
            )));
        }
        let listen = spec.listen.first().to_string();
        let opened = self.library.open(edge(spec, &listen));
        let (sender, tickets) = opened.map_err(|error| plain_error(error, &spec.name))?;
        let frame_bytes_max = sender.block_bytes_max();
        let is_local = !self.library.caps().crosses_hosts;
        let seal = |(receiver, ticket)| {
            plugin_ticket::seal(self.name, spec, receiver, frame_bytes_max, ticket, is_local)
        };
        let tickets = (0..).zip(tickets).map(seal).collect::<Result<_, _>>()?;
        Ok((Box::new(PluginSendingEnd::new(spec, sender)), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let opened = plugin_ticket::unseal(self.name, spec, ticket)?;
        let listen = spec.listen.first().to_string();
        let edge = edge(spec, &listen);
        let accepted = self.library.accept(edge, opened.receiver, opened.ticket);
        let receiver = accepted.map_err(|error| plain_error(error, &spec.name))?;
        Ok(Box::new(PluginReceivingEnd::new(
            spec.name.clone(),
            receiver,
            opened.frame_bytes_max,
        )))
    }
}

fn edge<'a>(spec: &'a EdgeSpec, listen: &'a str) -> LibraryEdge<'a> {
    LibraryEdge {
        name: &spec.name,
        listen,
        ring_bytes: spec.ring_bytes as u64,
        number: spec.edge,
        receivers: spec.receiver_count,
        token: spec.token,
    }
}

/// The error of an edge for an error of its library. `receiver` is the lost one, if a receiver is.
pub(super) fn edge_error(error: PluginError, edge: &str, receiver: Option<u32>) -> Error {
    match error {
        PluginError::Lost(reason) => Error::PeerLost(PeerLoss { receiver, reason }),
        PluginError::Refused(why) | PluginError::System(why) => {
            Error::Refused(format!("{edge}: {why}"))
        }
        PluginError::Unusable(why) | PluginError::Broken(why) => Error::Refused(why),
    }
}

/// The error of an edge whose ends are not made yet: the sender is the one that can be lost.
pub(super) fn plain_error(error: PluginError, edge: &str) -> Error {
    edge_error(error, edge, None)
}
