//! The tuple type of a generated graph: columns of every type, and values for them.

use crate::random::Random;

/// A type, and a value of it made from the number `N`.
type Kind = (&'static str, &'static str);

/// Every type that a column can have. Strings are short, or longer than any buffer within a tuple.
const KINDS: &[Kind] = &[
    ("boolean", "(N % 3l == 0l)"),
    ("int8", "(int8) (N % 100l)"),
    ("int16", "(int16) (N % 1000l)"),
    ("int32", "(int32) N"),
    ("int64", "N"),
    ("uint8", "(uint8) (N % 100l)"),
    ("uint16", "(uint16) (N % 1000l)"),
    ("uint32", "(uint32) N"),
    ("uint64", "(uint64) N"),
    ("float32", "(float32) N"),
    ("float64", "(float64) N / 3.0"),
    ("decimal32", "(decimal32) (N % 1000l)"),
    ("decimal64", "(decimal64) N"),
    ("decimal128", "(decimal128) N"),
    ("complex32", "(complex32) [(float32) N, 2.5w]"),
    ("complex64", "(complex64) [(float64) N, 2.5]"),
    ("timestamp", "createTimestamp(N, 7u)"),
    ("rstring", "(\"s\" + (rstring) N)"),
    (
        "rstring",
        "(\"a text that is too long for whatever holds short ones, \" + (rstring) N)",
    ),
    (
        "rstring",
        "(N % 2l == 0l ? \"\" : \"odd and not short at all, but odd: \" + (rstring) N)",
    ),
    ("ustring", "(ustring) (\"u\" + (rstring) N)"),
    ("rstring[40]", "(rstring[40]) (\"b\" + (rstring) N)"),
    ("blob", "convertToBlob(\"blob \" + (rstring) N)"),
    ("enum { red, green, blue }", "(N % 2l == 0l ? red : blue)"),
    ("xml", "\"<a><b/></a>\"x"),
    ("list<int64>", "[N, N + 1l]"),
    (
        "list<rstring>",
        "[\"x\" + (rstring) N, \"a second text, longer than the first\"]",
    ),
    ("list<int32>[4]", "(list<int32>[4]) [(int32) N, 2]"),
    ("set<int64>", "{ N }"),
    ("map<rstring, int64>", "{ \"key \" + (rstring) N : N }"),
    (
        "map<int64, list<rstring>>",
        "{ N : [\"in a list, in a map \" + (rstring) N] }",
    ),
    (
        "tuple<int64 a, rstring b>",
        "{ a = N, b = \"part \" + (rstring) N }",
    ),
    (
        "list<tuple<int64 a, rstring b>>",
        "[{ a = N, b = \"element \" + (rstring) N }]",
    ),
    (
        "optional<int64>",
        "(N % 2l == 0l ? (optional<int64>) N : (optional<int64>) null)",
    ),
    (
        "optional<rstring>",
        "(optional<rstring>) (\"perhaps \" + (rstring) N)",
    ),
];

/// The columns behind `int64 n`: `c0`, `c1`, ...
pub struct Columns(Vec<Kind>);

impl Columns {
    /// Some columns. There is one enum at most: its enumerators are names.
    pub fn new(random: &mut Random) -> Columns {
        let mut kinds: Vec<Kind> = Vec::new();
        for _ in 0..random.below(8) {
            let kind = *random.pick(KINDS);
            let is_second_enum = kind.0.starts_with("enum") && kinds.contains(&kind);
            if !is_second_enum {
                kinds.push(kind);
            }
        }
        Columns(kinds)
    }

    /// The attributes as a type definition has them.
    pub fn definition(&self) -> String {
        let columns = self.0.iter().enumerate();
        let columns = columns.map(|(at, (ty, _))| format!(", {ty} c{at}"));
        format!("int64 n{}", columns.collect::<String>())
    }

    /// How many there are behind `n`.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A value of a column, made from a number.
    pub fn value(&self, at: usize, n: &str) -> String {
        self.0[at].1.replace('N', n)
    }

    /// Assignments `n = ..., c0 = ...` of values that come from the number.
    pub fn made_from(&self, n: &str) -> String {
        self.assignments(n, |at| self.value(at, n))
    }

    /// Assignments of what `column` says, and of a number.
    pub fn assignments(&self, n: &str, mut column: impl FnMut(usize) -> String) -> String {
        let columns = (0..self.len()).map(|at| format!(", c{at} = {}", column(at)));
        format!("n = {n}{}", columns.collect::<String>())
    }
}
