//! Source text of the casts that messages propose.

use tuple::Type;

/// An operand that is written with more bytes than this is not repeated in a help.
const OPERAND_BYTES_MAX: usize = 40;

/// An operand as a help repeats it.
pub(super) fn shortened(source: &str) -> &str {
    match source.len() > OPERAND_BYTES_MAX || source.contains('\n') {
        true => "...",
        false => source,
    }
}

/// The text of an expression as an operand: in parentheses if it has operators itself.
pub(super) fn as_operand(source: &str) -> String {
    let operand = shortened(source);
    match is_operand(source) {
        true => operand.to_owned(),
        false => format!("({operand})"),
    }
}

/// A cast of what is written so: `(int64) n`, `(int64) (a + b)`.
pub(super) fn cast_text(to: &Type, source: &str) -> String {
    let operand = shortened(source);
    match is_operand(source) {
        true if operand != source || source.is_empty() => format!("({to})"),
        true => format!("({to}) {operand}"),
        false => format!("({to}) ({operand})"),
    }
}

/// Whether a cast before an expression holds for all of it: it is a name, a literal, a call, or
/// stands in brackets, so that blanks and operators are within brackets only.
fn is_operand(source: &str) -> bool {
    let mut depth = 0;
    let mut quote = None;
    let mut is_escaped = false;
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || "_.$!".contains(c) => {}
            // Single ones are those of `a ? b : c` and of `a ?: b`.
            (None, ':' | '?') if rest.next_if_eq(&c).is_some() => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use tuple::Type;

    use super::cast_text;

    #[test]
    fn casts_hold_for_the_whole_operand() {
        let cast = |source: &str| cast_text(&Type::Int64, source);
        assert_eq!(cast("n"), "(int64) n");
        assert_eq!(
            cast("my.ns::f(a + b, \"x y\")[2].c"),
            "(int64) my.ns::f(a + b, \"x y\")[2].c"
        );
        assert_eq!(cast("(a + b)"), "(int64) (a + b)");
        assert_eq!(cast("a + b"), "(int64) (a + b)");
        assert_eq!(cast("\"a b\\\" c\""), "(int64) \"a b\\\" c\"");
        assert_eq!(cast("o??"), "(int64) o??");
        assert_eq!(cast("o?:n"), "(int64) (o?:n)");
        assert_eq!(cast("f?n:m"), "(int64) (f?n:m)");
        assert_eq!(cast("(int32) n"), "(int64) ((int32) n)");
        assert_eq!(cast(&"n".repeat(50)), "(int64)");
        assert_eq!(cast(&"n + ".repeat(20)), "(int64) (...)");
    }
}
