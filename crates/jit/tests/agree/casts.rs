//! Casts between all real numbers: at the edges of their types, and of what compiled code does
//! without a call.

use std::sync::Arc;

use graph::{Body, Expr, ExprKind, PortIndex};
use proptest::prelude::*;
use tuple::decimal::codec::{POWERS, UnpackedDecimal};
use tuple::{Decimal32, Decimal64, Decimal128, TupleType, Type, Value};

use crate::make::INTEGERS;
use crate::rig::{Rig, schema, submit};

/// All types of real numbers.
fn numbers() -> Vec<Type> {
    let others = [
        Type::Float32,
        Type::Float64,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
    ];
    INTEGERS.into_iter().chain(others).collect()
}

/// Compiled code gives the interpreter's bits in casts of these values of a type to every type, and
/// back again.
fn agree(from: &Type, values: impl IntoIterator<Item = Value>) {
    let source = || Expr::attribute(PortIndex(0), 0, from.clone());
    let casts = numbers().into_iter().flat_map(|to| {
        let there = source().cast(to);
        let back = there.clone().cast(from.clone());
        [there, back]
    });
    let casts: Vec<Expr> = casts.collect();
    let named = casts.iter().enumerate();
    let output = TupleType::new(named.map(|(at, e)| (format!("a{at}"), e.ty.clone())));
    let output = Arc::new(output);
    let rig = Rig {
        inputs: vec![(schema([("a", from.clone())]), 0)],
        outputs: vec![output.clone()],
        ..Rig::default()
    };
    let tuple = Expr::new(ExprKind::Tuple(casts), Type::Tuple(output));
    let body = Body {
        locals: Vec::new(),
        stmts: vec![submit(PortIndex(0), tuple)],
    };
    let row = |value| vec![Some(Value::Tuple(Box::new([value])))];
    let rows: Vec<_> = values.into_iter().map(row).collect();
    assert!(!rows.is_empty());
    rig.agree(&body, &rows);
}

/// An integer, by its low bits, as a value of a type.
fn integer(ty: &Type, n: i128) -> Value {
    match ty {
        Type::Int8 => Value::Int8(n as i8),
        Type::Int16 => Value::Int16(n as i16),
        Type::Int32 => Value::Int32(n as i32),
        Type::Int64 => Value::Int64(n as i64),
        Type::Uint8 => Value::Uint8(n as u8),
        Type::Uint16 => Value::Uint16(n as u16),
        Type::Uint32 => Value::Uint32(n as u32),
        _ => Value::Uint64(n as u64),
    }
}

/// A decimal of a type, rounded to fit.
fn decimal(ty: &Type, value: UnpackedDecimal) -> Value {
    match ty {
        Type::Decimal32 => Value::Decimal32(Decimal32::pack(value)),
        Type::Decimal64 => Value::Decimal64(Decimal64::pack(value)),
        _ => Value::Decimal128(Decimal128::pack(value)),
    }
}

/// A decimal of these bits, whatever they say.
fn decimal_of_bits(ty: &Type, bits: u128) -> Value {
    match ty {
        Type::Decimal32 => Value::Decimal32(Decimal32(bits as u32)),
        Type::Decimal64 => Value::Decimal64(Decimal64(bits as u64)),
        _ => Value::Decimal128(Decimal128([bits as u64, (bits >> 64) as u64])),
    }
}

fn decimal_types() -> [Type; 3] {
    [Type::Decimal32, Type::Decimal64, Type::Decimal128]
}

/// Numbers around powers of two and ten, which are limits of integers, coefficients and digits.
fn magnitudes() -> Vec<u128> {
    let twos = (0..=113).map(|bits| 1u128 << bits);
    let tens = POWERS[..=34].iter().copied();
    let halves = tens.clone().map(|power| power * 5);
    let around = twos.chain(tens).chain(halves);
    around.flat_map(|n| [n - 1, n, n + 1]).collect()
}

#[test]
fn integers_at_limits() {
    for ty in INTEGERS {
        let signed = magnitudes()
            .into_iter()
            .map(|n| n as i128)
            .flat_map(|n| [n, -n]);
        agree(&ty, signed.map(|n| integer(&ty, n)));
    }
}

#[test]
fn floats_at_limits() {
    let mut floats: Vec<f64> = magnitudes().into_iter().map(|n| n as f64).collect();
    // Halves and ties, subnormals of both widths, ends of ranges, numbers that are not.
    floats.extend([0.0, 0.1, 0.3, 0.5, 1.5, 2.5, 3.5, 0.05, 0.375, 1.0 / 3.0]);
    floats.extend([5e-324, 1e-310, f64::MIN_POSITIVE, f64::MAX, 1e300, 1e-300]);
    floats.extend([f32::MAX, f32::MIN_POSITIVE, 1e-45, 1e-40].map(f64::from));
    floats.extend([3.4028235677973366e38, 1.401298464324817e-45 / 2.0]);
    floats.extend([f64::INFINITY, f64::NAN]);
    let near: Vec<f64> = floats
        .iter()
        .flat_map(|x| [x.next_down(), x.next_up()])
        .collect();
    floats.extend(near);
    // Decimals take 7, 16 or 34 digits; a digit behind them decides how they are rounded.
    let long = [
        "1234566.5",
        "9999999.5",
        "9999999.4999999",
        "0.99999995",
        "1234567890123456.5",
    ];
    floats.extend(long.map(|text| text.parse::<f64>().expect("a float")));
    let signed: Vec<f64> = floats.iter().flat_map(|&x| [x, -x]).collect();
    agree(&Type::Float64, signed.iter().map(|&x| Value::Float64(x)));
    agree(
        &Type::Float32,
        signed.iter().map(|&x| Value::Float32(x as f32)),
    );
}

