//! Entries: the machine functions that handles call.

use cranelift_codegen::ir::{InstBuilder, types};
use graph::{Body, Expr};
use std::sync::Arc;

use tuple::{Layout, Type};

use super::chain::ENTRY_ACTOR;
use super::frame::{Exit, Frame, Input, StateHome, Target};
use super::{Lower, Region, Uses};
use crate::code::offsets;
use crate::value::{Form, Val};

/// What an entry does.
pub enum Entry<'a> {
    /// Writes a tuple.
    Projection(&'a [Option<&'a Expr>], &'a Arc<Layout>),
    /// Decides.
    Predicate(&'a Expr),
    /// Runs statements.
    Action(&'a Body),
    /// Runs statements for each frame of a batch, the tuples of an input slot.
    Each(&'a Body, u32),
}

/// What an entry is made against.
#[derive(Clone, Debug)]
pub struct Against {
    /// Layout of every input slot.
    pub inputs: Vec<Arc<Layout>>,
    /// The first slot of each input port; then that of the results of output function calls.
    pub ports: Vec<u32>,
    /// The types of the state variables.
    pub state_types: Vec<Type>,
    /// The addresses of the state, if it is always the same.
    pub state: Option<(i64, i64)>,
    /// Where tuples go.
    pub targets: Vec<Target>,
    /// The address of the shutdown flag.
    pub stop: Option<i64>,
}

/// What is known of an entry when it has been made.
#[derive(Debug)]
pub struct Made {
    /// The types of the variables in memory.
    pub slots: Vec<Type>,
    /// Whether it takes anything temporary.
    pub allocates: bool,
}

impl Lower<'_, '_> {
    /// A whole entry. It returns 0, or 1 after a fault; a predicate returns 0, 1, or 2 after a fault.
    pub fn entry(mut self, entry: &Entry<'_>, against: &Against) -> Made {
        self.slot_base = self.load_env(types::I64, offsets::SLOTS);
        let uses = match entry {
            Entry::Projection(exprs, _) => {
                let mut all = Uses::default();
                exprs
                    .iter()
                    .flatten()
                    .for_each(|e| all.changed.extend(Uses::of_expr(e).changed));
                all
            }
            Entry::Predicate(e) => Uses::of_expr(e),
            Entry::Action(body) | Entry::Each(body, _) => Uses::of(body),
        };
        self.frame = self.entry_frame(against, &uses);
        match entry {
            Entry::Projection(exprs, layout) => {
                let values = exprs.iter().map(|e| e.map(|e| self.expr(e)));
                let values: Vec<Option<Val>> = values.collect();
                self.make_tuple(&values, layout);
                self.return_status(0, &[]);
            }
            Entry::Predicate(e) => {
                let holds = self.expr_part(e);
                let holds = self.b.ins().uextend(types::I32, holds);
                self.b.ins().return_(&[holds]);
            }
            Entry::Action(body) => {
                self.whole_body(body, &uses);
                self.return_status(0, &[]);
            }
            Entry::Each(body, slot) => {
                let bytes = against.inputs[*slot as usize].size;
                self.each(*slot, bytes, |lower| lower.whole_body(body, &uses));
                self.return_status(0, &[]);
            }
        }
        self.go_sealed(self.fail);
        let failed = if matches!(entry, Entry::Predicate(_)) {
            2
        } else {
            1
        };
        self.return_status(failed, &[]);
        self.finish()
    }

    /// The statements of a body, up to where they all end.
    fn whole_body(&mut self, body: &Body, uses: &Uses) {
        let done = self.block();
        self.frame.exits.push(Exit {
            block: done,
            ty: Type::Void,
        });
        self.frame.types = body.locals.iter().map(|local| local.ty.clone()).collect();
        self.frame.locals = self.settle(body, 0, uses);
        self.stmts(&body.stmts);
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    fn entry_frame(&mut self, against: &Against, uses: &Uses) -> Frame {
        let state = match against.state {
            Some((scalars, values)) => StateHome::At(self.word(scalars), self.word(values)),
            None => StateHome::At(
                self.load_env(types::I64, offsets::SCALARS),
                self.load_env(types::I64, offsets::VALUES),
            ),
        };
        let inputs = self.bound_inputs(against.inputs.len());
        Frame {
            inputs,
            input_types: against
                .inputs
                .iter()
                .map(|l| Type::Tuple(l.schema.clone()))
                .collect(),
            ports: against.ports.clone(),
            state,
            state_types: against.state_types.clone(),
            changed: uses.changed.clone(),
            stop: against.stop,
            targets: against.targets.clone(),
            actor: ENTRY_ACTOR,
            ..Frame::default()
        }
    }

    /// The tuples that the environment has in the entry's input slots.
    fn bound_inputs(&mut self, slots: usize) -> Vec<Option<Input>> {
        if slots == 0 {
            return Vec::new();
        }
        let row = self.load_env(types::I64, offsets::INPUTS);
        let bound = (0..slots as i32).map(|slot| {
            let at = self.load(Region::Env, types::I64, row, 16 * slot);
            let bytes = self.load(Region::Env, types::I64, row, 16 * slot + 8);
            Some(Input {
                // The fixed part of a tuple is always there.
                tuple: Val::fixed(Form::Flat(at, 0)),
                bytes: Some(bytes),
            })
        });
        bound.collect()
    }
}
