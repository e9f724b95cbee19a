//! Output tuples of groups, with the results of all calls.

use std::sync::Arc;

use eval::Fault;
use graph::PortIndex;
use runtime::abi::Projection;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Layout, TupleBuf, Value};

use super::aggregate_call::AggregateCall;
use super::group_context::GroupContext;

/// Evaluates the calls and the output clause of a group, and submits its tuple.
pub struct GroupResults {
    calls: Vec<AggregateCall>,
    layout: Arc<Layout>,
    values: TupleBuf,
    output: Projection,
    tuple: TupleBuf,
}

impl GroupResults {
    /// An evaluator for the calls of the operator's output port.
    pub fn new(
        build: &mut BuildContext<'_>,
        calls: Vec<AggregateCall>,
    ) -> Result<GroupResults, Fault> {
        Ok(GroupResults {
            calls,
            layout: build.results_layout(PortIndex(0))?,
            values: TupleBuf::default(),
            output: build.output_projection(PortIndex(0))?,
            tuple: TupleBuf::default(),
        })
    }

    /// Submits the tuple of a group. `functions` gives the results of functions over columns in the
    /// order of their calls, each when it is asked for; `tuples` are those of the group, oldest
    /// first.
    pub fn submit<'t>(
        &mut self,
        group: &GroupContext<'_>,
        mut functions: impl Iterator<Item = Result<Value, Fault>>,
        tuples: impl Iterator<Item = &'t TupleBuf> + Clone,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.values.begin(&self.layout);
        for (at, call) in self.calls.iter_mut().enumerate() {
            let value = match call {
                AggregateCall::Function => functions.next().expect("each call has its function")?,
                AggregateCall::Count(counted) => counted.count(group),
                AggregateCall::Custom(custom) => custom.result(tuples.clone(), out)?,
            };
            self.values.set(&self.layout, at, &value);
        }
        let inputs = [Some(group.last.as_ref())];
        let inputs = EvaluationInputs::new(&inputs).with_results(self.values.as_ref());
        self.output.write(&inputs, out, &mut self.tuple)?;
        out.submit_owned(PortIndex(0), &mut self.tuple)
    }
}
