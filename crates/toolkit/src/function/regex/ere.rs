//! The syntax of POSIX extended regular expressions, as the GNU C library reads it in the C locale.
//!
//! ```text
//! pattern = branch ('|' branch)*          branch = (atom repeat*)*
//! atom    = '(' pattern ')' | '[' ... ']' | '.' | '^' | '$' | '\' c | c
//! repeat  = '*' | '+' | '?' | '{' m? (',' n?)? '}'
//! ```
//! An unmatched `)` is an ordinary character, a repetition with nothing to repeat an error. GNU's
//! `\w \W \s \S \b \B \< \>` and `` \` \' `` are known; back-references are not, and patterns with
//! one are left to the engine of Perl's patterns.

use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

/// The sentence about a pattern with a back-reference, which no automaton can match.
pub(super) const BACK_REFERENCE: &str = "back-references are not supported";

/// Deeper nesting could overflow the stack in the automaton's builder.
const DEPTH_MAX: usize = 200;
/// The most that `{m,n}` may ask for, as in the C library.
const REPEAT_MAX: u32 = 0x7FFF;

/// The meaning of a pattern.
///
/// # Errors
/// A sentence without its full stop.
pub(super) fn parse(pattern: &[u8]) -> Result<Hir, String> {
    let mut parser = EreParser {
        rest: pattern,
        groups: 0,
        depth: 0,
    };
    parser.pattern()
}

struct EreParser<'a> {
    rest: &'a [u8],
    groups: u32,
    depth: usize,
}

impl EreParser<'_> {
    fn pattern(&mut self) -> Result<Hir, String> {
        let mut branches = vec![self.branch()?];
        while self.eat(b'|') {
            branches.push(self.branch()?);
        }
        Ok(Hir::alternation(branches))
    }

    fn branch(&mut self) -> Result<Hir, String> {
        let mut parts = Vec::new();
        while let Some((&first, rest)) = self.rest.split_first() {
            if first == b'|' || (first == b')' && self.depth > 0) {
                break;
            }
            self.rest = rest;
            let mut part = self.atom(first)?;
            while let Some((min, max)) = self.repeat()? {
                let sub = Box::new(part);
                part = Hir::repetition(Repetition {
                    min,
                    max,
                    greedy: true,
                    sub,
                });
            }
            parts.push(part);
        }
        Ok(Hir::concat(parts))
    }

    fn atom(&mut self, first: u8) -> Result<Hir, String> {
        Ok(match first {
            b'(' => return self.group(),
            b'[' => return self.bracket(),
            b'\\' => return self.escape(),
            b'*' | b'+' | b'?' | b'{' => {
                return Err(format!("\"{}\" has nothing to repeat", char::from(first)));
            }
            b'.' => byte_class([(0, 255)], false),
            b'^' => Hir::look(Look::Start),
            b'$' => Hir::look(Look::End),
            byte => Hir::literal([byte]),
        })
    }

    fn group(&mut self) -> Result<Hir, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("groups are nested deeper than {DEPTH_MAX}"));
        }
        self.groups += 1;
        let index = self.groups;
        let sub = Box::new(self.pattern()?);
        if !self.eat(b')') {
            return Err("a \"(\" is not closed".to_string());
        }
        self.depth -= 1;
        Ok(Hir::capture(Capture {
            index,
            name: None,
            sub,
        }))
    }

    fn escape(&mut self) -> Result<Hir, String> {
        let Some((&escaped, rest)) = self.rest.split_first() else {
            return Err("it ends in a backslash".to_string());
        };
        self.rest = rest;
        Ok(match escaped {
            b'1'..=b'9' => return Err(BACK_REFERENCE.to_string()),
            b'w' => byte_class(WORD, false),
            b'W' => byte_class(WORD, true),
            b's' => byte_class(SPACE, false),
            b'S' => byte_class(SPACE, true),
            b'b' => Hir::look(Look::WordAscii),
            b'B' => Hir::look(Look::WordAsciiNegate),
            b'<' => Hir::look(Look::WordStartAscii),
            b'>' => Hir::look(Look::WordEndAscii),
            b'`' => Hir::look(Look::Start),
            b'\'' => Hir::look(Look::End),
            byte => Hir::literal([byte]),
        })
    }

    /// A repetition's least and greatest count, if one follows.
    fn repeat(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        Ok(match self.rest.first() {
            Some(b'*') => self.single_char_repeat((0, None)),
            Some(b'+') => self.single_char_repeat((1, None)),
            Some(b'?') => self.single_char_repeat((0, Some(1))),
            Some(b'{') => Some(self.interval()?),
            _ => None,
        })
    }

    fn single_char_repeat(&mut self, counts: (u32, Option<u32>)) -> Option<(u32, Option<u32>)> {
        self.rest = &self.rest[1..];
        Some(counts)
    }

    fn interval(&mut self) -> Result<(u32, Option<u32>), String> {
        let end = self
            .rest
            .iter()
            .position(|&b| b == b'}')
            .ok_or("a \"{\" is not closed")?;
        let inside = str::from_utf8(&self.rest[1..end]).unwrap_or("?");
        self.rest = &self.rest[end + 1..];
        let count = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
            true => digits.parse().ok().filter(|&n| n <= REPEAT_MAX),
            false => None,
        };
        let counts = match inside.split_once(',') {
            None => count(inside).map(|n| (n, Some(n))),
            Some(("", "")) => Some((0, None)),
            Some((min, "")) => count(min).map(|min| (min, None)),
            Some(("", max)) => count(max).map(|max| (0, Some(max))),
            Some((min, max)) => count(min).zip(count(max).map(Some)),
        };
        match counts {
            Some((min, max)) if max.is_none_or(|max| min <= max) => Ok((min, max)),
            _ => Err(format!("\"{{{inside}}}\" is no number of repetitions")),
        }
    }

    fn bracket(&mut self) -> Result<Hir, String> {
        let negated = self.eat(b'^');
        let mut ranges = Vec::new();
        let mut first = true;
        while first || self.rest.first() != Some(&b']') {
            first = false;
            if let Some(name) = self.named(b':')? {
                ranges.extend_from_slice(named_class(&name)?);
                continue;
            }
            let low = self.bracket_end_point()?;
            // A minus before the closing bracket is itself.
            if let [b'-', next, ..] = self.rest
                && *next != b']'
            {
                self.rest = &self.rest[1..];
                let high = self.bracket_end_point()?;
                if high < low {
                    return Err(format!(
                        "the range \"{}-{}\" is empty",
                        char::from(low),
                        char::from(high)
                    ));
                }
                ranges.push((low, high));
            } else {
                ranges.push((low, low));
            }
        }
        self.rest = &self.rest[1..];
        Ok(byte_class(ranges, negated))
    }

    /// A character, `[.c.]` or `[=c=]`.
    fn bracket_end_point(&mut self) -> Result<u8, String> {
        for kind in [b'.', b'='] {
            match self.named(kind)?.as_deref() {
                None => {}
                Some([byte]) => return Ok(*byte),
                Some(name) => {
                    let name = String::from_utf8_lossy(name);
                    return Err(format!(
                        "\"{name}\" is no collating element of the C locale"
                    ));
                }
            }
        }
        let (&byte, rest) = self.rest.split_first().ok_or("a \"[\" is not closed")?;
        self.rest = rest;
        Ok(byte)
    }

    /// The name in `[:...:]`, `[....]` or `[=...=]`, if the pattern goes on with one.
    fn named(&mut self, kind: u8) -> Result<Option<Vec<u8>>, String> {
        let Some(inside) = self.rest.strip_prefix(&[b'[', kind]) else {
            return Ok(None);
        };
        let end = inside.windows(2).position(|w| w == [kind, b']']);
        let end = end.ok_or_else(|| format!("a \"[{}\" is not closed", char::from(kind)))?;
        self.rest = &inside[end + 2..];
        Ok(Some(inside[..end].to_vec()))
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
}

