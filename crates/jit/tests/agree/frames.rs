//! Tuples that compiled code writes into a ring by itself: the same frames as the outlet's, whoever
//! writes them and whatever lay there before.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, InputTuples, OperatorEventTime, Services, State};
use graph::PortIndex;
use ring::{Reader, RingShape, Writer, private_ring};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::abi::{
    Backend, ChainEdge, ChainMember, ChainOutput, CodeContext, CodeOutlet, CodeScope, Counter,
    FrameEdge, FrameForm, FrameGrant, RunBody, StateCell, ThreadChains,
};
use runtime::{EvaluationInputs, LoweredLogic, Outlet};
use thalweg_jit::{Jit, JitOptions};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Type, Value, normal};

use crate::make::*;
use crate::rig::{Rig, schema, submit};

const KIND: u8 = 5;

/// Place of the sender among the consumers of the port.
const RING_PLACE: u32 = 1;

/// An operator that submits into a ring, and the tuples that it is given.
struct FrameCase {
    /// Type of the tuples that come in and go out.
    stream: Type,
    tuple: fn(i64) -> Value,
    form: FrameForm,
    on_tuple: graph::Body,
}

/// A ring with an outlet that writes into it, and what its reader has seen.
struct Ringed {
    layout: Arc<Layout>,
    form: FrameForm,
    writer: RefCell<Writer>,
    reader: RefCell<Reader>,
    seen: RefCell<Vec<Vec<u8>>>,
    by_outlet: RefCell<u64>,
    /// Tuples that other consumers of the port were given, with the place of each.
    beside: RefCell<Vec<(u32, Vec<u8>)>>,
    woken: RefCell<u64>,
}

impl Ringed {
    fn new(case: &FrameCase) -> Ringed {
        let (writer, mut readers) = private_ring(RingShape {
            bytes: 8192,
            readers: 1,
        })
        .expect("memory");
        Ringed {
            layout: Layout::new(case.stream.as_tuple().unwrap()),
            form: case.form,
            writer: RefCell::new(writer),
            reader: RefCell::new(readers.remove(0)),
            seen: RefCell::default(),
            by_outlet: RefCell::default(),
            beside: RefCell::default(),
            woken: RefCell::default(),
        }
    }

    fn read(&self) {
        let mut reader = self.reader.borrow_mut();
        let mut seen = self.seen.borrow_mut();
        loop {
            let before = seen.len();
            for frame in reader.poll() {
                assert_eq!((frame.kind, frame.flags), (KIND, 0));
                seen.push(frame.bytes.to_vec());
            }
            reader.release();
            if seen.len() == before {
                return;
            }
        }
    }
}

impl Outlet for &Ringed {
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        assert_eq!(port, PortIndex(0));
        *self.by_outlet.borrow_mut() += 1;
        let mut normal = Vec::new();
        let bytes = match self.form {
            FrameForm::Flat => tuple.bytes(),
            FrameForm::Normal => {
                normal::encode(tuple, &self.layout, &mut normal);
                &normal[..]
            }
        };
        let mut writer = self.writer.borrow_mut();
        loop {
            if let Some(room) = writer.claim(bytes.len()) {
                room[..bytes.len()].copy_from_slice(bytes);
                writer.commit(KIND, 0, bytes.len());
                return Ok(());
            }
            self.read();
        }
    }
    fn submit_punctuation(&mut self, _: PortIndex, _: Punctuation) -> Result<(), Fault> {
        Ok(())
    }
    fn services(&mut self) -> &mut dyn Services {
        unreachable!("nothing here asks for one")
    }
    fn evaluate(
        &mut self,
        _: &EvaluationInputs<'_>,
        _: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Err(Fault::value("not here"))
    }
}

impl CodeOutlet for &Ringed {
    fn act_as(&mut self, operator: u32) -> u32 {
        operator
    }

    fn submit_to(
        &mut self,
        port: PortIndex,
        consumers: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        for place in consumers {
            match place == RING_PLACE {
                true => self.submit(port, tuple)?,
                false => {
                    let mut beside = self.beside.borrow_mut();
                    beside.push((place, tuple.bytes().to_vec()));
                }
            }
        }
        Ok(())
    }

    fn wake_consumer(&mut self, _: PortIndex, consumer: u32) {
        assert_eq!(consumer, RING_PLACE);
        *self.woken.borrow_mut() += 1;
        self.writer.borrow().take_sleeping_readers();
    }
}

