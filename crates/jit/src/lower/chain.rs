//! Fused chains: a submitted tuple goes on in the code of the operators behind the edge.
//!
//! The tuple stays as it is, in flat memory or one value an attribute: what no operator of the chain
//! looks at is never computed into memory or copied.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use cranelift_codegen::ir::{Inst, InstBuilder, types};
use graph::{Body, StateId};
use tuple::{Layout, Type};

use super::frame::{Exit, Frame, Input, StateHome, Target};
use super::{Lower, Region, Uses};
use crate::code::{NOBODY, offsets};

/// A lowered operator whose code can be inlined.
#[derive(Debug)]
pub struct Member {
    /// The operator's number.
    pub index: u32,
    /// Layout of every input slot.
    pub inputs: Vec<Arc<Layout>>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub ports: Vec<u32>,
    /// The types of its state variables.
    pub state_types: Vec<Type>,
    /// The addresses of its scalar and of its other state variables.
    pub state: (i64, i64),
    /// The state variables that some of its bodies change.
    pub changed: HashSet<StateId>,
    /// What happens on a tuple, by input port.
    pub on_tuple: Vec<Rc<(Body, Uses)>>,
    /// Where its tuples go.
    pub targets: Vec<Target>,
}

/// The operators behind an output port.
#[derive(Debug)]
pub struct Branch {
    /// The address of the counter of what is submitted.
    pub submitted: i64,
    /// The operators, in order of delivery.
    pub links: Vec<Link>,
}

/// An edge.
#[derive(Debug)]
pub struct Link {
    /// Where to.
    pub member: Rc<Member>,
    /// Its input port.
    pub port: u32,
    /// The address of the counter of the port's tuples.
    pub processed: i64,
}

impl Lower<'_, '_> {
    /// Gives a tuple to the operators behind a port.
    pub fn deliver(&mut self, branch: &Branch, input: &Input) {
        self.count(branch.submitted);
        // Nothing that the submitter may change does so before the tuple is processed.
        let input = Input {
            tuple: input.tuple.settled(),
            bytes: input.bytes,
        };
        for link in &branch.links {
            self.count(link.processed);
            self.inline_member(link, &input);
        }
    }

    fn inline_member(&mut self, link: &Link, input: &Input) {
        let member = Rc::clone(&link.member);
        let port = link.port as usize;
        let (body, uses) = &*Rc::clone(&member.on_tuple[port]);
        let slot = member.ports[port] as usize;
        let mut inputs = vec![None; member.inputs.len()];
        inputs[slot] = Some(input.clone());
        let done = self.block();
        let scalars = self.word(member.state.0);
        let values = self.word(member.state.1);
        let frame = Frame {
            types: body.locals.iter().map(|local| local.ty.clone()).collect(),
            inputs,
            input_types: member
                .inputs
                .iter()
                .map(|l| Type::Tuple(l.schema.clone()))
                .collect(),
            ports: member.ports.clone(),
            state: StateHome::At(scalars, values),
            state_types: member.state_types.clone(),
            changed: member.changed.clone(),
            stop: self.frame.stop,
            targets: member.targets.clone(),
            exits: vec![Exit {
                block: done,
                ty: Type::Void,
            }],
            actor: member.index,
            ..Frame::default()
        };
        let outer = std::mem::replace(&mut self.frame, frame);
        let outside = self.outside_calls;
        let noted = self.act_for(member.index);
        self.frame.locals = self.settle(body, 0, uses);
        self.stmts(&body.stmts);
        self.jump(done, &[]);
        self.frame = outer;
        self.go_sealed(done);
        if self.outside_calls == outside {
            // Nothing in there can fault or ask for a service: nobody will look at the note.
            self.b.func.layout.remove_inst(noted);
        } else {
            self.act_for(self.frame.actor);
        }
    }

    /// From here on faults and services are an operator's.
    fn act_for(&mut self, operator: u32) -> Inst {
        let operator = self.int(types::I32, i64::from(operator as i32));
        let flags = self.flags(Region::Env);
        self.b
            .ins()
            .store(flags, operator, self.env, offsets::ACTOR)
    }
}

/// The operator of an entry itself.
pub const ENTRY_ACTOR: u32 = NOBODY;
