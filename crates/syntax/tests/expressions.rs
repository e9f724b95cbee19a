//! Precedence, associativity and the forms of expressions, shown with all brackets written out.

use syntax::ast::{Expr, ExprKind, Number, StringKind, TypeExpr, TypeKind};
use syntax::parse_expr;
use thalweg_syntax as syntax;

fn show(text: &str) -> String {
    match parse_expr(text) {
        Ok(expr) => expr_text(&expr),
        Err(found) => panic!("{text}: {found:?}"),
    }
}

fn expr_text(expr: &Expr) -> String {
    let list = |exprs: &[Expr]| exprs.iter().map(expr_text).collect::<Vec<_>>().join(" ");
    let bound = |e: &Option<Box<Expr>>| e.as_deref().map_or("_".to_owned(), expr_text);
    match &expr.kind {
        ExprKind::Number(number) => number_text(number),
        ExprKind::String(text, kind) => format!("{text:?}{}", suffix(*kind)),
        ExprKind::StringUnits(units, kind) => format!("{units:?}{}", suffix(*kind)),
        ExprKind::Boolean(value) => value.to_string(),
        ExprKind::Null => "null".to_owned(),
        ExprKind::Name(name) => match &name.namespace {
            Some(namespace) => format!("{}::{}", namespace.text, name.name.text),
            None => name.name.text.to_string(),
        },
        ExprKind::List(all) => format!("[{}]", list(all)),
        ExprKind::Set(all) => format!("{{{}}}", list(all)),
        ExprKind::Map(all) => {
            let pair = |(k, v): &(Expr, Expr)| format!("{}:{}", expr_text(k), expr_text(v));
            format!("{{{}}}", all.iter().map(pair).collect::<Vec<_>>().join(" "))
        }
        ExprKind::Tuple(all) => {
            let pair = |(k, v): &(syntax::ast::Ident, Expr)| format!("{}={}", k.text, expr_text(v));
            format!("{{{}}}", all.iter().map(pair).collect::<Vec<_>>().join(" "))
        }
        ExprKind::Call(callee, args) => format!("(call {} {})", expr_text(callee), list(args)),
        ExprKind::Field(of, name) => format!("(. {} {})", expr_text(of), name.text),
        ExprKind::Index(of, at) => format!("(index {} {})", expr_text(of), expr_text(at)),
        ExprKind::Slice(of, from, to) => {
            format!("(slice {} {} {})", expr_text(of), bound(from), bound(to))
        }
        ExprKind::Prefix(op, of) => format!("({op:?} {})", expr_text(of)),
        ExprKind::Postfix(op, of) => format!("(post{op:?} {})", expr_text(of)),
        ExprKind::Binary(op, _, a, b) => format!("({op:?} {} {})", expr_text(a), expr_text(b)),
        ExprKind::Assign(None, _, a, b) => format!("(Assign {} {})", expr_text(a), expr_text(b)),
        ExprKind::Assign(Some(op), _, a, b) => {
            format!("(Assign{op:?} {} {})", expr_text(a), expr_text(b))
        }
        ExprKind::Conditional(c, a, b) => {
            format!("(if {} {} {})", expr_text(c), expr_text(a), expr_text(b))
        }
        ExprKind::Cast(ty, of) => format!("(cast {} {})", type_text(ty), expr_text(of)),
        ExprKind::Paren(inner) => format!("({})", expr_text(inner)),
        ExprKind::Error => "ERROR".to_owned(),
    }
}

fn number_text(number: &Number) -> String {
    let hex = if number.is_hex { "0x" } else { "" };
    let float = if number.is_float { "~" } else { "" };
    let letters: String = number.kind.into_iter().chain(number.width).collect();
    format!("{hex}{}{float}{letters}", number.digits)
}

fn suffix(kind: StringKind) -> &'static str {
    match kind {
        StringKind::Plain => "",
        StringKind::RString => "r",
        StringKind::UString => "u",
        StringKind::Xml => "x",
    }
}

fn type_text(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Primitive(name) => (*name).to_owned(),
        TypeKind::Named(name, None) => name.name.text.to_string(),
        TypeKind::Named(name, Some(of)) => format!("{}.{}", name.name.text, of.text),
        TypeKind::List(of, _) => format!("list<{}>", type_text(of)),
        other => panic!("no test uses {other:?}"),
    }
}