/// Every sort of slot of a fixed layout, with holes between them, then words side by side.
fn stream() -> Type {
    let inner = Type::Tuple(schema([("flag", Type::Boolean), ("wide", Type::Int64)]));
    Type::Tuple(schema([
        ("n", Type::Int64),
        ("small", Type::Int8),
        ("maybe", Type::Optional(Type::Int32.into())),
        ("name", Type::BoundedRString(5)),
        ("inner", inner),
        ("stamp", Type::Timestamp),
        ("low", Type::Int64),
        ("high", Type::Int64),
        ("x", Type::Float64),
        ("y", Type::Float64),
        ("alone", Type::Int64),
    ]))
}

fn row(n: i64) -> Value {
    let maybe = (n % 2 == 0).then_some(Value::Int32(n as i32));
    Value::Tuple(Box::new([
        Value::Int64(n),
        Value::Int8(n as i8),
        Value::Optional(maybe.map(Box::new)),
        string(&"abcde"[..(n % 6) as usize]),
        Value::Tuple(Box::new([Value::Boolean(n % 3 == 0), Value::Int64(-n)])),
        Value::default_of(&Type::Timestamp),
        Value::Int64(n << 40),
        Value::Int64(n - 500),
        Value::Float64(n as f64 / 3.0),
        Value::Float64(-0.0),
        Value::Int64(!n),
    ]))
}

/// All attributes of the input tuple.
fn all() -> Vec<graph::Expr> {
    let ty = stream();
    let attributes = (0..).zip(&ty.as_tuple().unwrap().attributes);
    attributes.map(|(at, a)| attr(at, a.ty.clone())).collect()
}

/// Words side by side that are two, or twice the same.
fn pairs() -> graph::Body {
    let mut fields = all();
    let local = || local(0, Type::Int64);
    (fields[6], fields[7]) = (local(), local());
    (fields[8], fields[9]) = (
        add(fields[9].clone(), fields[8].clone()),
        add(fields[8].clone(), fields[8].clone()),
    );
    let sum = add(attr(0, Type::Int64), attr(10, Type::Int64));
    let submit = submit(PortIndex(0), tuple(&stream(), fields));
    body([Type::Int64], vec![let_(0, sum), submit])
}

/// n + 1, the words behind changed, the rest as it was.
fn functor() -> graph::Body {
    let ty = stream();
    let mut fields = all();
    fields[6] = add(fields[6].clone(), int(1));
    fields[7] = add(fields[7].clone(), fields[0].clone());
    fields[0] = add(fields[0].clone(), int(1));
    body([], vec![submit(PortIndex(0), tuple(&ty, fields))])
}

/// Two attributes computed and the others as they came.
fn swapped() -> graph::Body {
    let ty = scalars();
    let attributes = (0..).zip(&ty.as_tuple().unwrap().attributes);
    let mut fields: Vec<graph::Expr> = attributes.map(|(at, a)| attr(at, a.ty.clone())).collect();
    fields[1] = add(fields[1].clone(), int(-1));
    fields[3] = add(fields[3].clone(), fields[3].clone());
    body([], vec![submit(PortIndex(0), tuple(&ty, fields))])
}

/// The tuple as it came.
pub fn forward(stream: Type) -> graph::Body {
    let whole = expr(
        graph::ExprKind::Input {
            port: PortIndex(0),
            history: 0,
        },
        stream,
    );
    body([], vec![submit(PortIndex(0), whole)])
}

/// Runs a body on tuples, with a consumer before and one behind the ring; what was read of the
/// ring, how many the outlet wrote, and how often it was told to wake somebody.
fn run(
    backend: &mut dyn Backend,
    case: &FrameCase,
    has_grant: bool,
    sleeps: bool,
) -> (Vec<Vec<u8>>, u64, u64) {
    let ringed = Ringed::new(case);
    let mut state = StateCell::new(State::new(&[]));
    let counters: [Counter; 3] = Default::default();
    let mut act = compiled(
        backend,
        case,
        &state,
        &counters,
        has_grant.then_some(&ringed),
    );
    let layout = ringed.layout.clone();
    for n in 0..1000 {
        if sleeps && n % 100 == 50 {
            ringed.read();
            assert!(ringed.reader.borrow_mut().arm());
        }
        let mut buf = TupleBuf::default();
        buf.set_all(&layout, &(case.tuple)(n));
        let mut context = CodeContext {
            inputs: InputTuples {
                tuples: &[Some(buf.as_ref())],
                layouts: std::slice::from_ref(&layout),
            },
            state: state.borrow(),
            outlet: &mut &ringed,
            punctuation: None,
        };
        act.run_body(&mut context)
            .unwrap_or_else(|fault| panic!("{fault}"));
    }
    ringed.read();
    let counted = ringed.seen.borrow().len() as u64 - *ringed.by_outlet.borrow();
    let submitted = if has_grant { 1000 } else { 0 };
    assert_eq!(
        counters.each_ref().map(Counter::get),
        [submitted, counted, counted]
    );
    if has_grant {
        let beside = ringed.beside.take();
        let frames = ringed.seen.borrow();
        assert_eq!(beside.len(), 2 * frames.len());
        for (given, frame) in beside.chunks(2).zip(&*frames) {
            assert_eq!((given[0].0, given[1].0), (0, 2));
            assert_eq!(given[0].1, given[1].1);
            assert!(case.form == FrameForm::Normal || given[0].1 == *frame);
        }
    }
    (
        ringed.seen.take(),
        ringed.by_outlet.take(),
        ringed.woken.take(),
    )
}

