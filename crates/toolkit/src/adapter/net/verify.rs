//! What invocations of the network adapters have to say.

use graph::{Expr, Misuse, Operator, Part};

use crate::adapter::format_rules::sized_blocks;
use crate::adapter::verify::{read, written};
use crate::lower;
use crate::rule::{given, seconds, wrong};

/// TCPSource.
pub fn tcp_source(operator: &Operator) -> Result<(), Misuse> {
    connection(operator)?;
    seconds(operator, &["initDelay"])?;
    sized_blocks(operator)?;
    if given(operator, "keepAlive") && lower::literal(operator, "role") != Some("server") {
        let message = "only a server looks whether its clients are still there";
        return wrong(Part::Param("keepAlive"), message, "write `role : server`");
    }
    read(operator)
}

/// TCPSink.
pub fn tcp_sink(operator: &Operator) -> Result<(), Misuse> {
    connection(operator)?;
    let is_dynamic = lower::literal(operator, "closeMode") == Some("dynamic");
    if is_dynamic && lower::literal(operator, "role") != Some("client") {
        let message = "only a client chooses whom it connects to";
        return wrong(Part::Param("closeMode"), message, "write `role : client`");
    }
    for name in ["address", "port"] {
        let depends = lower::param(operator, name).is_some_and(Expr::reads_input);
        if depends && !is_dynamic {
            let message = format!("`{name}` depends on the tuple");
            let help = "with `closeMode : dynamic` each tuple goes where it says";
            return wrong(Part::Param(name), message, help);
        }
    }
    written(operator)
}

/// UDPSource.
pub fn udp_source(operator: &Operator) -> Result<(), Misuse> {
    if !given(operator, "port") {
        let help = "`port : 0` takes any free one";
        return wrong(Part::Head, "UDPSource needs the parameter `port`", help);
    }
    seconds(operator, &["initDelay"])?;
    read(operator)
}

/// UDPSink.
pub fn udp_sink(operator: &Operator) -> Result<(), Misuse> {
    address_and_port(operator, "UDPSink")?;
    written(operator)
}

/// Roles and how connections come to be.
fn connection(operator: &Operator) -> Result<(), Misuse> {
    if lower::literal(operator, "role") == Some("client") {
        address_and_port(operator, "a client")?;
    } else if given(operator, "address") {
        let message = "a server does not connect to an address";
        let help = "`interface` is the address that it listens on";
        return wrong(Part::Param("address"), message, help);
    }
    let is_bounded = lower::literal(operator, "reconnectionPolicy") == Some("BoundedRetry");
    match (is_bounded, given(operator, "reconnectionBound")) {
        (true, false) => {
            let message = "BoundedRetry needs the parameter `reconnectionBound`";
            return wrong(Part::Param("reconnectionPolicy"), message, "");
        }
        (false, true) => {
            let help = "write `reconnectionPolicy : BoundedRetry`";
            let message = "a bound without bounded retries";
            return wrong(Part::Param("reconnectionBound"), message, help);
        }
        _ => {}
    }
    Ok(())
}

fn address_and_port(operator: &Operator, who: &str) -> Result<(), Misuse> {
    for name in ["address", "port"] {
        if !given(operator, name) {
            let message = format!("{who} needs the parameter `{name}`");
            return wrong(Part::Head, message, "");
        }
    }
    Ok(())
}
