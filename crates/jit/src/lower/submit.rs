//! `submit`: to the outlet, or into the code of the operators at the other end of fused edges.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::{Expr, ExprKind, Pos};
use std::sync::Arc;

use tuple::{Layout, Type, Value};

use super::Lower;
use super::frame::{Input, Target};
use crate::code::{Import, Op};
use crate::value::{Form, Val};

impl Lower<'_, '_> {
    /// `submit(tuple, port)`
    pub fn submit(&mut self, port: &Expr, tuple: &Expr, pos: Pos) {
        let ports = self.frame.targets.len() as u32;
        if let ExprKind::Const(Value::Uint32(port)) = port.kind
            && port < ports
        {
            return self.send(port, tuple, pos);
        }
        let value = self.expr(port);
        let number = self.part(&value, &port.ty);
        self.check_port(&value, number, pos);
        let done = self.block();
        // Only ports of the tuple's schema can be meant.
        for at in 0..ports {
            let schema = &self.frame.targets[at as usize].layout().schema;
            if !matches!(&tuple.ty, Type::Tuple(t) if t == schema) {
                continue;
            }
            let (here, next) = (self.block(), self.block());
            let is_it = self.icmp_const(IntCC::Equal, number, i64::from(at));
            self.branch(is_it, here, next);
            self.go_sealed(here);
            self.send(at, tuple, pos);
            self.jump(done, &[]);
            self.go_sealed(next);
        }
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    fn check_port(&mut self, value: &Val, number: ir::Value, pos: Pos) {
        let ports = self.frame.targets.len() as u32;
        let limit = self.int(types::I32, i64::from(ports));
        let is_beyond = self.icmp(IntCC::UnsignedGreaterThanOrEqual, number, limit);
        let given = Lower::given(value, &Type::Uint32);
        self.fault_if(is_beyond, Op::PortRange(ports), &[given], pos);
    }

    fn send(&mut self, port: u32, tuple: &Expr, pos: Pos) {
        let target = self.frame.targets[port as usize].clone();
        let value = self.expr(tuple);
        match target {
            Target::Inlined(_, branch) => {
                let bytes = self.whole_input(tuple).map(|(_, bytes)| bytes);
                let input = Input {
                    tuple: value,
                    bytes,
                };
                self.deliver(&branch, &input);
            }
            Target::Outlet(layout) => self.send_out(port, tuple, &value, &layout, pos),
            Target::Frame(layout, granted) => {
                let (slow, done) = (self.cold_block(), self.block());
                let at = self.room(&granted, layout.size, slow);
                let fields = self.fields(&value, &tuple.ty);
                self.fill_fixed(at, &fields, &layout);
                self.commit(&granted, layout.size, port);
                self.jump(done, &[]);
                self.go_sealed(slow);
                self.send_out(port, tuple, &value, &layout, pos);
                self.jump(done, &[]);
                self.go_sealed(done);
            }
        }
    }

    /// To the outlet.
    fn send_out(&mut self, port: u32, tuple: &Expr, value: &Val, layout: &Arc<Layout>, pos: Pos) {
        let number = self.int(types::I32, i64::from(port));
        if let Some((at, bytes)) = self.whole_input(tuple) {
            return self.sent(Import::SubmitInput, &[number, at, bytes], pos);
        }
        let fields = self.fields(value, &tuple.ty);
        self.make_tuple(&fields, layout);
        self.sent(Import::SubmitMade, &[number], pos);
    }

    /// The attributes of a tuple.
    fn fields(&mut self, tuple: &Val, ty: &Type) -> Vec<Option<Val>> {
        let Type::Tuple(schema) = ty else {
            unreachable!("a tuple is submitted")
        };
        let all = 0..schema.attributes.len();
        all.map(|at| Some(self.field(tuple, schema, at))).collect()
    }

    /// The address and the length of an input tuple, if the expression is one in flat memory.
    fn whole_input(&self, e: &Expr) -> Option<(ir::Value, ir::Value)> {
        let ExprKind::Input { port, history } = e.kind else {
            return None;
        };
        let slot = self.frame.ports[port as usize] + history;
        let input = self.frame.inputs[slot as usize].as_ref()?;
        match input.tuple.form {
            Form::Flat(at, 0) => Some((at, input.bytes?)),
            _ => None,
        }
    }

    /// Calls a import that submits; its fault is the statement's.
    fn sent(&mut self, import: Import, args: &[ir::Value], pos: Pos) {
        let place = self.pos_word(pos);
        let mut all = args.to_vec();
        all.push(place);
        self.call_checked(import, &all);
    }

    /// The address of a position.
    fn pos_word(&mut self, pos: Pos) -> ir::Value {
        let at = self.unit.pool.pos(pos);
        self.word(at)
    }

    /// `submit(punctuation, port)`
    pub fn submit_punct(&mut self, port: &Expr, mark: &Expr, pos: Pos) {
        let value = self.expr(port);
        let number = self.part(&value, &port.ty);
        let ports = self.frame.targets.len() as u32;
        match port.kind {
            ExprKind::Const(Value::Uint32(port)) if port < ports => {}
            _ => self.check_port(&value, number, pos),
        }
        let mark = self.expr_part(mark);
        self.sent(Import::Punctuate, &[number, mark], pos);
    }

    /// Counts a tuple.
    pub fn count(&mut self, counter: i64) {
        let at = self.word(counter);
        let count = self.load(super::Region::Counters, types::I64, at, 0);
        let count = self.b.ins().iadd_imm_s(count, 1);
        self.store(super::Region::Counters, count, at, 0);
    }
}
