//! Chains: a submitted tuple goes on in the code of the operators behind the edges, and into rings.
//!
//! The tuple stays as it is, in flat memory or one value an attribute: what no operator of the
//! chain looks at is never computed into memory or copied.

use std::rc::Rc;

use tuple::Type;

use crate::lower::context::{
    BodyContext, BodyInput, FunctionLowering, InlinedEdge, InlinedOutput, OutputEdge, ReturnTarget,
    SampledOperator, StateStorage,
};
use crate::lower::output::submit::Submission;

impl FunctionLowering<'_, '_> {
    /// Takes a tuple to the consumers of a port.
    pub fn deliver(&mut self, from: &Submission<'_>, output: &InlinedOutput, input: &BodyInput) {
        // Nothing that the submitter may change does so before the tuple is processed.
        let input = BodyInput {
            tuple: input.tuple.settled(),
            bytes: input.bytes,
        };
        if output.edges.is_empty() {
            self.count_delivered(output, 0);
        }
        for (at, edge) in output.edges.iter().enumerate() {
            let is_counted = self.count_delivered(output, at);
            match edge {
                OutputEdge::Operator(edge) => {
                    let is_counted = is_counted && edge.passed_on().is_some();
                    self.inline_operator(edge, &input, is_counted);
                }
                OutputEdge::Frame(granted) => self.submit_to_ring(from, granted, &input),
                OutputEdge::Outlet(places) => self.submit_to_outlet(from, Some(places), &input),
            }
        }
    }

    /// Lowers the body of an operator for a tuple; `is_counted` says that what it submits is
    /// counted already.
    fn inline_operator(&mut self, edge: &InlinedEdge, input: &BodyInput, is_counted: bool) {
        let inlined = Rc::clone(&edge.operator);
        let port = edge.port.index();
        let (body, uses) = &*Rc::clone(&inlined.on_tuple[port]);
        let slot = inlined.first_slots[port] as usize;
        let mut inputs = vec![None; inlined.inputs.len()];
        inputs[slot] = Some(input.clone());
        let done = self.block();
        let state = StateStorage::At {
            scalars: self.word(inlined.state.scalars),
            scalars_address: Some(inlined.state.scalars),
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
            is_counted_with_input: is_counted,
            inlined_operator: inlined.index,
            sampled: self.body.sampled.map(|sampled| SampledOperator {
                operator: inlined.index,
                ..sampled
            }),
            ..BodyContext::default()
        };
        let outer = std::mem::replace(&mut self.body, frame);
        self.mark_operator();
        self.body.locals = self.assign_storages(body, 0, uses);
        self.stmts(&body.stmts);
        self.jump(done, &[]);
        self.body = outer;
        self.switch_to_sealed(done);
        self.mark_operator();
    }
}
