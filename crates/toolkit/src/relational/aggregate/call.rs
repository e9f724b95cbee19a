//! Output function calls of an Aggregate: what each needs of a group, and its result.

use graph::{Expr, Fault, FaultKind, OutputCall};
use runtime::abi::{Predicate, Projection};
use runtime::{Build, Outlet, Row};
use tuple::{List, TupleBuf, Type, Value};

use super::column::{self, Function};

/// How one call gets its result.
pub enum Call {
    /// A function over the columns of its arguments.
    Column(Function, Vec<usize>),
    /// `Count()`
    Count,
    /// `CountAll()`
    CountAll,
    /// `CountGroups()`
    CountGroups,
    /// `CountByGroup()`
    CountByGroup,
    /// `Custom(init, process, result)`
    Custom(Custom),
}

/// The three expressions of a `Custom` call, which share the operator's state variables.
pub struct Custom {
    init: Predicate,
    process: Predicate,
    result: Projection,
    buffer: TupleBuf,
}

/// The group that is being summed up, and what the calls may ask of the whole window.
pub struct Group<'a> {
    /// A column an argument.
    pub columns: &'a [List],
    /// Tuples of each group of the window, in order.
    pub sizes: &'a [usize],
    /// Which group this is.
    pub index: usize,
    /// Tuples in the operator's windows (sliding) or in this one (tumbling).
    pub total: usize,
}

impl Call {
    /// The call's plan. Its arguments are appended to those that are kept with each tuple.
    pub fn new(
        build: &mut Build<'_>,
        call: &OutputCall,
        kept: &mut Vec<Expr>,
    ) -> Result<Call, Fault> {
        Ok(match &*call.function {
            "Count" => Call::Count,
            "CountAll" => Call::CountAll,
            "CountGroups" => Call::CountGroups,
            "CountByGroup" => Call::CountByGroup,
            "Custom" => Call::Custom(Custom::new(build, &call.args)?),
            name => {
                let function = column::function(name).ok_or_else(|| {
                    Fault::new(FaultKind::Limit, format!("Aggregate has no {name}")).at(call.pos)
                })?;
                let first = kept.len();
                kept.extend(call.args.iter().cloned());
                Call::Column(function, (first..kept.len()).collect())
            }
        })
    }

    /// The result, if the sizes of groups are all that it takes.
    pub fn count(&self, group: &Group<'_>) -> Option<Value> {
        let count = |n: usize| Some(Value::Int32(n as i32));
        match self {
            Call::Count => count(group.sizes[group.index]),
            Call::CountAll => count(group.total),
            Call::CountGroups => count(group.sizes.len()),
            Call::CountByGroup => {
                let sizes = group.sizes.iter().map(|&n| n as i32);
                Some(Value::List(List::Int32(sizes.collect())))
            }
            Call::Column(..) | Call::Custom(_) => None,
        }
    }

    /// The result for a group; `tuples` are its tuples, oldest first.
    pub fn result<'t>(
        &mut self,
        group: &Group<'_>,
        ty: &Type,
        tuples: impl Iterator<Item = &'t TupleBuf>,
        out: &mut dyn Outlet,
    ) -> Result<Value, Fault> {
        if let Some(count) = self.count(group) {
            return Ok(count);
        }
        Ok(match self {
            Call::Column(function, arguments) => {
                let columns: [&List; 2] = match arguments[..] {
                    [only] => [&group.columns[only]; 2],
                    [first, second] => [&group.columns[first], &group.columns[second]],
                    _ => {
                        return Err(Fault::new(
                            FaultKind::Limit,
                            "one or two arguments are meant",
                        ));
                    }
                };
                function(columns[0], columns[1], ty)?
            }
            Call::Custom(custom) => custom.result(tuples, out)?,
            _ => unreachable!("the others are counts"),
        })
    }
}

impl Custom {
    fn new(build: &mut Build<'_>, args: &[Expr]) -> Result<Custom, Fault> {
        let [init, process, result] = args else {
            return Err(Fault::new(FaultKind::Limit, "Custom takes three arguments"));
        };
        Ok(Custom {
            init: build.predicate(init)?,
            process: build.predicate(process)?,
            result: build.projection(std::slice::from_ref(result))?,
            buffer: TupleBuf::default(),
        })
    }

    fn result<'t>(
        &mut self,
        tuples: impl Iterator<Item = &'t TupleBuf>,
        out: &mut dyn Outlet,
    ) -> Result<Value, Fault> {
        let mut begun = false;
        let mut last = None;
        for tuple in tuples {
            let row = [Some(tuple.as_ref())];
            let row = Row::new(&row);
            if !begun {
                self.init.holds(&row, out)?;
                begun = true;
            }
            self.process.holds(&row, out)?;
            last = Some(tuple);
        }
        let row = [last.map(TupleBuf::as_ref)];
        self.result.write(&Row::new(&row), out, &mut self.buffer)?;
        Ok(self.buffer.as_ref().get(&self.result.layout, 0))
    }
}
