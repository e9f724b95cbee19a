//! Addresses and ports of an adapter's parameters.

use std::fs;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use eval::{Fault, FaultKind};
use tuple::Value;

/// File in which the system lists services by name.
const SERVICES: &str = "/etc/services";

/// The port of a value: a number, or the name of a service.
///
/// # Errors
/// If the value is not a port.
pub fn port(value: &Value, protocol: &str) -> Result<u16, Fault> {
    let number = match value {
        Value::RString(text) => return named_port(&String::from_utf8_lossy(&text.0), protocol),
        value => value.as_integer().unwrap_or(-1),
    };
    u16::try_from(number)
        .map_err(|_| param_fault("a port is a number from 0 to 65535, or a service"))
}

fn named_port(name: &str, protocol: &str) -> Result<u16, Fault> {
    if let Ok(number) = name.trim().parse() {
        return Ok(number);
    }
    let services = fs::read_to_string(SERVICES).unwrap_or_default();
    let found = services
        .lines()
        .find_map(|line| listed_port(line, name, protocol));
    found.ok_or_else(|| {
        param_fault(format!(
            "\"{name}\" is neither a port from 0 to 65535 nor a {protocol} service of {SERVICES}"
        ))
    })
}

/// The port of a line such as `http 80/tcp www` if it has the service.
fn listed_port(line: &str, name: &str, protocol: &str) -> Option<u16> {
    let mut words = line.split('#').next()?.split_whitespace();
    let service = words.next()?;
    let (number, its_protocol) = words.next()?.split_once('/')?;
    let is_it = its_protocol == protocol && (service == name || words.any(|alias| alias == name));
    number.parse().ok().filter(|_| is_it)
}

/// The address of a host for who needs just one. Of several it is one of IPv4, so that datagrams to
/// a name and sockets that are bound by that name meet, and both meet those bound to 0.0.0.0.
///
/// # Errors
/// If the host has no address.
pub fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    Ok(preferred(&addresses(host, port)?))
}

/// The addresses of a host, as the system orders them; at least one.
///
/// # Errors
/// If the host has no address.
pub fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    if found.is_empty() {
        let message = format!("the host {host} has no address");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    Ok(found)
}

fn preferred(addresses: &[SocketAddr]) -> SocketAddr {
    let of_ipv4 = addresses.iter().find(|address| address.is_ipv4());
    *of_ipv4.unwrap_or(&addresses[0])
}

/// A fault of parameters.
pub fn param_fault(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Limit, message.into())
}

/// A fault of the system.
pub fn system_fault(what: impl std::fmt::Display, error: &io::Error) -> Fault {
    Fault::new(FaultKind::System, format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_have_names_and_aliases() {
        let line = "http\t80/tcp\twww # World Wide Web";
        assert_eq!(listed_port(line, "http", "tcp"), Some(80));
        assert_eq!(listed_port(line, "www", "tcp"), Some(80));
        assert_eq!(listed_port(line, "World", "tcp"), None);
        assert_eq!(listed_port(line, "http", "udp"), None);
    }

    #[test]
    fn of_several_addresses_one_of_ipv4_is_preferred() {
        let six: SocketAddr = "[::1]:7".parse().unwrap();
        let four: SocketAddr = "127.0.0.1:7".parse().unwrap();
        assert_eq!(preferred(&[six, four]), four);
        assert_eq!(preferred(&[six]), six);
        assert_eq!(resolve("::1", 7).unwrap(), six);
    }

    #[test]
    fn ports_are_small_numbers() {
        assert_eq!(port(&Value::Uint16(7), "tcp").unwrap(), 7);
        assert_eq!(port(&Value::RString("65535".into()), "tcp").unwrap(), 65535);
        assert!(port(&Value::Int32(-1), "tcp").is_err());
        assert!(port(&Value::Uint32(65536), "tcp").is_err());
        assert!(port(&Value::RString("no such service".into()), "tcp").is_err());
    }
}