type ByteRanges = [(u8, u8)];

const WORD: [(u8, u8); 4] = [(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];
const SPACE: [(u8, u8); 2] = [(b'\t', b'\r'), (b' ', b' ')];

/// The named classes of the C locale.
const CLASSES: &[(&str, &ByteRanges)] = &[
    ("alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    ("digit", &[(b'0', b'9')]),
    ("alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    ("upper", &[(b'A', b'Z')]),
    ("lower", &[(b'a', b'z')]),
    ("space", &SPACE),
    ("blank", &[(b'\t', b'\t'), (b' ', b' ')]),
    (
        "punct",
        &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
    ),
    ("print", &[(b' ', b'~')]),
    ("graph", &[(b'!', b'~')]),
    ("cntrl", &[(0, 0x1F), (0x7F, 0x7F)]),
    ("xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

fn named_class(name: &[u8]) -> Result<&'static ByteRanges, String> {
    let found = CLASSES.iter().find(|(known, _)| known.as_bytes() == name);
    found.map(|(_, ranges)| *ranges).ok_or_else(|| {
        format!(
            "there is no character class \"{}\"",
            String::from_utf8_lossy(name)
        )
    })
}

fn byte_class(ranges: impl IntoIterator<Item = (u8, u8)>, negated: bool) -> Hir {
    let ranges = ranges
        .into_iter()
        .map(|(low, high)| ClassBytesRange::new(low, high));
    let mut class = ClassBytes::new(ranges);
    if negated {
        class.negate();
    }
    Hir::class(Class::Bytes(class))
}
