//! Input tuples as expressions read them: whole, or an attribute that is decoded once.

use graph::PortIndex;
use tuple::{Layout, TupleRef, Type, Value};

use super::machine::Machine;
use super::operand::EvaluatedOperand;
use super::variable_path::{VariableBase, VariablePath};
use crate::ops::faults;
use crate::{Fault, State};

impl<'e> Machine<'_, 'e> {
    /// The slot of a port's current or an earlier tuple; one that does not exist if the port keeps
    /// no tuple of this depth.
    pub(super) fn slot(&self, port: PortIndex, history: u32) -> usize {
        let first = self.ports.first_slots.get(port.index());
        let depths = self.ports.history.get(port.index());
        let at = depths.and_then(|depths| depths.slot(history));
        (first.zip(at)).map_or(usize::MAX, |(first, at)| (first + at) as usize)
    }

    /// The slot with the results of output function calls.
    pub(super) fn output_call_slot(&self) -> usize {
        self.ports
            .first_slots
            .last()
            .map_or(0, |&last| last as usize)
    }

    /// The tuple in a slot; `None` if the slot is empty.
    pub(super) fn tuple_at(
        &self,
        slot: usize,
    ) -> Result<Option<(TupleRef<'e>, &'e Layout)>, Fault> {
        let inputs = self.evaluation.inputs;
        match (inputs.tuples.get(slot), inputs.layouts.get(slot)) {
            (Some(tuple), Some(layout)) => Ok(tuple.map(|tuple| (tuple, &**layout))),
            _ => Err(faults::no_variable()),
        }
    }

    /// An attribute of the tuple in a slot; the default if there is none.
    pub(super) fn attribute<'x>(
        &mut self,
        slot: usize,
        index: u32,
        ty: &Type,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        let Some((tuple, layout)) = self.tuple_at(slot)? else {
            return Ok(EvaluatedOperand::Owned(Value::default_of(ty)));
        };
        if index as usize >= layout.schema.attributes.len() {
            return Err(faults::mistyped("an attribute"));
        }
        if State::is_scalar(ty) {
            return Ok(EvaluatedOperand::Owned(tuple.get(layout, index as usize)));
        }
        let source = (slot, Some(index));
        let at = match self.decoded.find(source) {
            Some(at) => at,
            None => self.decoded.add(source, tuple.get(layout, index as usize)),
        };
        Ok(EvaluatedOperand::Path(VariablePath::from_base(
            VariableBase::Decoded(at),
        )))
    }

    /// The tuple in a slot as a value; the default if there is none.
    pub(super) fn whole_tuple<'x>(
        &mut self,
        slot: usize,
        ty: &Type,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        let Some((tuple, layout)) = self.tuple_at(slot)? else {
            return Ok(EvaluatedOperand::Owned(Value::default_of(ty)));
        };
        let source = (slot, None);
        let at = match self.decoded.find(source) {
            Some(at) => at,
            None => self.decoded.add(source, tuple.to_value(layout)),
        };
        Ok(EvaluatedOperand::Path(VariablePath::from_base(
            VariableBase::Decoded(at),
        )))
    }
}
