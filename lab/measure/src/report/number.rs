//! Numbers as short as a reader needs them: three digits that count.

/// Three significant digits, thousands apart: `0.0312`, `1.23`, `45.6`, `789`, `12,300`.
pub fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 => 0,
        _ if size >= 99.95 => 0,
        _ => (2 - size.log10().floor() as i32).clamp(0, 9) as usize,
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => thousands(&round(value)),
    }
}

/// A count with the letter of its thousands: `950`, `12.3 k`, `4.56 M`, `1.2 G`.
pub fn count(value: f64) -> String {
    let scales = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let scale = scales
        .iter()
        .find(|(scale, _)| value.abs() >= scale * 0.9995);
    match scale {
        Some((scale, letter)) => format!("{} {letter}", three_digits(value / scale)),
        None => three_digits(value),
    }
}

/// Nanoseconds in the unit that keeps them short: `950 ns`, `12.3 µs`, `4.5 ms`, `1.2 s`.
pub fn nanoseconds(value: f64) -> String {
    let scales = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    let scale = scales
        .iter()
        .find(|(scale, _)| value.abs() >= scale * 0.9995);
    let (scale, unit) = scale.unwrap_or(&(1.0, "ns"));
    format!("{} {unit}", three_digits(value / scale))
}

/// A share as percent: `3 %`, `0.4 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent.abs() < 9.95);
    let text = format!("{percent:.decimals$}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Three digits that count, the rest zeros.
fn round(value: f64) -> String {
    let digits = value.abs().max(1.0).log10().floor() as i32;
    let step = 10f64.powi((digits - 2).max(0));
    format!("{:.0}", (value / step).round() * step)
}

fn thousands(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let mut text = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{count, nanoseconds, percent, three_digits};

    #[test]
    fn three_digits_count() {
        let cases = [
            (0.0, "0"),
            (0.03124, "0.0312"),
            (0.5, "0.5"),
            (1.2345, "1.23"),
            (9.999, "10"),
            (45.67, "45.7"),
            (99.96, "100"),
            (789.4, "789"),
            (12_345.0, "12,300"),
            (1_234_567.0, "1,230,000"),
            (-4.0, "-4"),
            (f64::NAN, "?"),
        ];
        for (value, text) in cases {
            assert_eq!(three_digits(value), text);
        }
    }

    #[test]
    fn counts_and_times_have_their_letters() {
        assert_eq!(count(950.0), "950");
        assert_eq!(count(12_345.0), "12.3 k");
        assert_eq!(count(999_900.0), "1 M");
        assert_eq!(count(4.56e6), "4.56 M");
        assert_eq!(nanoseconds(0.0), "0 ns");
        assert_eq!(nanoseconds(950.0), "950 ns");
        assert_eq!(nanoseconds(12_340.0), "12.3 µs");
        assert_eq!(nanoseconds(4.5e6), "4.5 ms");
        assert_eq!(percent(0.0341), "3.4 %");
        assert_eq!(percent(0.5), "50 %");
    }
}
