//! Values of constant expressions: typing, overloads and folding together.

use graph::{ExprKind, ParamValue};
use tuple::Value;

use super::{compiler, input};

/// Integer expressions of the program below, and their values.
const VALUES: &[(&str, i32)] = &[
    ("1 + 2 * 3 - 8 / 3 % 2", 7),
    ("(1 < 2) == true & false | true ? 1 : 0", 1),
    ("true & 3 == 3 ? 1 : 2", 1),
    ("-2 - -3", 1),
    ("~5 & 0x0000000F", 10),
    ("(int32) 3.99 + (int32) \" 4 \" + (int32) 5l", 12),
    ("0xFFu == 255ub ? 1 : 2", 1),
    ("(int32) 0xFF + 2", 1),
    (
        "length(\"abc\" + \"de\") + size([1, 2]) + size({\"a\" : 1})",
        8,
    ),
    ("[1, 2, 3][1] + {\"k\" : 7}[\"k\"] + {a = 5}.a", 14),
    (
        "size([1, 2, 3, 4][1:3]) + size([1, 2, 3][:2]) + size([1, 2, 3][2:])",
        5,
    ),
    ("sum([1, 2, 3] + 10)", 36),
    ("sum([1, 2] .* [3, 4])", 11),
    ("2 in [1, 2] && !(3 in {1, 2}) && 1 in {1 : 2} ? 1 : 0", 1),
    ("maybe(5) ?: 1", 5),
    ("maybe(null) ?: 1", 1),
    ("maybe(4)! + (maybe(null)?? ? 100 : 0)", 4),
    ("fib(15)", 610),
    ("count(10)", 45),
    ("classify(7) + classify(-7) * 10 + classify(0) * 100", 231),
    ("kind(green) * 10 + kind(red)", 10),
    ("swapped(1, 2)", 21),
    ("merged()", 124),
    ("keys()", 9),
    ("converted()", 46),
    ("pick(1) + pick(1.0) + pick(\"a\") + pick([1])", 1234),
    ("steps()", 4133),
    ("wraps()", 8),
    ("max(3, 7) + max([1, 9, 4]) + min(2, 1)", 17),
    ("bounded()", 2),
];

const FUNCTIONS: &str = "
type Color = enum { red, green };
type Pair = tuple<int32 a, int32 b>;
optional<int32> maybe(optional<int32> o) { return o; }
int32 fib(int32 n) { if (n < 2) return n; else return fib(n - 1) + fib(n - 2); }
int32 count(int32 n) {
  mutable int32 sum = 0;
  for (int32 i in range(n)) sum += i;
  return sum;
}
int32 classify(int32 x) {
  if (x > 0) { return 1; } else if (x < 0) { return 3; } else { return 2; }
}
int32 kind(Color c) { return c == red ? 0 : (int32) c; }
void exchange(mutable int32 a, mutable int32 b) { int32 c = a; a = b; b = c; }
int32 swapped(int32 x, int32 y) {
  mutable Pair p = {a = x, b = y};
  exchange(p.a, p.b);
  return p.a * 10 + p.b;
}
int32 merged() {
  mutable tuple<int32 a, int32 b, rstring c> t = {a = 1, b = 2, c = \"x\"};
  assignFrom(t, {b = 23, z = true, c = \"y\"});
  return t.a + t.b + (t.c == \"y\" ? 100 : 0);
}
int32 keys() {
  mutable map<rstring, list<int32>> m = {};
  m[\"a\"] = [1, 2];
  m[\"b\"] = [];
  appendM(m[\"b\"], 4);
  m[\"a\"][0] += 2;
  mutable int32 sum = 0;
  for (rstring k in m) { for (int32 v in m[k]) sum += v; }
  return sum;
}
int32 converted() {
  int32 whole = 3.7;
  list<float64> floats = [1, 2];
  optional<int64> wide = 40;
  tuple<int64 a> t = {a = 1};
  return whole + (int32) sum(floats) + (int32) (wide ?: 0l) + (int32) t.a - size((blob) []) - 1;
}
int32 pick(int32 x) { return 1000; }
int32 pick(float64 x) { return 200; }
int32 pick(rstring x) { return 30; }
int32 pick(list<int32> x) { return 4; }
int32 steps() {
  mutable int32 i = 5;
  mutable int32 sum = 0;
  while (true) {
    if (i > 100) break;
    if (i % 2 == 0) { i++; continue; }
    sum += i++;
    ++i;
    if (sum > 2000) { return sum * 2 + i; }
  }
  return 0;
}
int32 wraps() {
  mutable uint8 small = 255ub;
  small++;
  return (int32) small + (1 << 3);
}
int32 bounded() {
  mutable list<int32>[2] l = [];
  appendM(l, 1);
  appendM(l, 2);
  appendM(l, 3);
  return size(l);
}
";

#[test]
fn constant_expressions_have_their_values() {
    let mut program = String::from(FUNCTIONS);
    program.push_str("composite Main {\n  graph\n");
    for (at, (expression, _)) in VALUES.iter().enumerate() {
        program.push_str(&format!(
            "    stream<int32 x> S{at} = Beacon() {{ param iterations : {expression}; }}\n"
        ));
    }
    program.push_str("}\n");
    let mut input = input("values.spl", &program);
    input.natives = toolkit::functions();
    let output = compiler::compile(input);
    let shown = syntax::render(&output.diagnostics, &output.sources, false);
    let program = output.program.unwrap_or_else(|| panic!("{shown}"));
    for ((expression, expected), operator) in VALUES.iter().zip(&program.operators) {
        let param = operator.param("iterations").expect("it was given");
        let ParamValue::Exprs(values) = &param.value else {
            panic!("it is an expression")
        };
        let found = match &values[0].kind {
            ExprKind::Const(value) => value.clone(),
            _ => eval::interp::fold(&values[0], toolkit::functions(), &program.functions)
                .unwrap_or_else(|fault| panic!("{expression}: {fault}")),
        };
        assert!(
            matches!(found, Value::Int32(v) if v == *expected),
            "{expression} is {found:?}"
        );
    }
    let names: Vec<_> = program.functions.iter().map(|f| &*f.name).collect();
    assert_eq!(
        names.iter().filter(|name| **name == "pick").count(),
        4,
        "{names:?}"
    );
}
