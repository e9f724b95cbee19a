//! Output function calls of an Aggregate: what each needs of a group, and its result.

use graph::{Expr, Fault, FaultKind, OutputCall};
use runtime::abi::{Predicate, Projection};
use runtime::{Build, Outlet, Row};
use tuple::{List, TupleBuf, Value};

use super::column;
use super::grouping::Function;
use super::results::Group;

/// How one call gets its result.
pub enum Call {
    /// By a function over the columns of its arguments.
    Function,
    /// By the sizes of groups alone.
    Count(Counted),
    /// `Custom(init, process, result)`
    Custom(Custom),
}

/// What is counted.
#[derive(Clone, Copy)]
pub enum Counted {
    /// `Count()`
    Group,
    /// `CountAll()`
    Window,
    /// `CountGroups()`
    Groups,
    /// `CountByGroup()`
    ByGroup,
}

/// The three expressions of a `Custom` call, which share the operator's state variables.
pub struct Custom {
    init: Predicate,
    process: Predicate,
    result: Projection,
    buffer: TupleBuf,
}

impl Call {
    /// The call's plan. The arguments of a function over columns are appended to the expressions that
    /// are kept with each tuple, and it to the functions.
    pub fn new(
        build: &mut Build<'_>,
        call: &OutputCall,
        kept: &mut Vec<Expr>,
        functions: &mut Vec<Function>,
    ) -> Result<Call, Fault> {
        let name = &*call.function;
        if let Some(counted) = Counted::of(name) {
            return Ok(Call::Count(counted));
        }
        if name == "Custom" {
            return Ok(Call::Custom(Custom::new(build, &call.args)?));
        }
        let wrong = |message| Fault::new(FaultKind::Limit, message).at(call.pos);
        let whole = column::function(name);
        let whole = whole.ok_or_else(|| wrong(format!("Aggregate has no {name}")))?;
        if !(1..=2).contains(&call.args.len()) {
            return Err(wrong(format!("{name} takes one or two arguments")));
        }
        let first = kept.len();
        kept.extend(call.args.iter().cloned());
        functions.push(Function {
            name: name.into(),
            arguments: call
                .args
                .iter()
                .map(|argument| argument.ty.clone())
                .collect(),
            result: call.ty.clone(),
            whole,
            columns: (first..kept.len()).collect(),
        });
        Ok(Call::Function)
    }
}

impl Counted {
    fn of(name: &str) -> Option<Counted> {
        Some(match name {
            "Count" => Counted::Group,
            "CountAll" => Counted::Window,
            "CountGroups" => Counted::Groups,
            "CountByGroup" => Counted::ByGroup,
            _ => return None,
        })
    }

    /// The result for a group.
    pub fn count(self, group: &Group<'_>) -> Value {
        let count = |n: usize| Value::Int32(n as i32);
        match self {
            Counted::Group => count(group.sizes[group.index]),
            Counted::Window => count(group.total),
            Counted::Groups => count(group.sizes.len()),
            Counted::ByGroup => {
                let sizes = group.sizes.iter().map(|&n| n as i32);
                Value::List(List::Int32(sizes.collect()))
            }
        }
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

    /// The result for a group's tuples, oldest first.
    pub fn result<'t>(
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
