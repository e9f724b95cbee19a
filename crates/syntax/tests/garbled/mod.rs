//! Texts of any size that are wrong in one way throughout: brackets of every kind that are never
//! closed or closed wrongly, chains, lists without commas, strings and comments without end, words
//! out of place. Each has made the parser or the formatter search the same tokens again and again.

/// Texts by name, made of a count.
pub type Garbled = (&'static str, fn(usize) -> String);

/// All kinds of garbled texts.
pub const GARBLED: &[Garbled] = &[
    ("subscripts", |n| body(&nested("a[", "1", "]", n))),
    ("subscripts without end", |n| body(&"a[".repeat(n))),
    ("subscripts of subscripts", |n| {
        body(&format!("a{}", "[0]".repeat(n)))
    }),
    ("calls of calls", |n| {
        body(&format!("a{}", ".b(1)".repeat(n)))
    }),
    ("signs", |n| body(&format!("{}a", "- ".repeat(n)))),
    ("signs that there are not", |n| {
        body(&format!("{}a", "+ ".repeat(n)))
    }),
    ("operators of other languages", |n| {
        body(&format!("a{}", " and a".repeat(n)))
    }),
    ("a sum", |n| body(&format!("a{}", " + a".repeat(n)))),
    ("conditionals", |n| {
        body(&format!("{}c", "a ? b : ".repeat(n)))
    }),
    ("casts", |n| body(&format!("{}1", "(a)(b)".repeat(n)))),
    ("lists that may be casts", |n| {
        body(&nested("(a)[", "1", "]", n))
    }),
    ("brackets without end", |n| body(&"([{".repeat(n))),
    ("brackets closed wrongly", |n| {
        body(&format!("{}{}", "([{".repeat(n), ")]}".repeat(n)))
    }),
    ("calls without end, a line each", |n| lines("x = f(1 2", n)),
    ("lists without end, a line each", |n| lines("x = [1 2", n)),
    ("types", |n| {
        statement(&format!("{} x;", nested("list<", "int32", ">", n)))
    }),
    ("types without end", |n| statement(&"list<".repeat(n))),
    ("types without end, a line each", |n| "list<\n".repeat(n)),
    ("tuple types without end", |n| {
        statement(&"tuple<int32 a ".repeat(n))
    }),
    ("tuple types without anything", |n| {
        statement(&format!("tuple<{}", "tuple,".repeat(n)))
    }),
    ("bounds without end", |n| statement(&"rstring[".repeat(n))),
    ("names of many parts behind a brace", |n| {
        format!("}} a{}", ".b".repeat(n))
    }),
    ("names of many parts behind a bracket", |n| {
        body(&format!(") a{}", ".b".repeat(n)))
    }),
    ("names of many lines", |n| {
        format!("}}\na{}", ".\nb".repeat(n))
    }),
    ("annotations of nothing", |n| "@a(b=1) ".repeat(n)),
    ("annotations behind nothing", |n| {
        format!("}} {}", "x @a ".repeat(n))
    }),
    ("composites without a name", |n| {
        format!("composite A {{ graph {}", "composite ".repeat(n))
    }),
    ("composites without end", |n| {
        "composite A {\n graph\n".repeat(n)
    }),
    ("modifiers", |n| "public ".repeat(n)),
    ("words out of place", |n| {
        "param graph logic window output config type\n".repeat(n)
    }),
    ("blocks without end", |n| statement(&"{\n".repeat(n))),
    ("blocks of one line closed on others", |n| {
        statement(&format!("{}{}", "{".repeat(n), "\n}".repeat(n)))
    }),
    ("braces that close no block", |n| {
        format!("f() {{\n{}", "(a },\n".repeat(n))
    }),
    ("closing brackets", |n| ")]}".repeat(n)),
    ("quotes behind backslashes", |n| "\\\"\n".repeat(n)),
    ("quotes behind backslashes, then a string", |n| {
        format!("{}\"x", "\\\"\n".repeat(n))
    }),
    ("letters that names do not have, on one line", |n| {
        "\u{e9} ".repeat(n)
    }),
    ("operands without operators on one line", |n| {
        statement(&"x = (1 2); ".repeat(n))
    }),
    ("strings without end", |n| "x = \"a;\n".repeat(n)),
    ("comments without end", |n| "/* a\n".repeat(n)),
    ("comments of other languages", |n| "# x }\n".repeat(n)),
    ("braces within such comments", |n| {
        invocations("B = C() { # }", n)
    }),
    ("statements behind handlers", |n| {
        format!(
            "composite M {{ graph () as O = Custom(In) {{ logic\n{}",
            handlers(n)
        )
    }),
    ("`else if`s", |n| {
        statement(&format!("if (a) {{ }}{}", " else if (a) { }".repeat(n)))
    }),
    ("`elif`s", |n| {
        statement(&format!("if (a) {{ }}{}", " elif (a) { }".repeat(n)))
    }),
    ("`else`s", |n| statement(&"else ".repeat(n))),
    ("loops of other languages", |n| {
        statement(&"for (mutable ".repeat(n))
    }),
    ("parameters without colons", |n| clause("param", "a b", n)),
    ("assignments without commas", |n| {
        clause("output O :", "a = 1 b = 2", n)
    }),
    ("enumerators without commas", |n| {
        format!("type T = enum {{{}}};", "a b,".repeat(n))
    }),
    ("heads without end", |n| {
        format!("composite M {{ graph {}", "(stream<int32 a> B; ".repeat(n))
    }),
    ("functions without end", |n| "int32 f(int32 a\n".repeat(n)),
    ("a long line, then a long comment", |n| {
        statement(&format!(
            "x = \"{}\"; /*\n{} */",
            "a".repeat(n),
            " * b\n".repeat(n)
        ))
    }),
    ("comments between tokens", |n| {
        body(&format!("a {} + b", "/* c */\n// d\n".repeat(n)))
    }),
];

fn nested(open: &str, inner: &str, close: &str, count: usize) -> String {
    format!("{}{inner}{}", open.repeat(count), close.repeat(count))
}

fn statement(text: &str) -> String {
    format!("void f() {{\n    {text}\n}}\n")
}

fn body(value: &str) -> String {
    statement(&format!("x = {value};"))
}

fn lines(line: &str, count: usize) -> String {
    statement(&format!("{line}\n").repeat(count))
}

fn invocations(text: &str, count: usize) -> String {
    let all = format!("stream<int32 a> {text}\n").repeat(count);
    format!("composite M {{ graph\n{all}")
}

fn handlers(count: usize) -> String {
    format!("{}}} }}", "onTuple In : { } a = 1; }\n".repeat(count))
}

fn clause(word: &str, entry: &str, count: usize) -> String {
    let entries = format!("{entry}\n").repeat(count);
    format!("composite M {{ graph () as O = Custom() {{ {word} {entries} }} }}")
}
