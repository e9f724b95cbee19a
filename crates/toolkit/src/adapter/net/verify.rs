//! Checks of the network adapters when compiling.

use graph::{Expr, InvocationError, InvocationPart, OperatorNode};
use tuple::Value;

use crate::adapter::verify_format::verify_block_size;
use crate::adapter::verify_records::{verify_reader, verify_writer};
use crate::lower;
use crate::verify_params::{constant, has_param, report_misuse, verify_seconds};

/// Verifies an invocation of TCPSource.
pub fn tcp_source(operator: &OperatorNode) -> Result<(), InvocationError> {
    connection(operator)?;
    verify_seconds(operator, &["initDelay"])?;
    verify_block_size(operator)?;
    if has_param(operator, "keepAlive") && lower::literal(operator, "role") != Some("server") {
        let message = "only a server looks whether its clients are still there";
        return report_misuse(
            InvocationPart::Param("keepAlive"),
            message,
            "write `role : server`",
        );
    }
    verify_reader(operator)
}

/// Verifies an invocation of TCPSink.
pub fn tcp_sink(operator: &OperatorNode) -> Result<(), InvocationError> {
    connection(operator)?;
    let is_dynamic = lower::literal(operator, "closeMode") == Some("dynamic");
    if is_dynamic && lower::literal(operator, "role") != Some("client") {
        let message = "only a client chooses whom it connects to";
        return report_misuse(
            InvocationPart::Param("closeMode"),
            message,
            "write `role : client`",
        );
    }
    for name in ["address", "port"] {
        let depends = lower::param(operator, name).is_some_and(Expr::reads_input);
        if depends && !is_dynamic {
            let message = format!("`{name}` depends on the tuple");
            let help = "with `closeMode : dynamic` each tuple goes where it says";
            return report_misuse(InvocationPart::Param(name), message, help);
        }
    }
    verify_writer(operator)
}

/// Verifies an invocation of UDPSource.
pub fn udp_source(operator: &OperatorNode) -> Result<(), InvocationError> {
    if !has_param(operator, "port") {
        let help = "`port : 0` takes any free one";
        return report_misuse(
            InvocationPart::Head,
            "UDPSource needs the parameter `port`",
            help,
        );
    }
    verify_port(operator)?;
    verify_seconds(operator, &["initDelay"])?;
    verify_reader(operator)
}

/// Verifies an invocation of UDPSink.
pub fn udp_sink(operator: &OperatorNode) -> Result<(), InvocationError> {
    address_and_port(operator, "UDPSink")?;
    verify_port(operator)?;
    verify_writer(operator)
}

/// Verifies the parameters that say how connections are established.
fn connection(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_port(operator)?;
    if lower::literal(operator, "role") == Some("client") {
        address_and_port(operator, "a client")?;
    } else if has_param(operator, "address") {
        let message = "a server does not connect to an address";
        let help = "`interface` is the address that it listens on";
        return report_misuse(InvocationPart::Param("address"), message, help);
    }
    let is_bounded = lower::literal(operator, "reconnectionPolicy") == Some("BoundedRetry");
    match (is_bounded, has_param(operator, "reconnectionBound")) {
        (true, false) => {
            let message = "BoundedRetry needs the parameter `reconnectionBound`";
            return report_misuse(InvocationPart::Param("reconnectionPolicy"), message, "");
        }
        (false, true) => {
            let help = "write `reconnectionPolicy : BoundedRetry`";
            let message = "a bound without bounded retries";
            return report_misuse(InvocationPart::Param("reconnectionBound"), message, help);
        }
        _ => {}
    }
    Ok(())
}

/// Verifies that a constant number of a port is one.
fn verify_port(operator: &OperatorNode) -> Result<(), InvocationError> {
    let number = constant(operator, "port").and_then(Value::as_integer);
    match number.is_none_or(|number| u16::try_from(number).is_ok()) {
        true => Ok(()),
        false => report_misuse(
            InvocationPart::Param("port"),
            "a port is a number from 0 to 65535, or a service",
            "",
        ),
    }
}

fn address_and_port(operator: &OperatorNode, who: &str) -> Result<(), InvocationError> {
    for name in ["address", "port"] {
        if !has_param(operator, name) {
            let message = format!("{who} needs the parameter `{name}`");
            return report_misuse(InvocationPart::Head, message, "");
        }
    }
    Ok(())
}
