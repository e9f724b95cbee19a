//! `submit`: to the outlet, or into the code of the operators that follow in the chain.

use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, types};
use graph::{Expr, ExprKind, PortIndex, Pos};
use runtime::abi::FrameForm;
use tuple::{Layout, Type, Value};

use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::{BodyInput, FunctionLowering, OutputTarget};
use crate::lowered_value::{LoweredValue, ValueForm};

impl FunctionLowering<'_, '_> {
    /// Lowers the statement `submit(tuple, port)`.
    pub fn submit(&mut self, port: &Expr, tuple: &Expr, pos: Pos) {
        let ports = self.body.targets.len() as u32;
        if let ExprKind::Const(Value::Uint32(port)) = port.kind
            && port < ports
        {
            return self.submit_to_port(PortIndex(port), tuple, pos);
        }
        let value = self.expr(port);
        let number = self.single_part(&value, &port.ty);
        self.check_port(&value, number, pos);
        let done = self.block();
        // Only ports of the tuple's schema can be meant.
        for at in 0..ports {
            let schema = &self.body.targets[at as usize].layout().schema;
            if !matches!(&tuple.ty, Type::Tuple(t) if t == schema) {
                continue;
            }
            let (here, next) = (self.block(), self.block());
            let is_it = self.icmp_const(IntCC::Equal, number, i64::from(at));
            self.branch(is_it, here, next);
            self.switch_to_sealed(here);
            self.submit_to_port(PortIndex(at), tuple, pos);
            self.jump(done, &[]);
            self.switch_to_sealed(next);
        }
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    fn check_port(&mut self, value: &LoweredValue, number: ir::Value, pos: Pos) {
        let ports = self.body.targets.len() as u32;
        let limit = self.int(types::I32, i64::from(ports));
        let is_beyond = self.icmp(IntCC::UnsignedGreaterThanOrEqual, number, limit);
        let given = FunctionLowering::value_operand(value, &Type::Uint32);
        self.fault_if(is_beyond, FallbackOp::PortRange(ports), &[given], pos);
    }

    fn submit_to_port(&mut self, port: PortIndex, tuple: &Expr, pos: Pos) {
        let target = self.body.targets[port.index()].clone();
        let value = self.expr(tuple);
        match target {
            OutputTarget::Inlined(_, branch) => {
                let bytes = self.whole_input(tuple).map(|(_, bytes)| bytes);
                let input = BodyInput {
                    tuple: value,
                    bytes,
                };
                self.deliver(&branch, &input);
            }
            OutputTarget::Outlet(layout) => {
                self.submit_to_outlet(port, tuple, &value, &layout, pos)
            }
            OutputTarget::RingFrame(layout, granted) => {
                let (slow, done) = (self.cold_block(), self.block());
                self.mark_sender(granted.sender);
                let at = self.claim_frame(&granted, slow);
                match granted.form {
                    FrameForm::Flat => {
                        let fields = self.fields(&value, &tuple.ty);
                        self.fill_fixed(at, &fields, &layout);
                    }
                    FrameForm::Normal => self.fill_normal(at, &value, &layout.schema),
                }
                self.commit_frame(&granted, port);
                self.jump(done, &[]);
                self.mark_operator();
                self.switch_to_sealed(slow);
                self.seldom(|lower| lower.submit_to_outlet(port, tuple, &value, &layout, pos));
                self.jump(done, &[]);
                self.switch_to_sealed(done);
            }
        }
    }

    /// Submits a tuple through the outlet.
    fn submit_to_outlet(
        &mut self,
        port: PortIndex,
        tuple: &Expr,
        value: &LoweredValue,
        layout: &Arc<Layout>,
        pos: Pos,
    ) {
        let number = self.int(types::I32, port.0.into());
        if let Some((at, bytes)) = self.whole_input(tuple) {
            return self.call_submit(ImportedFunction::SubmitInput, &[number, at, bytes], pos);
        }
        let fields = self.fields(value, &tuple.ty);
        self.make_tuple(&fields, layout);
        self.call_submit(ImportedFunction::SubmitTuple, &[number], pos);
    }

    /// The attributes of a tuple.
    pub fn fields(&mut self, tuple: &LoweredValue, ty: &Type) -> Vec<Option<LoweredValue>> {
        let Type::Tuple(schema) = ty else {
            unreachable!("a tuple has attributes")
        };
        let all = 0..schema.attributes.len();
        all.map(|at| Some(self.field(tuple, schema, at))).collect()
    }

    /// The address and the length of an input tuple, if the expression is one in flat memory.
    fn whole_input(&self, e: &Expr) -> Option<(ir::Value, ir::Value)> {
        let ExprKind::Input { port, history } = e.kind else {
            return None;
        };
        let input = self.body.inputs[self.input_slot(port, history)].as_ref()?;
        match input.tuple.form {
            ValueForm::Flat(at, 0) => Some((at, input.bytes?)),
            _ => None,
        }
    }

    /// Calls an imported function that submits; its fault is the statement's.
    fn call_submit(&mut self, import: ImportedFunction, args: &[ir::Value], pos: Pos) {
        let place = self.position_address(pos);
        let mut all = args.to_vec();
        all.push(place);
        self.call_checked(import, &all);
    }

    /// The address of a position.
    pub fn position_address(&mut self, pos: Pos) -> ir::Value {
        let at = self.unit.pool.pos(pos);
        self.word(at)
    }

    /// Lowers the statement `submit(punctuation, port)`.
    pub fn submit_punct(&mut self, port: &Expr, mark: &Expr, pos: Pos) {
        if let Some(counters) = self.window_counters(port, mark) {
            return counters
                .into_iter()
                .for_each(|counter| self.increment_counter(counter));
        }
        let value = self.expr(port);
        let number = self.single_part(&value, &port.ty);
        let ports = self.body.targets.len() as u32;
        match port.kind {
            ExprKind::Const(Value::Uint32(port)) if port < ports => {}
            _ => self.check_port(&value, number, pos),
        }
        let mark = self.expr_single_part(mark);
        self.call_submit(ImportedFunction::Punctuate, &[number, mark], pos);
    }

    /// The addresses of the counters of a marker, if it is known to be a window marker for which
    /// nothing else happens.
    fn window_counters(&self, port: &Expr, mark: &Expr) -> Option<Vec<i64>> {
        let (ExprKind::Const(Value::Uint32(port)), ExprKind::Const(Value::Enum(0))) =
            (&port.kind, &mark.kind)
        else {
            return None;
        };
        match self.body.targets.get(*port as usize)? {
            OutputTarget::Inlined(_, output) => output.window_counters.clone(),
            _ => None,
        }
    }
}
