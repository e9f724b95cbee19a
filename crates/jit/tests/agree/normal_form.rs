//! Batches of tuples that the normal codec has written, read by compiled code without the codec.

use graph::{Body, PortIndex};
use runtime::LoweredLogic;
use runtime::abi::FrameForm;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_jit::{Jit, JitOptions};
use tuple::{Layout, Type, Value};

use crate::frames::forward;
use crate::hub::{Node, Seen, payload, run, run_batch, run_payloads};
use crate::make::*;
use crate::rig::{Rig, submit};

/// An operator that submits tuples of the stream that comes in, to these members.
fn node(on_tuple: Body, edge: Option<Vec<(u32, PortIndex)>>) -> Node {
    let stream = scalars().as_tuple().unwrap().clone();
    Node {
        rig: Rig {
            inputs: vec![(stream.clone(), 0)],
            outputs: vec![stream],
            ..Rig::default()
        },
        logic: LoweredLogic {
            on_tuple: vec![on_tuple],
            on_punct: vec![None],
            ..LoweredLogic::default()
        },
        edges: vec![edge],
    }
}

/// Every attribute, numbers twice what they are.
fn doubled() -> Body {
    let stream = scalars();
    let attributes = (0..).zip(&stream.as_tuple().unwrap().attributes);
    let fields = attributes.map(|(at, a)| {
        let value = attr(at, a.ty.clone());
        match a.ty.is_numeric() {
            true => add(value.clone(), value),
            false => value,
        }
    });
    body(
        [],
        vec![submit(PortIndex(0), tuple(&stream, fields.collect()))],
    )
}

fn in_batch(nodes: &[Node], payloads: &[Vec<u8>]) -> Seen {
    let mut jit = Jit::new(&[], &[], JitOptions::default()).unwrap();
    run_payloads(nodes, &mut jit, payloads, FrameForm::Normal)
}

#[test]
fn tuples_of_a_batch_are_those_that_were_encoded() {
    let tuples: Vec<Value> = (-20..20).map(scalar_tuple).collect();
    let behind = || Some(vec![(1, PortIndex(0))]);
    for nodes in [
        vec![node(forward(scalars()), None)],
        vec![node(doubled(), None)],
        vec![node(forward(scalars()), behind()), node(doubled(), None)],
        vec![node(doubled(), behind()), node(forward(scalars()), None)],
    ] {
        let expected = run(&nodes, &mut InterpreterBackend::new(&[], &[]), &tuples);
        assert_eq!(expected.events.len(), tuples.len());
        let mut jit = Jit::new(&[], &[], JitOptions::default()).unwrap();
        assert_eq!(
            run_batch(&nodes, &mut jit, &tuples, FrameForm::Normal),
            expected
        );
    }
}

#[test]
fn what_is_no_tuple_is_left_to_the_codec() {
    let layout = Layout::new(scalars().as_tuple().unwrap());
    let good = |n| payload(&layout, &scalar_tuple(n), FrameForm::Normal);
    let nodes = [node(forward(scalars()), None)];
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut bad = good(1);
        change(&mut bad);
        in_batch(&nodes, &[good(0), bad, good(2)]).events.len()
    };
    // The boolean is the first byte, the last one of the enum's ordinal the 24th.
    assert_eq!(good(1)[20..24], [0, 0, 0, 1]);
    assert_eq!(changed(|_| {}), 3);
    assert_eq!(changed(|bytes| bytes[0] = 1), 3);
    assert_eq!(changed(|bytes| bytes[0] = 2), 1);
    assert_eq!(changed(|bytes| bytes[23] = 2), 3);
    assert_eq!(changed(|bytes| bytes[23] = 3), 1);
    assert_eq!(changed(|bytes| bytes[20] = 0x80), 1);
    assert_eq!(changed(|bytes| bytes.truncate(bytes.len() - 1)), 1);
    assert_eq!(changed(|bytes| bytes.push(0)), 1);
}

#[test]
fn attributes_that_nothing_reads_are_checked_too() {
    let stream = Type::Tuple(crate::rig::schema([
        ("n", Type::Int64),
        ("flag", Type::Boolean),
    ]));
    let mut one = node(body([], vec![]), None);
    one.rig.inputs[0].0 = stream.as_tuple().unwrap().clone();
    one.logic.on_tuple = vec![body(
        [],
        vec![submit(PortIndex(0), tuple(&scalars(), scalar_constants()))],
    )];
    let bytes = |flag: u8| vec![0, 0, 0, 0, 0, 0, 0, 7, flag];
    let seen = in_batch(&[one], &[bytes(1), bytes(0), bytes(7), bytes(1)]);
    assert_eq!(seen.events.len(), 2);
}

fn scalar_constants() -> Vec<graph::Expr> {
    let Value::Tuple(values) = scalar_tuple(5) else {
        unreachable!("it is a tuple")
    };
    let types = scalars().as_tuple().unwrap().attributes.clone();
    let each = values.into_iter().zip(types);
    each.map(|(value, a)| expr(graph::ExprKind::Const(value), a.ty.clone()))
        .collect()
}
