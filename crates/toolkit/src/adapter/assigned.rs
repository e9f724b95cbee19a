//! What an output clause assigns beside what records hold.

use graph::Fault;
use runtime::{Build, Outlet, Row};
use std::sync::Arc;
use tuple::{Layout, RString, TupleBuf, TupleRef, Value};

use super::reading::Origin;
use super::record;
use crate::calls::Calls;

/// What is done with a record that is no tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsing {
    /// It ends the program.
    Strict,
    /// It is logged, counted and left out.
    Permissive,
    /// It is not looked for.
    Fast,
}

impl Parsing {
    /// That of the parameter `parsing`.
    pub fn of(build: &Build<'_>) -> Parsing {
        match build.literal("parsing") {
            Some("permissive") => Parsing::Permissive,
            Some("fast") => Parsing::Fast,
            _ => Parsing::Strict,
        }
    }
}

/// A function of the output clause that says something of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
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
pub struct Assigned {
    calls: Calls<Said>,
    /// The attributes that records hold.
    read: Vec<usize>,
    layout: Arc<Layout>,
}

impl Assigned {
    /// That of output port 0; `None` if records hold every attribute.
    pub fn new(build: &mut Build<'_>) -> Result<Option<Assigned>, Fault> {
        let read = record::read_attributes(build.operator);
        if read.len() == build.outputs[0].offsets.len() {
            return Ok(None);
        }
        let said = |name: &str| match name {
            "FileName" => Said::FileName,
            "TupleNumber" => Said::TupleNumber,
            "RemoteIP" => Said::RemoteIp,
            "RemotePort" => Said::RemotePort,
            "LocalPort" => Said::LocalPort,
            "ServerPort" => Said::ServerPort,
            _ => Said::AsIs,
        };
        Ok(Some(Assigned {
            calls: Calls::new(build, 0, said)?,
            read,
            layout: build.outputs[0].clone(),
        }))
    }

    /// Puts together what was read, as the `number`th record of its origin, and what is assigned.
    pub fn complete(
        &mut self,
        read: &TupleBuf,
        origin: &Origin,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<TupleRef<'_>, Fault> {
        let answer = |said: &Said, arguments: &[Value]| {
            let text = |text: &str| Value::RString(RString::from(text));
            let remote_port = || origin.remote.map_or(0, |remote| remote.port());
            Ok(match (said, arguments) {
                (Said::FileName, _) => text(&origin.name),
                (Said::RemoteIp, _) => match origin.remote {
                    Some(remote) => text(&remote.ip().to_string()),
                    None => text(""),
                },
                (Said::RemotePort, _) => Value::Uint32(remote_port().into()),
                (Said::LocalPort, _) => Value::Uint32(origin.local_port.into()),
                (Said::ServerPort, _) => Value::Uint32(origin.server_port.into()),
                (Said::AsIs, [value, ..]) => value.clone(),
                _ => Value::Int64(number),
            })
        };
        let whole = self.calls.write(&Row::default(), out, answer)?;
        for &attribute in &self.read {
            let layout = &self.layout;
            whole.copy_attribute(layout, attribute, read.as_ref(), layout, attribute);
        }
        Ok(self.calls.tuple())
    }
}
