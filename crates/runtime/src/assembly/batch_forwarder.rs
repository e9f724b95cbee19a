//! Code for the batches of a receiver whose stream has several consumers.
//!
//! ```text
//!   batch of frames --> [ Filter's code, then Custom's code ]     a tuple at a time, in one loop
//! ```
//! A batch goes to the code of a consumer as a whole if that is the only one. Several ones have to
//! take each tuple before any takes the next, as on a fused edge. So the backend is given a member
//! of the thread's chains that does nothing but submit what comes in, and inlines the consumers
//! into its loop.

use std::sync::Arc;

use graph::{Body, Expr, ExprKind, InPort, OperatorNode, PeThreadId, PortIndex, Pos, Stmt};
use tuple::{Layout, Type, Value};

use crate::LoweredLogic;
use crate::abi::FrameForm;
use crate::assembly::operator_factory::ConstructedOperator;
use crate::assembly::pe_topology::PeTopology;

/// The member of a chain that stands for an output port of a receiver.
pub(crate) struct BatchForwarder {
    /// Number of the receiver in the PE.
    pub operator: usize,
    /// The output port whose tuples are forwarded.
    pub port: PortIndex,
    pub form: FrameForm,
    /// The thread that the receiver runs on.
    pub thread: PeThreadId,
    /// The receiver with an input port for its tuples.
    pub node: OperatorNode,
    pub layout: Arc<Layout>,
    pub logic: LoweredLogic,
}

/// The forwarders of all receivers whose streams have several consumers, some of which may have
/// code.
pub(crate) fn batch_forwarders(
    constructed: &[ConstructedOperator<'_>],
    topology: &PeTopology,
) -> Vec<BatchForwarder> {
    let mut forwarders = Vec::new();
    for (at, one) in constructed.iter().enumerate() {
        let Some(thread) = topology.only_thread(at) else {
            continue;
        };
        for (port, form) in (0..).map(PortIndex).zip(&one.batch_forms) {
            let consumers = &topology.outs[at][port.index()].consumers;
            let mut each = consumers.iter();
            let has_code = each.any(|to| constructed[to.operator as usize].built.is_none());
            if let (Some(form), true) = (*form, has_code && consumers.len() > 1) {
                forwarders.push(BatchForwarder::new(one, (port, form), thread));
            }
        }
    }
    forwarders
}

impl BatchForwarder {
    fn new(
        receiver: &ConstructedOperator<'_>,
        (port, form): (PortIndex, FrameForm),
        thread: PeThreadId,
    ) -> BatchForwarder {
        let layout = Arc::clone(&receiver.outputs[port.index()]);
        let schema = layout.schema.clone();
        let input = ExprKind::Input {
            port: PortIndex(0),
            history: 0,
        };
        let submit = Stmt::Submit {
            port: Expr::constant(Value::Uint32(port.0), Type::Uint32),
            tuple: Expr::new(input, Type::Tuple(schema.clone())),
            pos: Pos::default(),
        };
        let body = Body {
            stmts: vec![submit],
            ..Body::default()
        };
        BatchForwarder {
            operator: receiver.index as usize,
            port,
            form,
            thread,
            node: OperatorNode {
                inputs: vec![InPort::new(
                    receiver.operator.name.clone(),
                    schema,
                    Vec::new(),
                )],
                ..receiver.operator.clone()
            },
            layout,
            logic: LoweredLogic {
                on_tuple: vec![body],
                on_punct: vec![None],
                ..LoweredLogic::default()
            },
        }
    }
}
