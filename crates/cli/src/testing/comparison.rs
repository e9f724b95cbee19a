//! Two texts, compared line by line.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Most lines of a difference that are shown.
const SHOWN_LINES_MAX: usize = 10;

/// The difference of a text to what was expected; `None` if there is none. Lines begin with `-` if
/// they are missing, with `+` if they were not expected.
pub fn difference(expected: &str, found: &str, any_order: bool) -> Option<String> {
    match any_order {
        true => difference_of_sets(expected, found),
        false => difference_of_sequences(expected, found),
    }
}

fn difference_of_sequences(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (wanted, got): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let same = wanted.iter().zip(&got).take_while(|(a, b)| a == b).count();
    if same == wanted.len() && same == got.len() {
        return Some("only the end of the last line differs\n".to_owned());
    }
    let mut text = format!("from line {} on:\n", same + 1);
    write_lines(&mut text, '-', wanted[same..].iter().copied());
    write_lines(&mut text, '+', got[same..].iter().copied());
    Some(text)
}

fn difference_of_sets(expected: &str, found: &str) -> Option<String> {
    let mut surplus: BTreeMap<&str, isize> = BTreeMap::new();
    expected
        .lines()
        .for_each(|line| *surplus.entry(line).or_default() -= 1);
    found
        .lines()
        .for_each(|line| *surplus.entry(line).or_default() += 1);
    let of_sign = |sign: isize| {
        let lines = surplus.iter().filter(move |(_, count)| **count * sign > 0);
        lines.flat_map(|(line, count)| std::iter::repeat_n(*line, count.unsigned_abs()))
    };
    let mut text = String::new();
    write_lines(&mut text, '-', of_sign(-1));
    write_lines(&mut text, '+', of_sign(1));
    (!text.is_empty()).then_some(text)
}

fn write_lines<'l>(text: &mut String, sign: char, lines: impl Iterator<Item = &'l str>) {
    let mut more = 0;
    for (at, line) in lines.enumerate() {
        if at < SHOWN_LINES_MAX {
            let _ = writeln!(text, "{sign} {line}");
        } else {
            more += 1;
        }
    }
    if more > 0 {
        let _ = writeln!(text, "{sign} ({more} more)");
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn sequences_differ_from_a_line_on() {
        assert_eq!(difference("a\nb\n", "a\nb\n", false), None);
        let told = difference("a\nb\nc\n", "a\nx\n", false);
        assert_eq!(told.as_deref(), Some("from line 2 on:\n- b\n- c\n+ x\n"));
        let told = difference("a\n", "a", false);
        assert_eq!(
            told.as_deref(),
            Some("only the end of the last line differs\n")
        );
    }

    #[test]
    fn sets_differ_by_lines_and_their_number() {
        assert_eq!(difference("a\nb\na\n", "b\na\na", true), None);
        let told = difference("a\nb\nb\n", "a\nc\nb\n", true);
        assert_eq!(told.as_deref(), Some("- b\n+ c\n"));
    }

    #[test]
    fn long_differences_are_cut() {
        let lines: String = (0..20).map(|n| format!("{n}\n")).collect();
        let told = difference(&lines, "", false).expect("they differ");
        assert!(told.ends_with("- 9\n- (10 more)\n"), "{told}");
    }
}
