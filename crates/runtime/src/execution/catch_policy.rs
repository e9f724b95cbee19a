//! `@catch`: which faults of an operator cost it only the tuple.

use eval::{Fault, FaultKind};
use graph::CaughtFaults;
use tuple::Value;

/// The policy that an operator's `@catch` annotation states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CatchPolicy {
    caught: CaughtFaults,
    /// Whether the tuple that was lost is traced.
    pub traces_tuple: bool,
}

impl CatchPolicy {
    /// From the operator's annotations.
    pub fn from_operator(operator: &graph::OperatorNode) -> CatchPolicy {
        CatchPolicy {
            caught: operator.caught_faults(),
            traces_tuple: matches!(
                operator.catch_argument("tupleTrace"),
                Some(Value::Boolean(true))
            ),
        }
    }

    /// Whether the policy catches any fault.
    pub fn catches_any(self) -> bool {
        self.caught != CaughtFaults::None
    }

    /// Whether the policy catches a fault. `abort` and failed assertions always end the job.
    pub fn catches(self, fault: &Fault) -> bool {
        let least = match fault.kind() {
            FaultKind::Value => CaughtFaults::Streams,
            FaultKind::System | FaultKind::Limit => CaughtFaults::Std,
            FaultKind::Division => CaughtFaults::All,
            FaultKind::Abort => return false,
        };
        self.caught >= least
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
        assert_eq!(taken_by(CaughtFaults::None), [false; 4]);
        assert_eq!(taken_by(CaughtFaults::Streams), [true, false, false, false]);
        assert_eq!(taken_by(CaughtFaults::Std), [true, true, false, false]);
        assert_eq!(taken_by(CaughtFaults::All), [true, true, true, false]);
    }
}
