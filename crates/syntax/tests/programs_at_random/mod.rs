//! Well-formed programs at random: tokens by the grammar, with random white space and comments
//! between them.

mod expr;

use expr::{call, expr, name, operand, ty};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A program, or a part of one: its tokens in order.
type Tokens = Vec<String>;

/// The text of a random source file.
pub fn program() -> impl Strategy<Value = String> {
    let items = vec(prop_oneof![composite(), function(), type_item()], 1..4);
    (option::of(head()), items).prop_flat_map(|(head, items)| {
        let tokens: Tokens = head.into_iter().chain(items).flatten().collect();
        let count = tokens.len();
        vec(gap(), count).prop_map(move |gaps| glue(&tokens, &gaps))
    })
}

/// White space and comments between two tokens.
fn gap() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        60 => Just(""),
        60 => Just(" "),
        20 => Just("\n"),
        5 => Just("\n\n\n"),
        3 => Just(" // to the end\n"),
        3 => Just("\n// a line of its own\n"),
        3 => Just(" /* inside */ "),
        2 => Just("\n/* alone\n * of two lines */\n"),
        2 => Just("\n\n/** doc */\n"),
        1 => Just("/*touches*/"),
        1 => Just("\t\r\n"),
    ]
}

/// Joins tokens; where they could merge, with a blank at least.
fn glue(tokens: &Tokens, gaps: &[&str]) -> String {
    let mut text = String::new();
    for (token, gap) in tokens.iter().zip(gaps) {
        let stands_alone = |c: Option<char>| c.is_none_or(|c| "(){}[];,".contains(c));
        let is_safe = stands_alone(text.chars().last()) || stands_alone(token.chars().next());
        let would_comment = text.ends_with('/') && gap.starts_with('/');
        if (gap.is_empty() && !is_safe) || would_comment {
            text.push(' ');
        }
        text.push_str(gap);
        text.push_str(token);
    }
    text
}

/// Joins parts to one list of tokens.
fn concat(parts: impl IntoIterator<Item = Tokens>) -> Tokens {
    parts.into_iter().flatten().collect()
}

/// Tokens of a text that is split at blanks.
fn words(text: &str) -> Tokens {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Parts with a separator between.
fn separated(parts: Vec<Tokens>, separator: &str) -> Tokens {
    let mut all = Tokens::new();
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            all.push(separator.to_owned());
        }
        all.extend(part);
    }
    all
}

fn head() -> impl Strategy<Value = Tokens> {
    Just(words("namespace a . b ; use x . y :: * ; use z :: Name ;"))
}

fn type_item() -> impl Strategy<Value = Tokens> {
    definition().prop_map(|definition| concat([words("type"), definition]))
}

/// `Name = type;` or `Name = tuple body;`
fn definition() -> impl Strategy<Value = Tokens> {
    let body = prop_oneof![ty(), attributes()];
    (name(), body).prop_map(|(name, body)| concat([name, words("="), body, words(";")]))
}

fn attributes() -> impl Strategy<Value = Tokens> {
    let attribute = (ty(), name()).prop_map(|(ty, name)| concat([ty, name]));
    vec(attribute, 1..9).prop_map(|all| separated(all, ","))
}

fn stream() -> impl Strategy<Value = Tokens> {
    let body = prop_oneof![attributes(), name()];
    body.prop_map(|body| concat([words("stream <"), body, words(">")]))
}

fn function() -> impl Strategy<Value = Tokens> {
    let formal = (any::<bool>(), ty(), name()).prop_map(|(is_mutable, ty, name)| {
        let word = if is_mutable {
            words("mutable")
        } else {
            Tokens::new()
        };
        concat([word, ty, name])
    });
    let modifiers = prop::sample::select(vec!["", "public", "stateful", "public stateful"]);
    let result = prop_oneof![ty(), Just(words("void"))];
    (modifiers, result, name(), vec(formal, 0..4), block()).prop_map(
        |(modifiers, result, name, formals, block)| {
            let formals = concat([words("("), separated(formals, ","), words(")")]);
            concat([words(modifiers), result, name, formals, block])
        },
    )
}