/// Coefficients at which a path, a width or the digits of a type end, and a few others.
fn coefficients() -> Vec<u128> {
    let twos = [1, 23, 24, 53, 54, 63, 64, 113].map(|bits| 1u128 << bits);
    let tens = [0, 1, 6, 7, 8, 15, 16, 17, 33, 34].map(|digits| POWERS[digits]);
    let around = twos.into_iter().chain(tens).flat_map(|n| [n - 1, n, n + 1]);
    around
        .chain([1_234_567, 1_250_000, 1_234_567_890_123_450])
        .collect()
}

/// Exponents at which a path or a range ends.
const EXPONENTS: [i32; 32] = [
    -6176, -6175, -399, -398, -397, -102, -101, -100, -40, -23, -22, -21, -17, -16, -15, -8, -7,
    -2, -1, 0, 1, 2, 15, 21, 22, 23, 90, 91, 369, 370, 6110, 6111,
];

#[test]
fn decimals_at_limits() {
    for ty in decimal_types() {
        let finite = coefficients().into_iter().flat_map(|coefficient| {
            EXPONENTS.into_iter().flat_map(move |exponent| {
                [false, true].map(|negative| UnpackedDecimal::Finite {
                    negative,
                    coefficient,
                    exponent,
                })
            })
        });
        agree(&ty, finite.map(|value| decimal(&ty, value)));
        let special = [false, true].into_iter().flat_map(|negative| {
            [
                UnpackedDecimal::Nan { negative },
                UnpackedDecimal::Infinite { negative },
            ]
        });
        agree(&ty, special.map(|value| decimal(&ty, value)));
    }
}

/// Decimals half way between two neighbours in float32, float64 or a narrower decimal, and beside.
#[test]
fn ties_of_rounding() {
    let ties = [
        "16777217",
        "16777219",
        "33554434",
        "8388608.5",
        "8388609.5",
        "1.00000005960464477539062",
        "1.000000059604644775390625",
        "1.00000005960464477539063",
        "9007199254740993",
        "9007199254740995",
        "4503599627370496.5",
        "1234567.5",
        "1234568.5",
        "0.12345675",
        "0.99999995",
        "9999999.5",
        "99999999999999995",
        "12345678901234565",
        "1234567890123456.5",
    ];
    // From 0.9 on, 16 digits are so near to the middle of two float32s that a float64 is in it.
    let halves = (0..200).map(|step| {
        let bits = 0.9f32.to_bits() + 7 * step;
        let [low, high] = [bits, bits + 1].map(|bits| f64::from(f32::from_bits(bits)));
        format!("{:.16}", (low + high) / 2.0)
    });
    let texts = ties.iter().map(ToString::to_string).chain(halves);
    let signed = texts.flat_map(|text| [format!("-{text}"), text]);
    let texts: Vec<String> = signed.collect();
    let texts = || texts.iter().map(|text| text.as_bytes());
    let read64 = |text| Decimal64::from_text(text).map(Value::Decimal64);
    let read128 = |text| Decimal128::from_text(text).map(Value::Decimal128);
    agree(
        &Type::Decimal64,
        texts().map(|text| read64(text).expect("a decimal")),
    );
    agree(
        &Type::Decimal128,
        texts().map(|text| read128(text).expect("a decimal")),
    );
}

/// The zero word, words of no writer, and the ends of each field.
#[test]
fn words_of_decimals() {
    for (ty, bits) in decimal_types().into_iter().zip([32, 64, 128]) {
        let words = (0..bits).flat_map(|at| {
            let word = 1u128 << at;
            [word, word - 1, !(word - 1), !word, word | 1 << (bits - 1)]
        });
        agree(&ty, words.map(|word| decimal_of_bits(&ty, word)));
    }
}

/// Coefficients of all lengths, mostly with exponents that prices and volumes have.
fn finite_decimals() -> impl Strategy<Value = UnpackedDecimal> {
    let exponents = prop_oneof![6 => -8..3i32, 3 => -24..24i32, 1 => -7000..7000i32];
    let parts = (any::<bool>(), any::<u128>(), 15..128u32, exponents);
    parts.prop_map(
        |(negative, coefficient, shift, exponent)| UnpackedDecimal::Finite {
            negative,
            coefficient: coefficient >> shift,
            exponent,
        },
    )
}

/// Floats of any bits, and short ones.
fn floats() -> impl Strategy<Value = f64> {
    let short = (-10_000_000..10_000_000i64, 0..8i32);
    let short = short.prop_map(|(n, places)| n as f64 / 10f64.powi(places));
    let binary = (any::<i32>(), -60..30i32).prop_map(|(n, power)| f64::from(n) * 2f64.powi(power));
    prop_oneof![short, binary, any::<u64>().prop_map(f64::from_bits)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_integers(words in prop::collection::vec((any::<i64>(), 0..64u32), 300)) {
        for ty in INTEGERS {
            let values = words.iter().map(|&(n, shift)| integer(&ty, i128::from(n >> shift)));
            agree(&ty, values);
        }
    }

    #[test]
    fn any_floats(values in prop::collection::vec(floats(), 300)) {
        agree(&Type::Float64, values.iter().map(|&x| Value::Float64(x)));
        agree(&Type::Float32, values.iter().map(|&x| Value::Float32(x as f32)));
    }

    #[test]
    fn any_decimals(
        finite in prop::collection::vec(finite_decimals(), 300),
        words in prop::collection::vec(any::<u128>(), 100),
    ) {
        for ty in decimal_types() {
            agree(&ty, finite.iter().map(|&value| decimal(&ty, value)));
            agree(&ty, words.iter().map(|&word| decimal_of_bits(&ty, word)));
        }
    }
}
