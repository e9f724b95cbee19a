//! Attributes of every kind of type, with ways to fill and to change them.

use crate::random::Random;

/// An attribute: its name, its type, its value as a function of a number `V`, and a statement that
/// changes it in place in a variable `K`.
pub struct Attribute {
    pub name: &'static str,
    pub ty: &'static str,
    value: &'static str,
    change: &'static str,
}

impl Attribute {
    /// The value for a number, which an expression gives.
    pub fn of(&self, number: &str) -> String {
        self.value.replace('V', number)
    }

    /// A statement that changes it in a tuple variable.
    pub fn change(&self, variable: &str) -> String {
        self.change.replace('K', variable)
    }
}

const fn attribute(
    name: &'static str,
    ty: &'static str,
    value: &'static str,
    change: &'static str,
) -> Attribute {
    Attribute {
        name,
        ty,
        value,
        change,
    }
}

/// What tuples may have besides `int64 n`.
const ATTRIBUTES: &[Attribute] = &[
    attribute("f", "boolean", "V % 3l == 0l", "K.f = !K.f;"),
    attribute("a", "int8", "(int8) V", "K.a++;"),
    attribute("w", "uint16", "(uint16) V", "K.w = K.w * 3uh;"),
    attribute("d", "decimal64", "(decimal64) V", "K.d = -K.d;"),
    attribute("x", "float64", "(float64) V", "K.x += 0.5;"),
    attribute(
        "t",
        "timestamp",
        "createTimestamp(V, 5u)",
        "K.t = createTimestamp(1l, 2u);",
    ),
    attribute("s", "rstring", "\"s\" + (rstring) V", "K.s += \"+\";"),
    attribute(
        "z",
        "rstring",
        "V % 4l == 0l ? \"a text that is longer than short ones are, \" + (rstring) V : \"\"",
        "K.z = K.z + K.z[0:3];",
    ),
    attribute(
        "b",
        "rstring[5]",
        "(rstring[5]) (\"b\" + (rstring) V)",
        "K.b = (rstring[5]) \"c\";",
    ),
    attribute(
        "u",
        "ustring",
        "(ustring) (\"ü\" + (rstring) V)",
        "K.u += \"é\"u;",
    ),
    attribute(
        "o",
        "blob",
        "convertToBlob(\"blob \" + (rstring) V)",
        "K.o = convertToBlob(\"\");",
    ),
    attribute(
        "li",
        "list<int32>",
        "[(int32) V, 2, 3]",
        "appendM(K.li, 4);",
    ),
    attribute(
        "ls",
        "list<rstring>",
        "[\"x\", (rstring) V]",
        "if (size(K.ls) > 0) { K.ls[0] = \"a longer element\"; }",
    ),
    attribute(
        "ll",
        "list<list<int32>>",
        "[[(int32) V], [1, 2]]",
        "if (size(K.ll) > 0) { appendM(K.ll[0], 5); }",
    ),
    attribute(
        "lt",
        "list<tuple<int32 p, rstring q>>",
        "[{p = (int32) V, q = \"in \" + (rstring) V}]",
        "if (size(K.lt) > 0) { K.lt[0].q += \"!\"; }",
    ),
    attribute(
        "lb",
        "list<int32>[3]",
        "(list<int32>[3]) [(int32) V, 9]",
        "if (size(K.lb) > 1) { K.lb[1] = 8; }",
    ),
    attribute("si", "set<int32>", "{(int32) V, 77}", "insertM(K.si, 78);"),
    attribute(
        "ss",
        "set<rstring>",
        "{\"e\", (rstring) V}",
        "removeM(K.ss, \"e\");",
    ),
    attribute("mi", "map<int32, int32>", "{1 : (int32) V}", "K.mi[2] = 3;"),
    attribute(
        "ms",
        "map<rstring, list<rstring>>",
        "{\"k\" : [(rstring) V, \"m\"], \"l\" : (list<rstring>) []}",
        "removeM(K.ms, \"k\");",
    ),
    attribute(
        "tu",
        "tuple<int32 p, rstring q>",
        "{p = (int32) V, q = (rstring) V}",
        "K.tu.q += \"t\";",
    ),
    attribute(
        "tn",
        "tuple<tuple<rstring p, list<int32> q> r, int64 v>",
        "{r = {p = (rstring) V, q = [(int32) V]}, v = V}",
        "appendM(K.tn.r.q, 6);",
    ),
    attribute(
        "op",
        "optional<rstring>",
        "(optional<rstring>) (\"o\" + (rstring) V)",
        "K.op = (optional<rstring>) \"another one\";",
    ),
];

/// Up to eight attributes, each once.
pub fn some(random: &mut Random) -> Vec<&'static Attribute> {
    let count = 1 + random.below(8);
    let mut chosen: Vec<&Attribute> = Vec::new();
    for _ in 0..count {
        let attribute = random.pick(ATTRIBUTES);
        if chosen.iter().all(|other| other.name != attribute.name) {
            chosen.push(attribute);
        }
    }
    chosen
}
