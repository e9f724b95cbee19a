//! What an output clause assigns beside what records hold.

use graph::Fault;
use runtime::{Build, Outlet, Row};
use std::sync::Arc;
use tuple::{Layout, RString, TupleBuf, TupleRef, Value};

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
            _ => Said::AsIs,
        };
        Ok(Some(Assigned {
            calls: Calls::new(build, 0, said)?,
            read,
            layout: build.outputs[0].clone(),
        }))
    }

    /// Puts together what was read, from a file of that name as its `number`th record, and what is
    /// assigned.
    pub fn complete(
        &mut self,
        read: &TupleBuf,
        name: &str,
        number: i64,
        out: &mut dyn Outlet,
    ) -> Result<TupleRef<'_>, Fault> {
        let answer = |said: &Said, arguments: &[Value]| {
            Ok(match (said, arguments) {
                (Said::FileName, _) => Value::RString(RString::from(name)),
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
