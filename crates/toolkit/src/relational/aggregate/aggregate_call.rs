//! Output function calls of an Aggregate.

use eval::{Fault, FaultKind};
use graph::{Expr, OutputCall};
use runtime::abi::{Predicate, Projection};
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{List, TupleBuf, Value};

use super::column;
use super::group_context::GroupContext;
use super::grouping::ColumnCall;

/// Source of a call's result.
pub enum AggregateCall {
    /// A function over the columns of the call's arguments.
    Function,
    /// A number that depends on the sizes of groups alone.
    Count(CountKind),
    /// The three expressions of `Custom(init, process, result)`.
    Custom(CustomAggregateCall),
}

/// Number that a call without arguments gives.
#[derive(Clone, Copy)]
pub enum CountKind {
    /// `Count()`: tuples of the group.
    Group,
    /// `CountAll()`: tuples of the window.
    Window,
    /// `CountGroups()`: groups of the window.
    Groups,
    /// `CountByGroup()`: tuples of each group of the window.
    ByGroup,
}

/// The three expressions of a call of `Custom`, which share the operator's state variables.
pub struct CustomAggregateCall {
    init: Predicate,
    process: Predicate,
    result: Projection,
    buffer: TupleBuf,
}

impl AggregateCall {
    /// Plans a call. A function over columns is appended to `functions`, and its arguments to
    /// `kept`, the expressions whose values are kept with each tuple.
    pub fn new(
        build: &mut BuildContext<'_>,
        call: &OutputCall,
        kept: &mut Vec<Expr>,
        functions: &mut Vec<ColumnCall>,
    ) -> Result<AggregateCall, Fault> {
        let name = &*call.function;
        if let Some(counted) = CountKind::from_name(name) {
            return Ok(AggregateCall::Count(counted));
        }
        if name == "Custom" {
            return Ok(AggregateCall::Custom(CustomAggregateCall::new(
                build, &call.args,
            )?));
        }
        let wrong = |message| Fault::new(FaultKind::Limit, message).with_pos(call.pos);
        let whole = column::column_function(name);
        let whole = whole.ok_or_else(|| wrong(format!("Aggregate has no {name}")))?;
        if !(1..=2).contains(&call.args.len()) {
            return Err(wrong(format!("{name} takes one or two arguments")));
        }
        let first = kept.len();
        kept.extend(call.args.iter().cloned());
        functions.push(ColumnCall {
            name: name.into(),
            arguments: call
                .args
                .iter()
                .map(|argument| argument.ty.clone())
                .collect(),
            result: call.ty.clone(),
            function: whole,
            columns: (first..kept.len()).collect(),
        });
        Ok(AggregateCall::Function)
    }
}

impl CountKind {
    fn from_name(name: &str) -> Option<CountKind> {
        Some(match name {
            "Count" => CountKind::Group,
            "CountAll" => CountKind::Window,
            "CountGroups" => CountKind::Groups,
            "CountByGroup" => CountKind::ByGroup,
            _ => return None,
        })
    }

    /// The result for a group.
    pub fn count(self, group: &GroupContext<'_>) -> Value {
        let count = |n: usize| Value::Int32(n as i32);
        match self {
            CountKind::Group => count(group.sizes[group.index]),
            CountKind::Window => count(group.total),
            CountKind::Groups => count(group.sizes.len()),
            CountKind::ByGroup => {
                let sizes = group.sizes.iter().map(|&n| n as i32);
                Value::List(List::Int32(sizes.collect()))
            }
        }
    }
}

impl CustomAggregateCall {
    fn new(build: &mut BuildContext<'_>, args: &[Expr]) -> Result<CustomAggregateCall, Fault> {
        let [init, process, result] = args else {
            return Err(Fault::new(FaultKind::Limit, "Custom takes three arguments"));
        };
        Ok(CustomAggregateCall {
            init: build.predicate(init)?,
            process: build.predicate(process)?,
            result: build.projection(std::slice::from_ref(result))?,
            buffer: TupleBuf::default(),
        })
    }

    /// The result for a group's tuples, oldest first.
    pub fn result<'t>(
        &mut self,
        tuples: impl Iterator<Item = &'t TupleBuf>,
        out: &mut dyn Outlet,
    ) -> Result<Value, Fault> {
        let mut begun = false;
        let mut last = None;
        for tuple in tuples {
            let inputs = [Some(tuple.as_ref())];
            let inputs = EvaluationInputs::new(&inputs);
            if !begun {
                self.init.holds(&inputs, out)?;
                begun = true;
            }
            self.process.holds(&inputs, out)?;
            last = Some(tuple);
        }
        let inputs = [last.map(TupleBuf::as_ref)];
        self.result
            .write(&EvaluationInputs::new(&inputs), out, &mut self.buffer)?;
        Ok(self.buffer.as_ref().get(&self.result.layout, 0))
    }
}
