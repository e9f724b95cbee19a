//! The medium `rdma` with settings, each as a medium with a name of its own.

use std::net::IpAddr;

use transport::{
    EdgeSpec, EdgeTicket, Error, ListenAddresses, Medium, MediumCaps, ReceivingEnd, SendingEnd,
    media,
};

/// Variable with the address of an adapter that has verbs: without it the medium over verbs is
/// not tested. `.ci/guest` sets it.
pub const VERBS_ADDRESS: &str = "THALWEG_VERBS_ADDRESS";

/// The medium `rdma` with settings.
pub struct RdmaWith {
    name: &'static str,
    settings: &'static str,
    /// Variable with the address that edges are opened at; `None`: that of their description.
    address: Option<&'static str>,
}

/// The settings that are tested besides the default ones.
pub static RDMA_SETTINGS: [RdmaWith; 5] = [
    RdmaWith {
        name: "rdma_channel",
        settings: "mode=channel",
        address: None,
    },
    RdmaWith {
        name: "rdma_shm",
        settings: "provider=shm",
        address: None,
    },
    RdmaWith {
        name: "rdma_verbs",
        settings: "provider=verbs",
        address: Some(VERBS_ADDRESS),
    },
    RdmaWith {
        name: "rdma_verbs_channel",
        settings: "provider=verbs mode=channel",
        address: Some(VERBS_ADDRESS),
    },
    RdmaWith {
        name: "rdma_verbs_batch",
        settings: "provider=verbs mode=batch",
        address: Some(VERBS_ADDRESS),
    },
];

impl RdmaWith {
    fn inner(&self) -> &'static dyn Medium {
        media::find_with("rdma", self.settings).expect("rdma has these settings")
    }

    /// The edge of a description at the address that the medium is tested at.
    fn placed(&self, spec: &EdgeSpec) -> Result<EdgeSpec, Error> {
        let Some(variable) = self.address else {
            return Ok(spec.clone());
        };
        let text = std::env::var(variable);
        let text = text.map_err(|_| Error::Refused(format!("{variable} is not set")))?;
        let address: Result<IpAddr, _> = text.parse();
        let not_one = |_| Error::Refused(format!("{variable} is {text}, which is no address"));
        Ok(EdgeSpec {
            listen: ListenAddresses::from(address.map_err(not_one)?),
            ..spec.clone()
        })
    }
}

impl Medium for RdmaWith {
    fn name(&self) -> &'static str {
        self.name
    }

    fn caps(&self) -> MediumCaps {
        self.inner().caps()
    }

    fn check_available(&self) -> Result<(), Error> {
        if let Some(variable) = self.address
            && std::env::var_os(variable).is_none()
        {
            return Err(Error::Refused(format!(
                "{variable} has no address of an adapter"
            )));
        }
        self.inner().check_available()
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        self.inner().open(&self.placed(spec)?)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        self.inner().accept(spec, ticket)
    }
}
