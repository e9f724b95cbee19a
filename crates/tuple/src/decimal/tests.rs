//! Decimals against the library, and by example.

use std::hash::BuildHasher;

use proptest::prelude::*;

use super::{Decimal32, Decimal64, Decimal128, codec, context};
use crate::arbitrary::decimal;
use crate::values::KeyHasher;

fn d(text: &str) -> Decimal64 {
    text.parse().unwrap()
}

#[test]
fn scale_and_quotients() {
    assert_eq!((d("10") / d("4")).to_string(), "2.5");
    assert_eq!((d("1.10") * d("2.5")).to_string(), "2.750");
    assert_eq!((d("3.25") * d("4")).to_string(), "13.00");
    assert_eq!((d("1.10") + d("2")).to_string(), "3.10");
    assert_eq!((d("1") / d("3")).to_string(), "0.3333333333333333");
    assert_eq!((d("2") / d("3")).to_string(), "0.6666666666666667");
    assert_eq!((d("1") / d("0")).to_string(), "inf");
    assert!((d("0") / d("0")).is_nan());
    assert_eq!((d("7.5") % d("-2")).to_string(), "1.5");
    assert_eq!((-d("0")).to_string(), "-0");
    assert_eq!((-d("-1.50")).abs().to_string(), "1.50");
}

#[test]
fn rounding_is_half_up() {
    assert_eq!(
        (d("1000000000000000") + d("0.5")).to_string(),
        "1000000000000001"
    );
    assert_eq!(
        (d("1000000000000002") + d("0.5")).to_string(),
        "1000000000000003"
    );
    let narrow = |text: &str| text.parse::<Decimal32>().unwrap();
    assert_eq!((narrow("1234567") + narrow("0.5")).to_string(), "1234568");
    assert_eq!((narrow("1") / narrow("8000000")).to_string(), "1.25e-07");
}

#[test]
fn text_by_the_table() {
    for (read, printed) in [
        ("1.10", "1.10"),
        ("0.001", "0.001"),
        ("0.0001", "1e-04"),
        ("0.00012", "1.2e-04"),
        ("1e15", "1000000000000000"),
        ("1e16", "1e+16"),
        ("-12.50e20", "-1.250e+21"),
        ("1e-300", "1e-300"),
        ("0", "0"),
        ("0.00", "0.00"),
        ("0e6", "0"),
        ("-0e15", "-0"),
        ("0e16", "0e+16"),
        ("0e-4", "0e-04"),
        ("+.5", "0.5"),
        ("5.", "5"),
        ("Infinity", "inf"),
        ("-INF", "-inf"),
        ("NaN", "nan"),
        ("1e999999999999", "inf"),
        ("1e-999999999999", "0"), // 0e-398, the zero word
        ("12345678901234565", "1.234567890123457e+16"),
    ] {
        assert_eq!(d(read).to_string(), printed, "{read}");
    }
    for bad in [
        "", ".", "e5", "1e", "1e+", "1.2.3", "0x1", "1 ", "nanx", "--1",
    ] {
        assert!(bad.parse::<Decimal64>().is_err(), "{bad}");
    }
}

#[test]
fn zero_words_are_plain_zero() {
    assert_eq!((Decimal64(0) + d("1.5")).to_string(), "1.5");
    assert_eq!((Decimal32(0) * Decimal32(0)).to_string(), "0");
    assert_eq!(
        (Decimal128::ZERO / Decimal128::from_i64(3)).to_string(),
        "0"
    );
    assert_eq!(Decimal64(0).to_le_bytes(), [0, 0, 0, 0, 0, 0, 0x38, 0x22]);
}

/// Source of an operand: a number, a number at the end of a short coefficient, or any bits.
#[derive(Clone, Copy, Debug)]
enum Source {
    Number(codec::UnpackedDecimal),
    Edge(bool, i64, i32),
    Bits(u128),
}

fn operand() -> impl Strategy<Value = Source> {
    prop_oneof![
        8 => decimal().prop_map(Source::Number),
        2 => (any::<bool>(), -60..60i64, -2..2i32).prop_map(|(n, by, e)| Source::Edge(n, by, e)),
        1 => any::<u128>().prop_map(Source::Bits),
        1 => Just(Source::Bits(0)),
    ]
}

/// The library's result of an operation, in numbers of arbitrary precision.
macro_rules! against_library {
    ($name:ident, $type:ident, $format:ident) => {
        impl From<Source> for $type {
            fn from(source: Source) -> $type {
                match source {
                    Source::Number(value) => $type::pack(value),
                    Source::Edge(negative, by, exponent) => {
                        let edge = 1u128 << codec::$format.coefficient_bits();
                        let coefficient = edge.wrapping_add_signed(by.into());
                        $type::pack(codec::UnpackedDecimal::Finite {
                            negative,
                            coefficient,
                            exponent,
                        })
                    }
                    Source::Bits(bits) => $type::from_word(bits),
                }
            }
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(2000))]

            #[test]
            fn $name(a in operand(), b in operand(), near: bool) {
                let a = $type::from(a);
                let b = if near { -a } else { $type::from(b) };
                let (x, y) = (a.to_number(), b.to_number());
                let mut context = context::wide_context(codec::$format);
                let both = |op: &mut dyn FnMut(&mut dec::Decimal<12>)| {
                    let mut result = x.clone();
                    op(&mut result);
                    $type::from_number(&result).unpack()
                };
                prop_assert_eq!((a + b).unpack(), both(&mut |r| context.add(r, &y)));
                prop_assert_eq!((a - b).unpack(), both(&mut |r| context.sub(r, &y)));
                prop_assert_eq!((a * b).unpack(), both(&mut |r| context.mul(r, &y)));
                prop_assert_eq!((a / b).unpack(), both(&mut |r| context.div(r, &y)));
                prop_assert_eq!((a % b).unpack(), both(&mut |r| context.rem(r, &y)));
                prop_assert_eq!(a.compare(b), context.partial_cmp(&x, &y));
                let text = a.to_string();
                prop_assert_eq!(text.parse::<$type>(), Ok(a));
                prop_assert_eq!(a == b, !(a < b) && !(a > b));
                if a == b {
                    let hash = |x| KeyHasher::default().hash_one(x);
                    prop_assert_eq!(hash(a), hash(b));
                }
            }
        }
    };
}

against_library!(decimal32_is_decnumbers, Decimal32, DECIMAL32);
against_library!(decimal64_is_decnumbers, Decimal64, DECIMAL64);
against_library!(decimal128_is_decnumbers, Decimal128, DECIMAL128);
