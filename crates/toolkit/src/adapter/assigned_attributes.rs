//! Output attributes that an output clause assigns, next to those that records contain.

use std::sync::Arc;

use eval::Fault;
use graph::PortIndex;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Layout, RString, TupleBuf, TupleRef, Value};

use super::input_origin::InputOrigin;
use super::record_format;
use crate::output_calls::OutputCalls;

/// Reaction to a record that cannot be read as a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsingMode {
    /// The fault ends the program.
    Strict,
    /// The record is logged, counted and skipped.
    Permissive,
    /// Records are not checked.
    Fast,
}

impl ParsingMode {
    /// The mode that the parameter `parsing` names.
    pub fn from_param(build: &BuildContext<'_>) -> ParsingMode {
        match build.literal("parsing") {
            Some("permissive") => ParsingMode::Permissive,
            Some("fast") => ParsingMode::Fast,
            _ => ParsingMode::Strict,
        }
    }
}

/// A function of the output clause that describes a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordFunction {
    /// `FileName()`: name of the file that the record comes from.
    FileName,
    /// `TupleNumber()`: number of the record within its file or connection.
    TupleNumber,
    /// `RemoteIP()`: address of the peer; empty without one.
    RemoteIp,
    /// `RemotePort()`: port of the peer; 0 without one.
    RemotePort,
    /// `LocalPort()`: port of this end of the connection.
    LocalPort,
    /// `ServerPort()`: port that the server listens on; 0 for clients.
    ServerPort,
    /// `AsIs(expression)`: value of the expression.
    AsIs,
}

/// Evaluates the output clause of a source and adds its values to those of a record.
pub struct AssignedAttributes {
    calls: OutputCalls<RecordFunction>,
    /// Indices of the attributes that records contain.
    record_attributes: Vec<usize>,
    layout: Arc<Layout>,
}

impl AssignedAttributes {
    /// The output clause of port 0; `None` if records contain every attribute.
    pub fn new(build: &mut BuildContext<'_>) -> Result<Option<AssignedAttributes>, Fault> {
        let read = record_format::read_attributes(build.operator);
        if read.len() == build.outputs[0].offsets.len() {
            return Ok(None);
        }
        let function = |name: &str| match name {
            "FileName" => RecordFunction::FileName,
            "TupleNumber" => RecordFunction::TupleNumber,
            "RemoteIP" => RecordFunction::RemoteIp,
            "RemotePort" => RecordFunction::RemotePort,
            "LocalPort" => RecordFunction::LocalPort,
            "ServerPort" => RecordFunction::ServerPort,
            _ => RecordFunction::AsIs,
        };
        Ok(Some(AssignedAttributes {
            calls: OutputCalls::new(build, PortIndex(0), function)?,
            record_attributes: read,
            layout: build.outputs[0].clone(),
        }))
    }

    /// The whole tuple: the attributes of a record, the `number`th of its origin, and the assigned
    /// ones.
    ///
    /// # Errors
    /// The fault of an assigned expression.
    pub fn complete(
        &mut self,
        read: &TupleBuf,
        origin: &InputOrigin,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<TupleRef<'_>, Fault> {
        let answer = |function: &RecordFunction, arguments: &[Value]| {
            let text = |text: &str| Value::RString(RString::from(text));
            let remote_port = || origin.remote.map_or(0, |remote| remote.port());
            Ok(match (function, arguments) {
                (RecordFunction::FileName, _) => text(&origin.name),
                (RecordFunction::RemoteIp, _) => match origin.remote {
                    Some(remote) => text(&remote.ip().to_string()),
                    None => text(""),
                },
                (RecordFunction::RemotePort, _) => Value::Uint32(remote_port().into()),
                (RecordFunction::LocalPort, _) => Value::Uint32(origin.local_port.into()),
                (RecordFunction::ServerPort, _) => Value::Uint32(origin.server_port.into()),
                (RecordFunction::AsIs, [value, ..]) => value.clone(),
                _ => Value::Int64(number),
            })
        };
        let whole = self
            .calls
            .write(&EvaluationInputs::default(), out, answer)?;
        for &attribute in &self.record_attributes {
            let layout = &self.layout;
            whole.copy_attribute(layout, attribute, read.as_ref(), layout, attribute);
        }
        Ok(self.calls.tuple())
    }
}
