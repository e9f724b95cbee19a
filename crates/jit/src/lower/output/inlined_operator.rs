//! Chains: a submitted tuple goes on in the code of the operators behind the edge.
//!
//! The tuple stays as it is, in flat memory or one value an attribute: what no operator of the
//! chain looks at is never computed into memory or copied.

use std::rc::Rc;

use cranelift_codegen::ir::{Inst, InstBuilder, types};
use tuple::Type;

use crate::code::offsets;
use crate::lower::context::{
    BodyContext, BodyInput, FunctionLowering, InlinedEdge, InlinedOutput, ReturnTarget,
    StateStorage,
};
use crate::lower::values::AccessRegion;

impl FunctionLowering<'_, '_> {
    /// Gives a tuple to the operators behind a port.
    pub fn deliver(&mut self, output: &InlinedOutput, input: &BodyInput) {
        self.increment_counter(output.submitted);
        // Nothing that the submitter may change does so before the tuple is processed.
        let input = BodyInput {
            tuple: input.tuple.settled(),
            bytes: input.bytes,
        };
        for edge in &output.edges {
            self.increment_counter(edge.processed);
            self.inline_operator(edge, &input);
        }
    }

    fn inline_operator(&mut self, edge: &InlinedEdge, input: &BodyInput) {
        let inlined = Rc::clone(&edge.operator);
        let port = edge.port.index();
        let (body, uses) = &*Rc::clone(&inlined.on_tuple[port]);
        let slot = inlined.first_slots[port] as usize;
        let mut inputs = vec![None; inlined.inputs.len()];
        inputs[slot] = Some(input.clone());
        let done = self.block();
        let state = StateStorage::At {
            scalars: self.word(inlined.state.scalars),
            values: self.word(inlined.state.values),
            tables: self.word(inlined.state.tables),
        };
        let frame = BodyContext {
            types: body.locals.iter().map(|local| local.ty.clone()).collect(),
            inputs,
            input_types: inlined
                .inputs
                .iter()
                .map(|l| Type::Tuple(l.schema.clone()))
                .collect(),
            first_slots: inlined.first_slots.clone(),
            history: inlined.history.clone(),
            state,
            state_layout: inlined.state_layout.clone(),
            changed_state: inlined.changed_state.clone(),
            stop_address: self.body.stop_address,
            watermark: inlined.watermark,
            targets: inlined.targets.clone(),
            return_targets: vec![ReturnTarget {
                block: done,
                ty: Type::Void,
            }],
            inlined_operator: inlined.index,
            ..BodyContext::default()
        };
        let outer = std::mem::replace(&mut self.body, frame);
        let outside = self.outside_calls;
        let noted = self.set_inlined_operator(inlined.index);
        self.body.locals = self.assign_storages(body, 0, uses);
        self.stmts(&body.stmts);
        self.jump(done, &[]);
        self.body = outer;
        self.switch_to_sealed(done);
        if self.outside_calls == outside {
            // Nothing in there can fault or ask for a service: the note is never read.
            self.builder.func.layout.remove_inst(noted);
        } else {
            self.set_inlined_operator(self.body.inlined_operator);
        }
    }

    /// Stores the number of the operator that faults and services belong to from here on.
    fn set_inlined_operator(&mut self, operator: u32) -> Inst {
        let operator = self.int(types::I32, i64::from(operator as i32));
        let flags = self.flags(AccessRegion::Env);
        self.builder
            .ins()
            .store(flags, operator, self.env, offsets::INLINED_OPERATOR)
    }
}