/// The code of an operator with one input and one output port, which may write into a ring.
fn compiled(
    backend: &mut dyn Backend,
    case: &FrameCase,
    state: &StateCell,
    [submitted, processed, written]: &[Counter; 3],
    ringed: Option<&Ringed>,
) -> Box<dyn RunBody> {
    let ty = case.stream.as_tuple().unwrap().clone();
    let rig = Rig {
        inputs: vec![(ty.clone(), 0)],
        outputs: vec![ty.clone()],
        ..Rig::default()
    };
    let logic = LoweredLogic {
        on_tuple: vec![case.on_tuple.clone()],
        on_punct: vec![None],
        ..LoweredLogic::default()
    };
    let output = ringed.map(|ringed| {
        let frames = FrameEdge {
            grant: FrameGrant {
                grant: ringed.writer.borrow_mut().grant().expect("membarrier"),
                kind: KIND,
                form: case.form,
                written_count: written.address(),
            },
            processed,
            sender: 1,
        };
        ChainOutput {
            submitted,
            tap: None,
            edges: vec![
                ChainEdge::Outlet,
                ChainEdge::Frames(frames),
                ChainEdge::Outlet,
            ],
            window_counters: None,
        }
    });
    static STOP: u8 = 0;
    let member = ChainMember {
        scope: CodeScope {
            operator: &rig.operator(),
            index: 0,
            inputs: vec![Layout::new(&ty)],
            outputs: vec![Layout::new(&ty)],
            state: &[],
            tables: &[],
        },
        logic: &logic,
        state: state.address(),
        event_time: &OperatorEventTime::default(),
        chain_outputs: vec![output],
        batch_forms: vec![],
    };
    let chains = ThreadChains {
        members: vec![member],
        stop_flag: &raw const STOP,
        running: None,
    };
    let codes = backend
        .compile_chains(&chains)
        .unwrap_or_else(|fault| panic!("{fault}"));
    backend.finish().unwrap_or_else(|fault| panic!("{fault}"));
    let code = codes.into_iter().flat_map(|code| code.on_tuple).flatten();
    code.last().expect("code")
}

fn agree(case: &FrameCase, sleeps: bool) -> u64 {
    let mut interpreter = InterpreterBackend::new(&[], &[]);
    let (expected, all, _) = run(&mut interpreter, case, false, false);
    assert_eq!((expected.len(), all), (1000, 1000));
    let mut jit = Jit::new(&[], &[], JitOptions::default()).unwrap();
    let (actual, by_outlet, woken) = run(&mut jit, case, true, sleeps);
    assert_eq!(expected, actual);
    assert!(
        by_outlet < 200,
        "{by_outlet} of 1000 frames were not written in place"
    );
    woken
}

fn flat(on_tuple: graph::Body) -> FrameCase {
    FrameCase {
        stream: stream(),
        tuple: row,
        form: FrameForm::Flat,
        on_tuple,
    }
}

#[test]
fn frames_written_in_place_are_those_of_the_outlet() {
    assert_eq!(agree(&flat(functor()), false), 0);
    assert_eq!(agree(&flat(forward(stream())), false), 0);
    assert_eq!(agree(&flat(pairs()), false), 0);
}

#[test]
fn so_are_frames_of_the_normal_codec() {
    for on_tuple in [forward(scalars()), swapped()] {
        let case = FrameCase {
            stream: scalars(),
            tuple: scalar_tuple,
            form: FrameForm::Normal,
            on_tuple,
        };
        assert_eq!(agree(&case, false), 0);
    }
}

#[test]
fn whoever_sleeps_is_woken() {
    let woken = agree(&flat(functor()), true);
    assert!(woken > 0);
}
