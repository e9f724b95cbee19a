//! The TextMate grammar of `editors/vscode` against the lexer, on every program of the repository.

mod text_mate;

use std::fs;
use std::path::{Path, PathBuf};

use syntax::{FileId, SyntaxKind, Token};
use text_mate::Grammar;

/// Sort of text that is coloured, which lexer and grammar have to agree about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextClass {
    Comment,
    String,
    Number,
    Word,
    Operator,
    Other,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn grammar() -> Grammar {
    let path = root().join("editors/vscode/syntaxes/spl.tmLanguage.json");
    Grammar::new(&fs::read_to_string(path).expect("the grammar"))
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            programs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "spl") {
            found.push(path);
        }
    }
}

/// The class of a token of the lexer.
fn class_of_token(token: &Token, text: &str) -> TextClass {
    use SyntaxKind::*;
    let written = &text[token.start as usize..token.end as usize];
    match token.kind {
        LineComment | BlockComment => TextClass::Comment,
        StringToken => TextClass::String,
        Number => TextClass::Number,
        kind if kind.is_keyword() => TextClass::Word,
        Whitespace | Ident | Unknown => TextClass::Other,
        LParen | RParen | LBrace | RBrace | LBracket | RBracket => TextClass::Other,
        Comma | Semi | Colon | ColonColon | Dot | At => TextClass::Other,
        _ => {
            assert!(!written.contains(char::is_alphabetic), "{written}");
            TextClass::Operator
        }
    }
}

/// The class of a scope of the grammar; the outermost one that says something counts.
fn class_of_scopes(scopes: &[String]) -> TextClass {
    let class = |scope: &String| {
        let starts = |start: &str| scope.starts_with(start);
        match () {
            () if starts("comment.") => Some(TextClass::Comment),
            () if starts("string.") => Some(TextClass::String),
            () if starts("constant.numeric.") => Some(TextClass::Number),
            () if starts("keyword.operator.word.") => Some(TextClass::Word),
            () if starts("keyword.operator.") => Some(TextClass::Operator),
            () if starts("keyword.") || starts("storage.") => Some(TextClass::Word),
            () if starts("constant.language.") => Some(TextClass::Word),
            () => None,
        }
    };
    scopes.iter().find_map(class).unwrap_or(TextClass::Other)
}

/// Whether the lexer has no complaint: a string that does not end is cut by the lexer at the end of
/// its line, and goes on in the grammar.
fn is_sound(tokens: &[Token]) -> bool {
    tokens
        .iter()
        .all(|token| !token.is_broken && token.kind != SyntaxKind::Unknown)
}

/// First place at which grammar and lexer disagree about a text.
fn disagreement(grammar: &Grammar, text: &str) -> Option<String> {
    let (tokens, _) = syntax::tokens(FileId::default(), text);
    let scopes = grammar.scopes(text);
    if !is_sound(&tokens) {
        return None;
    }
    for token in &tokens {
        if token.kind == SyntaxKind::Whitespace {
            continue;
        }
        let wanted = class_of_token(token, text);
        for at in token.start as usize..token.end as usize {
            let found = class_of_scopes(scopes.at(at));
            if found != wanted && !text[at..].starts_with(['\n', '\r']) && text.is_char_boundary(at)
            {
                let line = text[..at].matches('\n').count() + 1;
                let written = &text[token.start as usize..token.end as usize];
                return Some(format!(
                    "line {line}: `{written}` is {wanted:?}, not {found:?}"
                ));
            }
        }
    }
    None
}