fn block() -> impl Strategy<Value = Tokens> {
    vec(statement(), 0..4).prop_map(|all| concat([words("{"), concat(all), words("}")]))
}

fn declaration() -> impl Strategy<Value = Tokens> {
    let variable = (name(), option::of(expr())).prop_map(|(name, value)| match value {
        Some(value) => concat([name, words("="), value]),
        None => name,
    });
    (any::<bool>(), ty(), vec(variable, 1..3)).prop_map(|(is_mutable, ty, variables)| {
        let word = if is_mutable {
            words("mutable")
        } else {
            Tokens::new()
        };
        concat([word, ty, separated(variables, ","), words(";")])
    })
}

fn statement() -> impl Strategy<Value = Tokens> {
    let assignment = prop::sample::select(vec!["=", "+=", ">>=", "<<=", "|="]);
    let leaf = prop_oneof![
        declaration(),
        definition().prop_map(|definition| concat([words("type"), definition])),
        (operand(), assignment, expr()).prop_map(|(left, op, right)| concat([
            left,
            words(op),
            right,
            words(";")
        ])),
        call().prop_map(|call| concat([call, words(";")])),
        Just(words("break ;")),
        Just(words("continue ;")),
        option::of(expr())
            .prop_map(|value| { concat([words("return"), value.unwrap_or_default(), words(";")]) }),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let body = inner.clone();
        let (then, other) = (inner.clone(), inner.clone());
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|all| concat([words("{"), concat(all), words("}")])),
            (expr(), then, option::of(other)).prop_map(|(condition, then, other)| {
                let head = concat([words("if ("), condition, words(") {"), then, words("}")]);
                match other {
                    Some(other) => concat([head, words("else"), other]),
                    None => head,
                }
            }),
            (expr(), body.clone()).prop_map(|(condition, body)| {
                concat([words("while ("), condition, words(")"), body])
            }),
            (ty(), name(), expr(), body).prop_map(|(ty, name, values, body)| {
                concat([
                    words("for ("),
                    ty,
                    name,
                    words("in"),
                    values,
                    words(")"),
                    body,
                ])
            }),
        ]
    })
}

fn annotation() -> impl Strategy<Value = Tokens> {
    let argument = (name(), expr()).prop_map(|(name, value)| concat([name, words("="), value]));
    (name(), option::of(vec(argument, 1..3))).prop_map(|(name, arguments)| {
        let arguments = arguments.map(|all| concat([words("("), separated(all, ","), words(")")]));
        concat([words("@"), name, arguments.unwrap_or_default()])
    })
}

/// `name : a, b;`
fn entry() -> impl Strategy<Value = Tokens> {
    let values = prop_oneof![
        vec(expr(), 1..4).prop_map(|all| separated(all, ",")),
        Just(words("tuple < int32 a >")),
    ];
    (name(), values).prop_map(|(name, values)| concat([name, words(":"), values, words(";")]))
}

/// `name : a, b;` with expressions only.
fn plain_entry() -> impl Strategy<Value = Tokens> {
    let values = vec(expr(), 1..4).prop_map(|all| separated(all, ","));
    (name(), values).prop_map(|(name, values)| concat([name, words(":"), values, words(";")]))
}

fn clause(
    keyword: &'static str,
    entry: impl Strategy<Value = Tokens>,
) -> impl Strategy<Value = Tokens> {
    option::of(vec(entry, 1..3)).prop_map(move |entries| match entries {
        Some(entries) => concat([words(keyword), concat(entries)]),
        None => Tokens::new(),
    })
}

