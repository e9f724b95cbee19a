//! Joins on equality with windows of a number of tuples, against naive lists, interpreted and
//! compiled.
//!
//! `THALWEG_WINDOWS` is the number of random joins, 200 by default.

use std::collections::VecDeque;

use graph::{BinaryOp, Expr, Policy, PortIndex, Pos, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{OperatorBuilder, TextHarness, exprs, window_case_count};
use tuple::{TupleType, Type, Value, text};

/// A tuple of either stream.
#[derive(Clone, Debug)]
struct Trade {
    id: i64,
    symbol: String,
    price: f64,
}

fn schema() -> [(&'static str, Type); 3] {
    [
        ("id", Type::Int64),
        ("symbol", Type::RString),
        ("price", Type::Float64),
    ]
}

fn attribute(side: usize, at: usize) -> Expr {
    let (_, ty) = &schema()[at];
    exprs::attribute(PortIndex(side as u32), at as u32, ty.clone())
}

impl Trade {
    fn to_value(&self) -> Value {
        let symbol = Value::RString(self.symbol.as_str().into());
        Value::Tuple([Value::Int64(self.id), symbol, Value::Float64(self.price)].into())
    }

    fn has_key_of(&self, other: &Trade, by: &[usize]) -> bool {
        by.iter().all(|at| match at {
            0 => self.id == other.id,
            1 => self.symbol == other.symbol,
            _ => self.price == other.price,
        })
    }
}

/// How trades are joined.
#[derive(Clone, Debug)]
struct JoinCase {
    /// Attributes that have to be equal.
    by: Vec<usize>,
    /// Sizes of the windows.
    sizes: [usize; 2],
    /// Whether the left price has to be below the right one, too.
    has_match: bool,
    /// Sides whose unmatched tuples count.
    outer: [bool; 2],
    rest: Rest,
}

/// The output for unmatched tuples of outer joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Each is paired with default values.
    DefaultValues,
    /// Each is paired with a default tuple of the program.
    DefaultTuple,
    /// Each goes to a port of its side.
    Ports,
}

impl JoinCase {
    /// The tuple that stands for a missing partner.
    fn default_trade(&self) -> Trade {
        let is_given = self.rest == Rest::DefaultTuple;
        Trade {
            id: if is_given { -1 } else { 0 },
            symbol: if is_given { "none" } else { "" }.to_owned(),
            price: if is_given { 0.5 } else { 0.0 },
        }
    }

    /// Text of the output for a tuple of a side that has found no partner.
    fn unmatched_text(&self, side: usize, trade: &Trade) -> Option<String> {
        if !self.outer[side] {
            return None;
        }
        if self.rest == Rest::Ports {
            let port = side.min(usize::from(self.outer[0])) + 1;
            let ty = Type::Tuple(TupleType::new(schema()).into());
            return Some(format!("{port} {}", text::to_text(&trade.to_value(), &ty)));
        }
        let default = self.default_trade();
        Some(match side {
            0 => pair_text(trade, &default),
            _ => pair_text(&default, trade),
        })
    }
}

fn pair_text(left: &Trade, right: &Trade) -> String {
    let ty = Type::Tuple(TupleType::new(output()).into());
    let symbol = Value::RString(right.symbol.as_str().into());
    let (ids, price) = ([left.id, right.id], Value::Float64(left.price));
    let pair = [Value::Int64(ids[0]), Value::Int64(ids[1]), symbol, price];
    format!("0 {}", text::to_text(&Value::Tuple(pair.into()), &ty))
}

fn output() -> [(&'static str, Type); 4] {
    [
        ("left", Type::Int64),
        ("right", Type::Int64),
        ("symbol", Type::RString),
        ("price", Type::Float64),
    ]
}

/// Submissions of a Join by naive lists.
fn expected(trades: &[(usize, Trade)], case: &JoinCase) -> Vec<String> {
    let mut windows: [VecDeque<(&Trade, bool)>; 2] = Default::default();
    let mut submitted = Vec::new();
    for (side, trade) in trades {
        let mut is_paired = false;
        for (partner, is_partner_paired) in &mut windows[1 - side] {
            let (left, right) = if *side == 0 {
                (trade, *partner)
            } else {
                (*partner, trade)
            };
            let is_match = !case.has_match || left.price < right.price;
            if !left.has_key_of(right, &case.by) || !is_match {
                continue;
            }
            (is_paired, *is_partner_paired) = (true, true);
            submitted.push(pair_text(left, right));
        }
        let mut is_marked = is_paired;
        windows[*side].push_back((trade, is_paired));
        if windows[*side].len() > case.sizes[*side]
            && let Some((oldest, false)) = windows[*side].pop_front()
            && let Some(text) = case.unmatched_text(*side, oldest)
        {
            is_marked |= case.rest != Rest::Ports;
            submitted.push(text);
        }
        if is_marked {
            submitted.push("0 window".to_owned());
        }
    }
    submitted
}

/// Submissions of a Join on a backend.
fn submitted(trades: &[(usize, Trade)], case: &JoinCase, backend: &mut dyn Backend) -> Vec<String> {
    let mut operator = OperatorBuilder::new("spl.relational::Join", "Pairs");
    for (side, name) in ["Left", "Right"].into_iter().enumerate() {
        operator = operator.input(name, schema()).window(Window {
            kind: WindowKind::Sliding,
            evict: Policy::Count(case.sizes[side] as u32),
            trigger: None,
            partition: None,
            pos: Pos::default(),
        });
        let param = ["equalityLHS", "equalityRHS"][side];
        operator = operator.param(param, case.by.iter().map(|&at| attribute(side, at)));
    }
    if case.has_match {
        let is_below = exprs::binary(BinaryOp::Lt, attribute(0, 2), attribute(1, 2));
        operator = operator.param(
            "match",
            [Expr {
                ty: Type::Boolean,
                ..is_below
            }],
        );
    }
    let assigned = [
        attribute(0, 0),
        attribute(1, 0),
        attribute(1, 1),
        attribute(0, 2),
    ];
    let mut operator = operator
        .output("Pairs", output())
        .assign(assigned.map(Some).to_vec());
    let algorithm = match case.outer {
        [false, false] => "inner",
        [true, false] => "leftOuter",
        [false, true] => "rightOuter",
        [true, true] => "outer",
    };
    operator = operator.literal("algorithm", &[algorithm]);
    for side in (0..2).filter(|&side| case.outer[side]) {
        operator = match case.rest {
            Rest::DefaultValues => operator,
            Rest::DefaultTuple => {
                let ty = Type::Tuple(TupleType::new(schema()).into());
                let default = exprs::constant(case.default_trade().to_value(), ty);
                operator.param(["defaultTupleRHS", "defaultTupleLHS"][side], [default])
            }
            Rest::Ports => operator.output(["LeftRest", "RightRest"][side], schema()),
        };
    }
    let entry = OperatorEntry::find(toolkit::operators(), "spl.relational::Join");
    let mut harness = TextHarness::with_backend(&operator, entry.unwrap(), backend);
    for (side, trade) in trades {
        let handed = harness.try_process_value(PortIndex(*side as u32), &trade.to_value());
        handed.unwrap_or_else(|fault| panic!("{fault}"));
    }
    harness.take_submitted()
}

fn trades() -> impl Strategy<Value = Vec<(usize, Trade)>> {
    let price = prop_oneof![
        4 => (0..4_u8).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => Just(-0.0),
    ];
    let symbol = prop_oneof![3 => "[AB]{0,2}", 1 => "a long symbol [0-9]{1,2}"];
    let trade = (0..9_i64, symbol, price);
    let trade = trade.prop_map(|(id, symbol, price)| Trade { id, symbol, price });
    prop::collection::vec((0..2_usize, trade), 0..200)
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn joins_are_those_of_lists(
        trades in trades(),
        by in prop::sample::subsequence(vec![0_usize, 1, 2], 1..4),
        sizes in [prop_oneof![0..3_usize, 3..40_usize], prop_oneof![0..3_usize, 3..40_usize]],
        has_match in any::<bool>(),
        outer in [any::<bool>(), any::<bool>()],
        rest in prop_oneof![Just(Rest::DefaultValues), Just(Rest::DefaultTuple), Just(Rest::Ports)],
    ) {
        let case = JoinCase { by, sizes, has_match, outer, rest };
        let expected = expected(&trades, &case);
        let mut interpreter = InterpreterBackend::new(&[], &[]);
        prop_assert_eq!(&submitted(&trades, &case, &mut interpreter), &expected);
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        prop_assert_eq!(&submitted(&trades, &case, &mut jit), &expected);
    }
}
