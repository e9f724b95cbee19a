//! `@catch`: which faults of an operator cost it only the tuple.

use eval::{Fault, FaultKind};
use tuple::Value;

/// The policy that an operator's `@catch` annotation states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CatchPolicy {
    caught: CaughtFaults,
    /// Whether the tuple that was lost is traced.
    pub traces_tuple: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CaughtFaults {
    #[default]
    Nothing,
    /// `streams`: faults of the language's own operations.
    Streams,
    /// `std`: system errors and limits too.
    Std,
    /// `all`: division by zero too.
    All,
}

impl CatchPolicy {
    /// From the operator's annotations.
    pub fn from_operator(operator: &graph::OperatorNode) -> CatchPolicy {
        let mut annotations = operator.annotations.iter();
        let Some((_, arguments)) = annotations.find(|(name, _)| &**name == "catch") else {
            return CatchPolicy::default();
        };
        let argument = |key: &str| {
            let mut arguments = arguments.iter();
            let found = arguments.find(|(name, _)| &**name == key);
            found.map(|(_, value)| value)
        };
        CatchPolicy {
            caught: argument("exception").map_or(CaughtFaults::Nothing, parse_caught_faults),
            traces_tuple: matches!(argument("tupleTrace"), Some(Value::Boolean(true))),
        }
    }

    /// Whether the policy catches any fault.
    pub fn catches_any(self) -> bool {
        self.caught != CaughtFaults::Nothing
    }

    /// Whether the policy catches a fault. `abort` and failed assertions always end the job.
    pub fn catches(self, fault: &Fault) -> bool {
        let least = match fault.kind() {
            FaultKind::Value => CaughtFaults::Streams,
            FaultKind::System | FaultKind::Limit => CaughtFaults::Std,
            FaultKind::Division => CaughtFaults::All,
            FaultKind::Abort => return false,
        };
        self.caught as u8 >= least as u8
    }
}

/// The faults that the word in the annotation names.
fn parse_caught_faults(value: &Value) -> CaughtFaults {
    let Value::RString(word) = value else {
        return CaughtFaults::Nothing;
    };
    match word.as_bytes() {
        b"streams" => CaughtFaults::Streams,
        b"std" => CaughtFaults::Std,
        b"all" => CaughtFaults::All,
        _ => CaughtFaults::Nothing,
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
            let catch = CatchPolicy {
                caught: taken,
                traces_tuple: false,
            };
            kinds.map(|kind| catch.catches(&Fault::new(kind, "")))
        };
        assert_eq!(taken_by(CaughtFaults::Nothing), [false; 4]);
        assert_eq!(taken_by(CaughtFaults::Streams), [true, false, false, false]);
        assert_eq!(taken_by(CaughtFaults::Std), [true, true, false, false]);
        assert_eq!(taken_by(CaughtFaults::All), [true, true, true, false]);
    }
}