fn logic() -> impl Strategy<Value = Tokens> {
    prop_oneof![
        declaration().prop_map(|one| concat([words("state :"), one])),
        vec(declaration(), 1..3).prop_map(|all| concat([
            words("state : {"),
            concat(all),
            words("}")
        ])),
        (name(), block())
            .prop_map(|(port, body)| { concat([words("onTuple"), port, words(":"), body]) }),
        (name(), statement())
            .prop_map(|(port, body)| { concat([words("onPunct"), port, words(":"), body]) }),
        block().prop_map(|body| concat([words("onProcess :"), body])),
    ]
}

fn assignments() -> impl Strategy<Value = Tokens> {
    let assignment = (name(), expr()).prop_map(|(name, value)| concat([name, words("="), value]));
    (name(), vec(assignment, 1..4))
        .prop_map(|(port, all)| concat([port, words(":"), separated(all, ","), words(";")]))
}

fn heads() -> impl Strategy<Value = Tokens> {
    let port = (stream(), name(), option::of(name())).prop_map(|(stream, name, alias)| {
        let alias = alias.map(|alias| concat([words("as"), alias]));
        concat([stream, name, alias.unwrap_or_default()])
    });
    let port = port.boxed();
    prop_oneof![
        name().prop_map(|name| concat([words("( ) as"), name])),
        port.clone(),
        (vec(port, 1..3), name()).prop_map(|(ports, name)| {
            concat([words("("), separated(ports, ";"), words(") as"), name])
        }),
    ]
}

fn inputs() -> impl Strategy<Value = Tokens> {
    let port = (vec(name(), 1..3), option::of(name())).prop_map(|(streams, alias)| {
        let alias = alias.map(|alias| concat([words("as"), alias]));
        concat([separated(streams, ","), alias.unwrap_or_default()])
    });
    vec(port, 0..3).prop_map(|ports| concat([words("("), separated(ports, ";"), words(")")]))
}

fn invocation() -> impl Strategy<Value = Tokens> {
    let body = (
        clause("logic", logic()),
        clause("window", plain_entry()),
        clause("param", entry()),
        clause("output", assignments()),
        clause("config", plain_entry()),
    );
    let operator = prop_oneof![name(), Just(words("a . b :: Op"))];
    (vec(annotation(), 0..2), heads(), operator, inputs(), body).prop_map(
        |(annotations, head, operator, inputs, (logic, window, param, output, config))| {
            let body = concat([words("{"), logic, window, param, output, config, words("}")]);
            concat([
                concat(annotations),
                head,
                words("="),
                operator,
                inputs,
                body,
            ])
        },
    )
}

fn formal() -> impl Strategy<Value = Tokens> {
    let mode = prop::sample::select(vec![
        "attribute",
        "expression",
        "expression < list < int32 > >",
        "function",
        "operator",
        "type",
    ]);
    (mode, option::of(expr())).prop_map(|(mode, default)| {
        let default = default.map(|value| concat([words(":"), value]));
        concat([
            words(mode),
            words("$x"),
            default.unwrap_or_default(),
            words(";"),
        ])
    })
}

fn composite() -> impl Strategy<Value = Tokens> {
    let ports = prop::sample::select(vec![
        "",
        "( )",
        "( output A , B ; input C )",
        "( input stream < int32 a > A )",
        "( input A ; output stream < T > B )",
    ]);
    let clauses = (
        clause("param", formal()),
        clause("type", definition()),
        clause("graph", invocation()),
        clause("config", plain_entry()),
    );
    let is_public = any::<bool>();
    (vec(annotation(), 0..2), is_public, name(), ports, clauses).prop_map(
        |(annotations, is_public, name, ports, (param, types, graph, config))| {
            let public = if is_public {
                words("public")
            } else {
                Tokens::new()
            };
            let head = concat([concat(annotations), public, words("composite"), name]);
            let body = concat([words("{"), param, types, graph, config, words("}")]);
            concat([head, words(ports), body])
        },
    )
}
