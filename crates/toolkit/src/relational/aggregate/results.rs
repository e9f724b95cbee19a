//! The results of all calls for a group, and the tuple that is made with them.

use std::sync::Arc;

use graph::Fault;
use runtime::abi::Projection;
use runtime::{Build, Outlet, Row};
use tuple::{Layout, TupleBuf, Value};

use super::call::Call;

/// What turns groups into output.
pub struct Results {
    calls: Vec<Call>,
    layout: Arc<Layout>,
    values: TupleBuf,
    output: Projection,
    tuple: TupleBuf,
}

/// A group, and what the calls may ask of the whole window.
pub struct Group<'a> {
    /// Tuples of each group of the window, in order.
    pub sizes: &'a [usize],
    /// Which group this is.
    pub index: usize,
    /// Tuples in the operator's windows (sliding) or in this one (tumbling).
    pub total: usize,
    /// Its last tuple.
    pub last: &'a TupleBuf,
}

impl Results {
    /// Of these calls of the operator's output port.
    pub fn new(build: &mut Build<'_>, calls: Vec<Call>) -> Result<Results, Fault> {
        Ok(Results {
            calls,
            layout: build.results(0),
            values: TupleBuf::default(),
            output: build.output(0)?,
            tuple: TupleBuf::default(),
        })
    }

    /// Sends the tuple of a group. What functions over columns give comes in the order of their calls,
    /// and is worked out when it is asked for; `tuples` are those of the group, oldest first.
    pub fn send<'t>(
        &mut self,
        group: &Group<'_>,
        mut functions: impl Iterator<Item = Result<Value, Fault>>,
        tuples: impl Iterator<Item = &'t TupleBuf> + Clone,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.values.begin(&self.layout);
        for (at, call) in self.calls.iter_mut().enumerate() {
            let value = match call {
                Call::Function => functions.next().expect("each call has its function")?,
                Call::Count(counted) => counted.count(group),
                Call::Custom(custom) => custom.result(tuples.clone(), out)?,
            };
            self.values.set(&self.layout, at, &value);
        }
        let row = [Some(group.last.as_ref())];
        let row = Row::new(&row).with(self.values.as_ref());
        self.output.write(&row, out, &mut self.tuple)?;
        out.submit_made(0, &mut self.tuple)
    }
}