#[test]
fn levels_bind_as_the_table_says() {
    for (text, expected) in [
        ("a + b * c", "(Add a (Mul b c))"),
        ("a * b + c", "(Add (Mul a b) c)"),
        ("a - b - c", "(Sub (Sub a b) c)"),
        ("a << 1 + b", "(Shl a (Add 1 b))"),
        ("a & b == c", "(BitAnd a (Eq b c))"),
        ("a < b == c", "(Eq (Lt a b) c)"),
        ("a | b ^ c & d", "(BitOr a (BitXor b (BitAnd c d)))"),
        ("a in b | c", "(In a (BitOr b c))"),
        ("a && b in c", "(And a (In b c))"),
        ("a || b && c", "(Or a (And b c))"),
        ("a ? b : c ? d : e", "(if a b (if c d e))"),
        ("a || b ? c : d", "(if (Or a b) c d)"),
        ("a * b ?: c", "(Mul a (OrElse b c))"),
        ("a ?: -b", "(OrElse a (Negate b))"),
        ("-a.b", "(Negate (. a b))"),
        ("!a[1]", "(Not (index a 1))"),
        ("-a++", "(Negate (postIncrement a))"),
        ("a = b + c", "(Assign a (Add b c))"),
        ("a >>= b", "(AssignShr a b)"),
        ("a .+ b .* c", "(DotAdd a (DotMul b c))"),
        ("a .== b .>> 1", "(DotEq a (DotShr b 1))"),
    ] {
        assert_eq!(show(text), expected, "{text}");
    }
}

#[test]
fn signs_of_several_characters_are_joined_only_when_they_touch() {
    assert_eq!(show("a >> b"), "(Shr a b)");
    assert_eq!(show("a >= b"), "(Ge a b)");
    assert_eq!(show("a > b"), "(Gt a b)");
    assert!(parse_expr("a > > b").is_err());
    assert!(parse_expr("a > = b").is_err());
    assert_eq!(show("(list<list<int32>>) a"), "(cast list<list<int32>> a)");
}

#[test]
fn a_cast_is_told_from_a_parenthesis_by_what_follows() {
    for (text, expected) in [
        ("(int32) a + b", "(Add (cast int32 a) b)"),
        ("(int32) -a", "(cast int32 (Negate a))"),
        ("(rstring) [1]", "(cast rstring [1])"),
        ("(rstring) a.b", "(cast rstring (. a b))"),
        ("(T) a", "(cast T a)"),
        ("(C.T) \"x\"", "(cast C.T \"x\")"),
        ("(T) (a)", "(cast T (a))"),
        ("(T) {a = 1}", "(cast T {a=1})"),
        ("(T) [1, 2]", "(cast T [1 2])"),
        ("(T) []", "(cast T [])"),
        ("(T) !a", "(cast T (Not a))"),
        ("(T) ~a", "(cast T (Complement a))"),
        ("(T) ++a", "(cast T (Increment a))"),
        ("(a) - b", "(Sub (a) b)"),
        ("(a) + b", "(Add (a) b)"),
        ("(a)[1]", "(index (a) 1)"),
        ("(a)[1:]", "(slice (a) 1 _)"),
        ("(a)! + 1", "(Add (postUnwrap (a)) 1)"),
        ("(a)++", "(postIncrement (a))"),
        ("(a)??", "(postIsPresent (a))"),
        ("(a).b", "(. (a) b)"),
        ("(a + b) * c", "(Mul ((Add a b)) c)"),
        ("(a.b.c) d", "ERROR"),
    ] {
        match expected {
            "ERROR" => assert!(parse_expr(text).is_err(), "{text}"),
            _ => assert_eq!(show(text), expected, "{text}"),
        }
    }
}

#[test]
fn postfix_forms_chain() {
    for (text, expected) in [
        ("f(a, b)(c)", "(call (call f a b) c)"),
        ("ns.sub::f(a)", "(call ns.sub::f a)"),
        ("a.b.c", "(. (. a b) c)"),
        ("Sys.Wait", "(. Sys Wait)"),
        ("a[1][2:3]", "(slice (index a 1) 2 3)"),
        ("a[:n + 1]", "(slice a _ (Add n 1))"),
        ("a[c ? 1 : 2]", "(index a (if c 1 2))"),
        ("a! ?: b", "(OrElse (postUnwrap a) b)"),
        ("a?? && b", "(And (postIsPresent a) b)"),
        ("a!!= b", "(Ne (postUnwrap a) b)"),
    ] {
        assert_eq!(show(text), expected, "{text}");
    }
}

#[test]
fn literals_keep_what_was_written() {
    for (text, expected) in [
        ("10", "10"),
        ("10ul", "10ul"),
        ("10lu", "10ul"),
        ("0x1Fu", "0x1Fu"),
        ("0xffb", "0xffb"),
        ("1.", "1.~"),
        (".5", ".5~"),
        ("1.5e-3dw", "1.5e-3~dw"),
        ("1e10", "1e10~"),
        ("10f", "10f"),
        ("[1, [2], []]", "[1 [2] []]"),
        ("{}", "{}"),
        ("{1, 2}", "{1 2}"),
        ("{1 : {2 : 3}}", "{1:{2:3}}"),
        ("{a = 1, b = {c = 2}}", "{a=1 b={c=2}}"),
        ("{a ? b : c : d}", "{(if a b c):d}"),
        ("'a\"b'u", "\"a\\\"b\"u"),
        ("\"<a/>\"x", "\"<a/>\"x"),
        ("null", "null"),
    ] {
        assert_eq!(show(text), expected, "{text}");
    }
}
