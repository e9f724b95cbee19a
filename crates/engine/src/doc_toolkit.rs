//! Descriptions of what a toolkit of the user defines: composites, functions and types, with the
//! SPLDOC comments (`/** ... */`) before them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use syntax::ast::{Composite, Function, Item, TypeDef};
use syntax::{FileId, Span};

use crate::doc::{first_sentence, wrap};
use crate::error::Error;
use crate::sources::read_source_file;

/// A definition of a toolkit.
struct ToolkitDefinition {
    /// Name with its namespace.
    name: String,
    /// SPLDOC comment before it, or nothing.
    comment: String,
    /// How it is declared, without its body.
    form: String,
}

/// Describes what files of toolkits define: the definitions of a name, whose namespace may be left
/// out, or a list of all.
///
/// # Errors
/// [`Error::Read`] for a file that cannot be read. The inner error is a sentence: the
/// toolkits define nothing of that name.
pub fn doc_toolkit(files: &[PathBuf], name: Option<&str>) -> Result<Result<String, String>, Error> {
    let mut all = Vec::new();
    for file in files {
        read_definitions(file, &mut all)?;
    }
    Ok(match name {
        Some(name) => description(&all, name),
        None => Ok(index(&all)),
    })
}

fn index(all: &[ToolkitDefinition]) -> String {
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in all {
        let sentence = first_sentence(&one.comment);
        let line = format!("{:<width$}  {sentence}", one.name);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn description(all: &[ToolkitDefinition], name: &str) -> Result<String, String> {
    let last = |full: &str| full.rsplit("::").next().unwrap_or_default().to_owned();
    let is_meant = |one: &&ToolkitDefinition| one.name == name || last(&one.name) == name;
    let mut text = String::new();
    for one in all.iter().filter(is_meant) {
        let _ = writeln!(text, "{}\n", one.name);
        if !one.comment.is_empty() {
            text += &wrap(&one.comment, "");
            text.push('\n');
        }
        one.form
            .lines()
            .for_each(|line| text += &format!("    {line}\n"));
    }
    if !text.is_empty() {
        return Ok(text);
    }
    let names: Vec<String> = all.iter().map(|one| last(&one.name)).collect();
    let like = syntax::closest(name, names.iter().map(String::as_str));
    Err(match like {
        Some(like) => format!("the toolkits have no {name}; did you mean {like}?"),
        None => format!("the toolkits have no {name}"),
    })
}

/// Adds the definitions of a file. Parts that cannot be parsed are left out: `thalweg check` says
/// what is wrong there.
fn read_definitions(file: &Path, all: &mut Vec<ToolkitDefinition>) -> Result<(), Error> {
    let text = read_source_file(file, &[])?.text;
    let unit = syntax::parse(FileId::default(), &text).unit;
    let namespace = unit.namespace.map(|name| name.text);
    let full = |name: &str| match &namespace {
        Some(namespace) => format!("{namespace}::{name}"),
        None => name.to_owned(),
    };
    let definitions = unit.items.iter().map(|item| match item {
        Item::Composite(one) => ToolkitDefinition {
            name: full(&one.name.text),
            comment: one.doc.as_deref().unwrap_or_default().to_owned(),
            form: composite_form(one, &text),
        },
        Item::Function(one) => ToolkitDefinition {
            name: full(&one.name.text),
            comment: one.doc.as_deref().unwrap_or_default().to_owned(),
            form: function_form(one, &text),
        },
        Item::Type(one) => ToolkitDefinition {
            name: full(&one.name.text),
            comment: String::new(),
            form: type_form(one, &text),
        },
    });
    all.extend(definitions);
    Ok(())
}

/// The head of a composite, and its parameters.
fn composite_form(composite: &Composite, text: &str) -> String {
    let whole = slice(text, composite.span);
    let head = whole.split('{').next().unwrap_or_default().trim();
    let mut form = head.to_owned();
    if !composite.params.is_empty() {
        form += "\n  param";
    }
    for param in &composite.params {
        let declared = slice(text, param.span).trim_end_matches(';').trim();
        let _ = write!(form, "\n    {declared};");
    }
    form
}

/// A function without its body.
fn function_form(function: &Function, text: &str) -> String {
    let (begin, end) = (function.span.start, function.body.span.start);
    let head = text.get(begin as usize..end as usize);
    head.unwrap_or_default().trim().to_owned()
}

fn type_form(definition: &TypeDef, text: &str) -> String {
    slice(text, definition.span).trim().to_owned()
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_shown_with_their_comments() {
        let folder = std::env::temp_dir().join(format!("thalweg-toolkit-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("my.kit")).unwrap();
        let text = "namespace my.kit;\n\
                    /** Doubles numbers. Nothing else. */\n\
                    public composite Twice(input In; output Out) {\n\
                    param expression<int32> $factor : 2;\n\
                    graph stream<In> Out = Functor(In) {}\n}\n\
                    /** A square. */\n\
                    public int32 square(int32 x) { return x * x; }\n\
                    type Id = int64;\n";
        std::fs::write(folder.join("my.kit/Kit.spl"), text).unwrap();
        let files = [folder.join("my.kit/Kit.spl")];
        let doc = |name| doc_toolkit(&files, name).unwrap();
        let (index, twice) = (doc(None), doc(Some("Twice")));
        let (square, wrong) = (doc(Some("my.kit::square")), doc(Some("Twise")));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            index.unwrap(),
            "my.kit::Twice   Doubles numbers.\nmy.kit::square  A square.\nmy.kit::Id\n"
        );
        assert_eq!(
            twice.unwrap(),
            "my.kit::Twice\n\nDoubles numbers. Nothing else.\n\n    \
             public composite Twice(input In; output Out)\n      param\n        \
             expression<int32> $factor : 2;\n"
        );
        assert_eq!(
            square.unwrap(),
            "my.kit::square\n\nA square.\n\n    public int32 square(int32 x)\n"
        );
        assert_eq!(
            wrong.unwrap_err(),
            "the toolkits have no Twise; did you mean Twice?"
        );
    }
}
