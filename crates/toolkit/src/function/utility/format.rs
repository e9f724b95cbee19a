//! Numbers to text, as the C library's `printf` writes them in the C locale.

use eval::NativeFn;
use tuple::Value;

use crate::function::arguments::{NativeArguments, checked_count};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "rstring formatNumber(int64 value)",
        "The number in decimal.",
        |c| c.bounded_rstring(c.int64(0).to_string()),
    ),
    utility(
        "rstring formatNumber(int64 value, uint32 width)",
        "The number in decimal, filled up with blanks on the left to `width` characters.",
        |c| {
            let width = width(c.uint32(1))?;
            c.bounded_rstring(format!("{:width$}", c.int64(0)))
        },
    ),
    utility(
        "rstring formatNumber(float64 value)",
        "The number with up to 6 digits, in scientific notation if it is very large or small.",
        |c| c.bounded_rstring(general(c.float64(0), 6)),
    ),
    utility(
        "rstring formatNumber(float64 value, uint32 width, uint32 precision, boolean scientific)",
        "The number with `precision` digits after the point, in scientific notation if wanted, \
         filled up with blanks on the left to `width` characters.",
        |c| {
            let (x, precision) = (c.float64(0), width(c.uint32(2))?);
            let text = if c.boolean(3) {
                scientific(x, precision)
            } else {
                fixed(x, precision)
            };
            let width = width(c.uint32(1))?;
            c.bounded_rstring(format!("{text:>width$}"))
        },
    ),
    utility(
        "rstring strerror(int32 errnum)",
        "What an error number of the operating system means.",
        |c| {
            // The number stands for ENOENT and the like; the runtime appends it in parentheses.
            let text = std::io::Error::from_raw_os_error(c.int32(0)).to_string();
            let end = text.rfind(" (os error").unwrap_or(text.len());
            Ok(Value::RString(text[..end].into()))
        },
    ),
];

/// A width that formatting can take.
fn width(asked: u32) -> Result<usize, eval::Fault> {
    const WIDTH_MAX: usize = u16::MAX as usize;
    checked_count(i32::try_from(asked).unwrap_or(i32::MAX)).map(|width| width.min(WIDTH_MAX))
}

/// A number as `%.*f` of C prints it.
fn fixed(x: f64, precision: usize) -> String {
    special(x).unwrap_or_else(|| format!("{x:.precision$}"))
}

/// `%.*e`: at least two digits of exponent.
fn scientific(x: f64, precision: usize) -> String {
    special(x).unwrap_or_else(|| {
        let text = format!("{x:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or_default();
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    })
}

/// `%.*g`: the shorter notation, without zeros at the end.
fn general(x: f64, digits: usize) -> String {
    if let Some(special) = special(x) {
        return special;
    }
    let rounded = format!("{x:.*e}", digits - 1);
    let exponent: i32 = rounded
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let text = scientific(x, digits - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", without_zeros(digits));
    }
    without_zeros(&format!("{x:.*}", (digits as i32 - 1 - exponent) as usize)).to_string()
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

fn special(x: f64) -> Option<String> {
    let name = if x.is_nan() {
        "nan"
    } else if x.is_infinite() {
        "inf"
    } else {
        return None;
    };
    Some(format!(
        "{}{name}",
        if x.is_sign_negative() { "-" } else { "" }
    ))
}
