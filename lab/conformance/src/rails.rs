//! The medium `rum` with rails: every edge of the suite is striped over two loopback addresses.

use std::net::{IpAddr, Ipv4Addr};

use transport::{
    EdgeSpec, EdgeTicket, Error, ListenAddresses, Medium, MediumCaps, ReceivingEnd, SendingEnd,
    media,
};

/// Edges over rum, each with two rails.
pub struct Rails;

fn inner() -> &'static dyn Medium {
    media::find("rum").expect("rum is registered")
}

/// The edge of a description with a second rail, on an address that no other edge has.
fn with_rails(spec: &EdgeSpec) -> Result<EdgeSpec, Error> {
    let first = spec.listen.first();
    let second = match first {
        IpAddr::V4(first) => {
            let [net, high, low, last] = first.octets();
            Ipv4Addr::new(net, high ^ 0x80, low, last).into()
        }
        IpAddr::V6(_) => return Err(Error::Refused(format!("{first} is not of IPv4"))),
    };
    let listen = ListenAddresses::from_rails(&[first, second]).map_err(Error::Refused)?;
    Ok(EdgeSpec {
        listen,
        ..spec.clone()
    })
}

impl Medium for Rails {
    fn name(&self) -> &'static str {
        "rails"
    }

    fn caps(&self) -> MediumCaps {
        inner().caps()
    }

    // The tickets are those of rum: sealed with its name.
    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        inner().open(&with_rails(spec)?)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        inner().accept(&with_rails(spec)?, ticket)
    }
}
