//! The medium `rdma` in a mode that has no name of its own, as a medium that has. Mode `batch` is
//! `rum-rdma`.

use transport::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd, media};

/// The medium `rdma` with a setting.
pub struct RdmaMode {
    name: &'static str,
    settings: &'static str,
}

/// Messages into posted buffers.
pub const RDMA_CHANNEL: RdmaMode = RdmaMode {
    name: "rdma_channel",
    settings: "mode=channel",
};

impl RdmaMode {
    fn inner(&self) -> &'static dyn Medium {
        media::find_with("rdma", self.settings).expect("rdma has this mode")
    }
}

impl Medium for RdmaMode {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        self.inner().caps()
    }

    fn check_available(&self) -> Result<(), Error> {
        self.inner().check_available()
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        self.inner().open(spec)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        self.inner().accept(spec, ticket)
    }
}
