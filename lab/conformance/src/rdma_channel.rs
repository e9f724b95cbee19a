//! The medium `rdma` in mode `channel`, as a medium with a name of its own.

use transport::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd, media};

/// The medium `rdma` with the setting `mode=channel`.
pub struct RdmaChannel;

fn inner() -> &'static dyn Medium {
    media::find_with("rdma", "mode=channel").expect("rdma has this mode")
}

impl Medium for RdmaChannel {
    fn name(&self) -> &'static str {
        "rdma_channel"
    }

    fn caps(&self) -> MediumCaps {
        inner().caps()
    }

    fn check_available(&self) -> Result<(), Error> {
        inner().check_available()
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        inner().open(spec)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        inner().accept(spec, ticket)
    }
}
