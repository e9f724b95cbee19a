//! `submit`: to the outlet, or by the code itself to the consumers of the port.

use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, types};
use graph::{Expr, ExprKind, PortIndex, Pos};
use runtime::abi::FrameForm;
use tuple::{Layout, Type, Value};

use crate::code::{FallbackOp, ImportedFunction, NO_INLINED_OPERATOR};
use crate::lower::context::{
    BodyInput, FunctionLowering, InlinedOutput, OutputTarget, RingGrantAddresses,
};
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm};

/// Where tuples are submitted.
pub struct Submission<'a> {
    /// The output port that gets them.
    pub port: PortIndex,
    /// The layout of its tuples.
    pub layout: &'a Arc<Layout>,
    /// The statement, for its faults.
    pub pos: Pos,
}

impl Submission<'_> {
    fn ty(&self) -> Type {
        Type::Tuple(self.layout.schema.clone())
    }
}

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
        let bytes = self.whole_input(tuple).map(|(_, bytes)| bytes);
        let input = BodyInput {
            tuple: value,
            bytes,
        };
        let layout = target.layout();
        let from = Submission { port, layout, pos };
        match &target {
            OutputTarget::Inlined(_, output) => {
                let around = self.taps_open;
                self.offer_to_tap(&from, output, &input);
                self.deliver(&from, output, &input);
                self.taps_open = around;
            }
            OutputTarget::Outlet(_) => self.submit_to_outlet(&from, None, &input),
        }
    }

    /// Shows a tuple that the code takes to its consumers to who taps the stream. Whether any
    /// stream is tapped is asked once, for the tuple and all that follows from it in the code.
    fn offer_to_tap(&mut self, from: &Submission<'_>, output: &InlinedOutput, input: &BodyInput) {
        let Some(tap) = output.tap else {
            return;
        };
        let known = self
            .taps_open
            .filter(|_| self.body.inlined_operator != NO_INLINED_OPERATOR);
        let is_open = known.unwrap_or_else(|| {
            let address = self.word(tap.is_open);
            self.load(AccessRegion::Taps, types::I32, address, 0)
        });
        self.taps_open = Some(is_open);
        let (look, take, next) = (self.cold_block(), self.cold_block(), self.block());
        self.branch(is_open, look, next);
        self.switch_to_sealed(look);
        let address = self.word(tap.budget);
        let budget = self.load(AccessRegion::Taps, types::I32, address, 0);
        self.branch(budget, take, next);
        self.switch_to_sealed(take);
        self.seldom(|lower| {
            let port = lower.int(types::I32, from.port.0.into());
            lower.note_operator();
            match lower.submitted_form(from, input) {
                Some((at, bytes)) => lower.call(ImportedFunction::TapInput, &[port, at, bytes]),
                None => lower.call(ImportedFunction::TapTuple, &[port]),
            };
        });
        self.jump(next, &[]);
        self.switch_to_sealed(next);
    }

    /// Writes a tuple, unless it is an input in flat memory: then returns its address and bytes.
    fn submitted_form(
        &mut self,
        from: &Submission<'_>,
        input: &BodyInput,
    ) -> Option<(ir::Value, ir::Value)> {
        if let (ValueForm::Flat(at, 0), Some(bytes)) = (&input.tuple.form, input.bytes) {
            return Some((*at, bytes));
        }
        let fields = self.fields(&input.tuple, &from.ty());
        self.make_tuple(&fields, from.layout);
        None
    }

    /// Writes a tuple into a ring; without room it goes through the outlet.
    pub fn submit_to_ring(
        &mut self,
        from: &Submission<'_>,
        granted: &RingGrantAddresses,
        input: &BodyInput,
    ) {
        let (slow, done) = (self.cold_block(), self.block());
        self.mark_sender(granted.sender);
        let at = self.claim_frame(granted, slow);
        match granted.form {
            FrameForm::Flat => {
                let fields = self.fields(&input.tuple, &from.ty());
                self.fill_fixed(at, &fields, from.layout);
            }
            FrameForm::Normal => self.fill_normal(at, &input.tuple, &from.layout.schema),
        }
        self.commit_frame(granted, from.port);
        self.jump(done, &[]);
        self.mark_operator();
        self.switch_to_sealed(slow);
        let places = granted.place..granted.place + 1;
        self.seldom(|lower| lower.submit_to_outlet(from, Some(&places), input));
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Submits a tuple through the outlet: to all consumers, or to those in some places.
    pub fn submit_to_outlet(
        &mut self,
        from: &Submission<'_>,
        places: Option<&Range<u32>>,
        input: &BodyInput,
    ) {
        let mut args = vec![self.int(types::I32, from.port.0.into())];
        for place in places
            .into_iter()
            .flat_map(|places| [places.start, places.end])
        {
            args.push(self.int(types::I32, place.into()));
        }
        let whole = self.submitted_form(from, input);
        let is_whole = whole.is_some();
        args.extend(whole.into_iter().flat_map(|(at, bytes)| [at, bytes]));
        let import = match (is_whole, places) {
            (true, None) => ImportedFunction::SubmitInput,
            (true, Some(_)) => ImportedFunction::SubmitInputTo,
            (false, None) => ImportedFunction::SubmitTuple,
            (false, Some(_)) => ImportedFunction::SubmitTupleTo,
        };
        self.call_submit(import, &args, from.pos);
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
