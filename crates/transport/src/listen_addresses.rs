//! The local addresses on which a sender listens: one, or one for each rail of a striped stream.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// Most rails of a stream.
pub const RAILS_MAX: usize = 8;

/// Local addresses on which a sender listens, in the order of the rails.
///
/// # Example
/// ```
/// use std::net::{IpAddr, Ipv4Addr};
///
/// use thalweg_transport::ListenAddresses;
///
/// let one = ListenAddresses::from(Ipv4Addr::LOCALHOST);
/// assert_eq!(one.rails().len(), 1);
/// let rails = ["127.0.0.1", "127.0.0.2"].map(|address| address.parse::<IpAddr>().unwrap());
/// assert_eq!(ListenAddresses::from_rails(&rails).unwrap().first(), Ipv4Addr::LOCALHOST);
/// assert!(ListenAddresses::from_rails(&[rails[0], rails[0]]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddresses {
    first: IpAddr,
    /// Every address, the first too.
    rails: Arc<[IpAddr]>,
    /// Whether connections are of Multipath TCP.
    is_mptcp: bool,
}

impl ListenAddresses {
    /// The addresses of these rails.
    ///
    /// # Errors
    /// A sentence: there are fewer than two or more than [`RAILS_MAX`] addresses, or one is there
    /// twice.
    pub fn from_rails(rails: &[IpAddr]) -> Result<ListenAddresses, String> {
        let [first, _, ..] = rails else {
            return Err("rails have two addresses or more, one for each path".to_owned());
        };
        if rails.len() > RAILS_MAX {
            return Err(format!(
                "{} rails are too many: a stream has at most {RAILS_MAX}",
                rails.len()
            ));
        }
        let is_double = |(at, rail): &(usize, &IpAddr)| rails[..*at].contains(rail);
        if let Some((_, rail)) = rails.iter().enumerate().find(is_double) {
            return Err(format!(
                "{rail} is there twice: each rail has its own address"
            ));
        }
        Ok(ListenAddresses {
            first: *first,
            rails: rails.into(),
            is_mptcp: false,
        })
    }

    /// One address whose connections the kernel spreads over all paths of both hosts, by Multipath
    /// TCP.
    ///
    /// # Example
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// use thalweg_transport::ListenAddresses;
    ///
    /// let listen = ListenAddresses::from_mptcp(Ipv4Addr::LOCALHOST.into());
    /// assert!(listen.is_mptcp() && listen.rails().len() == 1);
    /// ```
    pub fn from_mptcp(address: IpAddr) -> ListenAddresses {
        ListenAddresses {
            is_mptcp: true,
            ..address.into()
        }
    }

    /// Whether connections are of Multipath TCP.
    pub fn is_mptcp(&self) -> bool {
        self.is_mptcp
    }

    /// The first address, which is the only one without rails.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// Every address, in order.
    pub fn rails(&self) -> &[IpAddr] {
        &self.rails
    }
}

impl From<IpAddr> for ListenAddresses {
    fn from(address: IpAddr) -> ListenAddresses {
        ListenAddresses {
            first: address,
            rails: [address].into(),
            is_mptcp: false,
        }
    }
}

impl From<Ipv4Addr> for ListenAddresses {
    fn from(address: Ipv4Addr) -> ListenAddresses {
        IpAddr::V4(address).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(count: u8) -> Vec<IpAddr> {
        let address = |number| IpAddr::V4(Ipv4Addr::new(127, 0, 0, number));
        (1..=count).map(address).collect()
    }

    #[test]
    fn a_stream_has_two_to_eight_rails() {
        for count in 0..12 {
            let rails = addresses(count);
            let found = ListenAddresses::from_rails(&rails);
            assert_eq!(found.is_ok(), (2..=8).contains(&count), "{found:?}");
            if let Ok(found) = found {
                assert_eq!((found.first(), found.rails()), (rails[0], &rails[..]));
            }
        }
        let doubled = [addresses(3), addresses(1)].concat();
        let said = ListenAddresses::from_rails(&doubled).expect_err("refused");
        assert_eq!(
            said,
            "127.0.0.1 is there twice: each rail has its own address"
        );
    }
}
