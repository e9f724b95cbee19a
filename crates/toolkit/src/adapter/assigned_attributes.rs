//! What an output clause assigns beside what records hold.

use eval::Fault;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use std::sync::Arc;
use tuple::{Layout, RString, TupleBuf, TupleRef, Value};

use super::record_format;
use super::tuple_reader::InputOrigin;
use crate::output_calls::OutputCalls;

/// What is done with a record that is no tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsingMode {
    /// It ends the program.
    Strict,
    /// It is logged, counted and left out.
    Permissive,
    /// It is not looked for.
    Fast,
}

impl ParsingMode {
    /// That of the parameter `parsing`.
    pub fn from_param(build: &BuildContext<'_>) -> ParsingMode {
        match build.literal("parsing") {
            Some("permissive") => ParsingMode::Permissive,
            Some("fast") => ParsingMode::Fast,
            _ => ParsingMode::Strict,
        }
    }
}

/// A function of the output clause that says something of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordFunction {
    /// `FileName()`
    FileName,
    /// `TupleNumber()`
    TupleNumber,
    /// `RemoteIP()`
    RemoteIp,
    /// `RemotePort()`
    RemotePort,
    /// `LocalPort()`
    LocalPort,
    /// `ServerPort()`
    ServerPort,
    /// `AsIs(expression)`
    AsIs,
}

/// What the output clause assigns beside what records hold.
pub struct AssignedAttributes {
    calls: OutputCalls<RecordFunction>,
    /// The attributes that records hold.
    record_attributes: Vec<usize>,
    layout: Arc<Layout>,
}

impl AssignedAttributes {
    /// That of output port 0; `None` if records hold every attribute.
    pub fn new(build: &mut BuildContext<'_>) -> Result<Option<AssignedAttributes>, Fault> {
        let read = record_format::read_attributes(build.operator);
        if read.len() == build.outputs[0].offsets.len() {
            return Ok(None);
        }
        let said = |name: &str| match name {
            "FileName" => RecordFunction::FileName,
            "TupleNumber" => RecordFunction::TupleNumber,
            "RemoteIP" => RecordFunction::RemoteIp,
            "RemotePort" => RecordFunction::RemotePort,
            "LocalPort" => RecordFunction::LocalPort,
            "ServerPort" => RecordFunction::ServerPort,
            _ => RecordFunction::AsIs,
        };
        Ok(Some(AssignedAttributes {
            calls: OutputCalls::new(build, 0, said)?,
            record_attributes: read,
            layout: build.outputs[0].clone(),
        }))
    }

    /// Puts together what was read, as the `number`th record of its origin, and what is assigned.
    pub fn complete(
        &mut self,
        read: &TupleBuf,
        origin: &InputOrigin,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<TupleRef<'_>, Fault> {
        let answer = |said: &RecordFunction, arguments: &[Value]| {
            let text = |text: &str| Value::RString(RString::from(text));
            let remote_port = || origin.remote.map_or(0, |remote| remote.port());
            Ok(match (said, arguments) {
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
