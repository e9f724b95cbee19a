//! `@catch`: which faults of an operator cost it only the tuple.

use graph::{Fault, FaultKind};
use tuple::Value;

/// What an operator's `@catch` annotation says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Catch {
    taken: Taken,
    /// Whether to trace the tuple that was lost.
    pub traces_tuple: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Taken {
    #[default]
    Nothing,
    /// `streams`: what the language's own operations raise.
    Streams,
    /// `std`: system errors and limits too.
    Std,
    /// `all`: division by zero too.
    All,
}

impl Catch {
    /// From the operator's annotations.
    pub fn of(operator: &graph::Operator) -> Catch {
        let mut annotations = operator.annotations.iter();
        let Some((_, arguments)) = annotations.find(|(name, _)| &**name == "catch") else {
            return Catch::default();
        };
        let argument = |wanted: &str| {
            let mut arguments = arguments.iter();
            let found = arguments.find(|(name, _)| &**name == wanted);
            found.map(|(_, value)| value)
        };
        Catch {
            taken: argument("exception").map_or(Taken::Nothing, taken),
            traces_tuple: matches!(argument("tupleTrace"), Some(Value::Boolean(true))),
        }
    }

    /// Whether there is anything to catch.
    pub fn is_on(self) -> bool {
        self.taken != Taken::Nothing
    }

    /// Whether it takes a fault. `abort` and failed assertions always end the job.
    pub fn takes(self, fault: &Fault) -> bool {
        let least = match fault.kind() {
            FaultKind::Value => Taken::Streams,
            FaultKind::System | FaultKind::Limit => Taken::Std,
            FaultKind::Division => Taken::All,
            FaultKind::Abort => return false,
        };
        self.taken as u8 >= least as u8
    }
}

/// The annotation's word, as text.
fn taken(value: &Value) -> Taken {
    let Value::RString(word) = value else {
        return Taken::Nothing;
    };
    match word.as_bytes() {
        b"streams" => Taken::Streams,
        b"std" => Taken::Std,
        b"all" => Taken::All,
        _ => Taken::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_includes_the_one_before() {
        let kinds = [
            FaultKind::Value,
            FaultKind::System,
            FaultKind::Division,
            FaultKind::Abort,
        ];
        let taken_by = |taken| {
            let catch = Catch {
                taken,
                traces_tuple: false,
            };
            kinds.map(|kind| catch.takes(&Fault::new(kind, "")))
        };
        assert_eq!(taken_by(Taken::Nothing), [false; 4]);
        assert_eq!(taken_by(Taken::Streams), [true, false, false, false]);
        assert_eq!(taken_by(Taken::Std), [true, true, false, false]);
        assert_eq!(taken_by(Taken::All), [true, true, true, false]);
    }
}
