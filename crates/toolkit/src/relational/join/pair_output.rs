//! Output of a Join: pairs, and tuples without a partner.

use eval::Fault;
use graph::PortIndex;
use runtime::abi::{Predicate, Projection};
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef};

/// Evaluates and submits the output for pairs, and for tuples without a partner.
pub struct PairOutput {
    condition: Option<Predicate>,
    output: Projection,
    out_tuple: TupleBuf,
    /// Action for a tuple that never finds a partner, by side.
    unmatched: [UnmatchedAction; 2],
    /// Whether a tuple was submitted to port 0 since the last marker.
    pub has_submitted: bool,
}

/// Action for a tuple that never finds a partner.
enum UnmatchedAction {
    /// The tuple gives no output.
    Drop,
    /// The tuple is submitted unchanged to this port.
    SubmitToPort(PortIndex),
    /// The tuple is paired with this tuple of the other side.
    PairWithDefault(TupleBuf),
}

impl PairOutput {
    /// The output of an invocation.
    pub fn new(build: &mut BuildContext<'_>) -> Result<PairOutput, Fault> {
        let algorithm = build.literal("algorithm").unwrap_or("inner");
        let outer = [
            matches!(algorithm, "outer" | "leftOuter"),
            matches!(algorithm, "outer" | "rightOuter"),
        ];
        let defaults = ["defaultTupleLHS", "defaultTupleRHS"];
        let mut next_port = 1;
        let mut unmatched = [UnmatchedAction::Drop, UnmatchedAction::Drop];
        for side in 0..2 {
            if !outer[side] {
                continue;
            }
            unmatched[side] = if build.outputs.len() > 1 {
                next_port += 1;
                UnmatchedAction::SubmitToPort(PortIndex(next_port - 1))
            } else {
                UnmatchedAction::PairWithDefault(default_tuple(
                    build,
                    1 - side,
                    defaults[1 - side],
                )?)
            };
        }
        let condition = match build.param_exprs("match") {
            Some([expr, ..]) => Some(build.predicate(expr)?),
            _ => None,
        };
        let output = build.output_projection(PortIndex(0))?;
        let out_tuple = TupleBuf::default();
        Ok(PairOutput {
            condition,
            output,
            out_tuple,
            unmatched,
            has_submitted: false,
        })
    }

    /// Sends a pair if it fits; whether it does.
    pub fn submit_if_match(
        &mut self,
        tuples: &[Option<TupleRef<'_>>; 2],
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let inputs = EvaluationInputs::new(tuples);
        if let Some(condition) = &mut self.condition
            && !condition.holds(&inputs, out)?
        {
            return Ok(false);
        }
        self.submit(&inputs, out)?;
        Ok(true)
    }

    fn submit(&mut self, inputs: &EvaluationInputs<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.output.write(inputs, out, &mut self.out_tuple)?;
        self.has_submitted = true;
        out.submit_owned(PortIndex(0), &mut self.out_tuple)
    }

    /// A tuple that has found no partner is no longer looked for.
    pub fn submit_unmatched(
        &mut self,
        side: usize,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let unmatched = std::mem::replace(&mut self.unmatched[side], UnmatchedAction::Drop);
        let sent = match &unmatched {
            UnmatchedAction::Drop => Ok(()),
            UnmatchedAction::SubmitToPort(port) => out.submit(*port, tuple),
            UnmatchedAction::PairWithDefault(default) => self.submit(
                &EvaluationInputs::new(&side_inputs(side, tuple, Some(default.as_ref()))),
                out,
            ),
        };
        self.unmatched[side] = unmatched;
        sent
    }

    /// A window marker after what was sent.
    pub fn submit_marker(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if std::mem::take(&mut self.has_submitted) {
            out.submit_punctuation(PortIndex(0), Punctuation::Window)
        } else {
            Ok(())
        }
    }
}

/// The tuple that stands for a missing partner of a side.
fn default_tuple(
    build: &mut BuildContext<'_>,
    side: usize,
    param: &str,
) -> Result<TupleBuf, Fault> {
    let layout = build.inputs[side].clone();
    let mut tuple = TupleBuf::default();
    tuple.begin(&layout);
    if let Some(tuple::Value::Tuple(values)) = build.value(param)? {
        for (at, value) in values.iter().enumerate() {
            tuple.set(&layout, at, value);
        }
    }
    Ok(tuple)
}

/// A row with a tuple of one side and one of the other.
pub fn side_inputs<'a>(
    side: usize,
    tuple: TupleRef<'a>,
    other: Option<TupleRef<'a>>,
) -> [Option<TupleRef<'a>>; 2] {
    if side == 0 {
        [Some(tuple), other]
    } else {
        [other, Some(tuple)]
    }
}
