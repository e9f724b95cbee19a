//! Builder of an operator's description ([`graph::OperatorNode`]), for tests without a compiler.

use std::ops::Deref;
use std::sync::Arc;

use graph::{
    Body, EventClock, Expr, InPort, OperatorNode, OutPort, OutPortId, OutputCall, Param, PortIndex,
};
use graph::{HistoryDepths, OperatorId, ParamValue, StateVar, Window};
use tuple::{TupleType, Type};

use crate::exprs;

/// An operator instance under construction; dereferences to it.
#[derive(Clone, Debug)]
pub struct OperatorBuilder(OperatorNode);

impl OperatorBuilder {
    /// An operator of a kind (`spl.relational::Filter`) with an instance name.
    pub fn new(kind: &str, name: &str) -> OperatorBuilder {
        OperatorBuilder(OperatorNode::new(name, kind, exprs::TEST_POS))
    }

    /// Adds an input port.
    pub fn input<const N: usize>(
        mut self,
        name: &str,
        schema: [(&str, Type); N],
    ) -> OperatorBuilder {
        self.0.inputs.push(InPort::new(
            name,
            Arc::new(TupleType::new(schema)),
            Vec::new(),
        ));
        self.0.logic.on_tuple.push(None);
        self.0.logic.on_punct.push(None);
        self
    }

    /// Adds an output port whose attributes are not assigned.
    pub fn output<'n>(
        mut self,
        name: &str,
        schema: impl IntoIterator<Item = (&'n str, Type)>,
    ) -> OperatorBuilder {
        self.0
            .outputs
            .push(OutPort::new(name, Arc::new(TupleType::new(schema))));
        self
    }

    /// The assignments of the last output port, in order of its attributes.
    pub fn assign(mut self, exprs: impl IntoIterator<Item = Option<Expr>>) -> OperatorBuilder {
        let port = self.0.outputs.last_mut().expect("an output port");
        port.assign = exprs.into_iter().collect();
        self
    }

    /// An output function call of the last output port; the assignments refer to it by number.
    pub fn call(mut self, function: &str, args: Vec<Expr>, ty: Type) -> OperatorBuilder {
        let port = self.0.outputs.last_mut().expect("an output port");
        port.calls.push(OutputCall {
            function: function.into(),
            args,
            ty,
            pos: exprs::TEST_POS,
        });
        self
    }

    /// A parameter of expressions.
    pub fn param(self, name: &str, exprs: impl IntoIterator<Item = Expr>) -> OperatorBuilder {
        self.any_param(name, ParamValue::Exprs(exprs.into_iter().collect()))
    }

    /// A parameter of custom literals.
    pub fn literal(self, name: &str, names: &[&str]) -> OperatorBuilder {
        let names = names.iter().map(|&name| name.into());
        self.any_param(name, ParamValue::Literals(names.collect()))
    }

    fn any_param(mut self, name: &str, value: ParamValue) -> OperatorBuilder {
        let name = name.into();
        let pos = exprs::TEST_POS;
        self.0.params.push(Param { name, value, pos });
        self
    }

    /// The window of the last input port.
    pub fn window(mut self, window: Window) -> OperatorBuilder {
        self.last_input().window = Some(window);
        self
    }

    /// Expressions read one earlier tuple of the last input port, which came `depth` tuples ago.
    pub fn history_at(mut self, depth: u32) -> OperatorBuilder {
        self.last_input().history.insert(depth);
        self
    }

    /// How far expressions look back on the last input port: they may read every tuple up to there.
    pub fn history(mut self, history: u32) -> OperatorBuilder {
        self.last_input().history = HistoryDepths::up_to(history);
        self
    }

    /// The last input port is a control port.
    pub fn control_port(mut self) -> OperatorBuilder {
        self.last_input().is_control = true;
        self
    }

    fn last_input(&mut self) -> &mut InPort {
        self.0.inputs.last_mut().expect("an input port")
    }

    /// Sets the clock of the operator's event time.
    pub fn event_clock(mut self, clock: EventClock) -> OperatorBuilder {
        self.0.clock = Some(clock);
        self
    }

    /// A state variable of the logic clause.
    pub fn state(mut self, name: &str, ty: Type, init: Option<Expr>) -> OperatorBuilder {
        let name = name.into();
        self.0.logic.state.push(StateVar { name, ty, init });
        self
    }

    /// `onTuple` of an input port.
    pub fn on_tuple(mut self, port: usize, body: Body) -> OperatorBuilder {
        self.0.logic.on_tuple[port] = Some(body);
        self
    }

    /// `onPunct` of an input port.
    pub fn on_punct(mut self, port: usize, body: Body) -> OperatorBuilder {
        self.0.logic.on_punct[port] = Some(body);
        self
    }

    /// Sets the body of `onProcess`.
    pub fn on_process(mut self, body: Body) -> OperatorBuilder {
        self.0.logic.on_process = Some(body);
        self
    }

    /// Adds the annotation `@catch` for an exception.
    pub fn catch(mut self, exception: &str) -> OperatorBuilder {
        self.0
            .annotations
            .push(crate::program::catch_annotation(exception));
        self
    }

    /// An input port is fed by an output port of an operator of the program, by number.
    pub fn connect(mut self, port: usize, operator: u32, output: u32) -> OperatorBuilder {
        self.0.inputs[port].sources.push(OutPortId {
            operator: OperatorId(operator),
            port: PortIndex(output),
        });
        self
    }

    /// Finishes the operator instance.
    pub fn build(self) -> OperatorNode {
        self.0
    }
}

impl From<OperatorNode> for OperatorBuilder {
    fn from(operator: OperatorNode) -> OperatorBuilder {
        OperatorBuilder(operator)
    }
}

impl Deref for OperatorBuilder {
    type Target = OperatorNode;

    fn deref(&self) -> &OperatorNode {
        &self.0
    }
}