#[test]
fn the_grammar_colours_every_program_as_the_lexer_reads_it() {
    let grammar = grammar();
    let mut paths = Vec::new();
    programs(&root(), &mut paths);
    paths.sort();
    assert!(paths.len() > 1_000, "{} programs", paths.len());
    let mut wrong = Vec::new();
    let mut compared = 0;
    for path in &paths {
        let bytes = fs::read(path).expect("a readable file");
        let text = String::from_utf8_lossy(&bytes);
        compared += usize::from(is_sound(&syntax::tokens(FileId::default(), &text).0));
        if let Some(found) = disagreement(&grammar, &text) {
            wrong.push(format!("{}: {found}", path.display()));
        }
    }
    println!(
        "{compared} of {} programs have no broken token",
        paths.len()
    );
    assert!(compared * 10 > paths.len() * 9);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reserved_word_and_operator_is_coloured() {
    let grammar = grammar();
    let operators = "= += -= *= /= <<= >>= %= &= ^= |= + - * / % & | ^ < > ! ~ ? ?: ?? ++ -- && || \
                     <= >= == != << >> .+ .- .* ./ .% .<< .>> .< .<= .> .>= .== .!= .& .| .^";
    let words = SyntaxKind::keywords().chain(operators.split(' '));
    for word in words {
        let text = format!("a {word} b");
        assert_eq!(disagreement(&grammar, &text), None);
        assert_ne!(
            class_of_scopes(grammar.scopes(&text).at(2)),
            TextClass::Other,
            "{word}"
        );
        // A part of a longer name is no word.
        if word.starts_with(char::is_alphabetic) {
            for text in [format!("x{word}"), format!("{word}_1"), format!("${word}")] {
                assert_eq!(disagreement(&grammar, &text), None, "{text}");
            }
        }
    }
}

#[test]
fn names_have_scopes_of_their_own() {
    let grammar = grammar();
    let text = "@parallel(width = 2) public composite Main(output A) { param expression<int32> $n : 1; \
                graph stream<spl.x::T> A = Beacon() { logic state : int32 c = size(x); } }";
    let scope = |part: &str| {
        let scopes = grammar.scopes(text);
        let at = text.find(part).expect(part);
        scopes.at(at).last().cloned().unwrap_or_default()
    };
    assert_eq!(scope("parallel"), "entity.name.tag.annotation.spl");
    assert_eq!(scope("Main"), "entity.name.type.composite.spl");
    assert_eq!(scope("public"), "storage.modifier.spl");
    assert_eq!(scope("$n"), "variable.parameter.formal.spl");
    assert_eq!(scope("Beacon"), "entity.name.type.operator.spl");
    assert_eq!(scope("spl.x"), "entity.name.namespace.spl");
    assert_eq!(scope("state"), "support.variable.logic.spl");
    assert_eq!(scope("size"), "entity.name.function.spl");
    assert_eq!(scope("int32"), "storage.type.primitive.spl");
}

#[test]
fn comments_and_strings_span_lines() {
    let grammar = grammar();
    let cases = [
        "/* a\n \"b */ \"c\n /* d\" x",
        "'a\\'\n//' + \"\\\\\" // \"b",
        "\"a\"r + 'b'u + \"c\"x + \"d\"y",
        "/**/ int32 /** doc\n * @x */ a",
        "1.5e3 + 0x1Fs + .5f + 10uw - a1.b2 .+ 3.",
        "\"back\\\nslash\"",
    ];
    for text in cases {
        assert_eq!(disagreement(&grammar, text), None, "{text}");
    }
}

#[test]
fn the_files_of_the_extension_are_json_and_name_each_other() {
    let folder = root().join("editors/vscode");
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(folder.join(name)).expect(name);
        serde_json::from_str(&text).expect(name)
    };
    let package = read("package.json");
    let contributes = &package["contributes"];
    for path in [
        &package["main"],
        &contributes["grammars"][0]["path"],
        &contributes["languages"][0]["configuration"],
    ] {
        let path = path.as_str().expect("a path");
        assert!(folder.join(path).is_file(), "{path}");
    }
    assert!(package["dependencies"]["vscode-languageclient"].is_string());
    let configuration = read("language-configuration.json");
    for expression in [
        &configuration["wordPattern"],
        &configuration["indentationRules"]["increaseIndentPattern"],
        &configuration["indentationRules"]["decreaseIndentPattern"],
    ] {
        let expression = expression.as_str().expect("an expression");
        fancy_regex::Regex::new(expression).expect(expression);
    }
}
