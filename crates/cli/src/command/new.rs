//! `thalweg new`: creates a small project that runs.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg new`.
#[derive(Debug, ClapArgs)]
pub struct NewArgs {
    /// The folder to create, or an empty one; the program is named after it
    pub folder: PathBuf,
}

/// Creates the folder with a program, its input data and a README. A folder that exists has to be
/// empty.
pub fn run(args: NewArgs) -> Result<(), CommandFailure> {
    let folder = &args.folder;
    let composite = name_of(folder)?;
    let refused = match (folder.exists(), folder.is_dir()) {
        (true, false) => Some("is no folder"),
        (true, true) if !is_empty(folder)? => Some("is not empty"),
        _ => None,
    };
    if let Some(why) = refused {
        let folder = folder.display();
        let message = format!("`{folder}` exists already and {why}; give a new folder");
        return Err(CommandFailure::Program(message));
    }
    let program = format!("{composite}.spl");
    write(&folder.join(&program), &program_text(&composite))?;
    write(
        &folder.join("data/names.csv"),
        "\"river\",3\n\"stream\",1\n\"valley\",2\n",
    )?;
    write(&folder.join("README.md"), &readme_text(&composite))?;
    // In the current folder the file's name alone is enough.
    let path = folder.join(&program);
    let path = path.strip_prefix(".").unwrap_or(&path);
    write_stdout(&format!(
        "made {}; run it:\n\n    thalweg run {}\n",
        folder.display(),
        quoted(&path.display().to_string())
    ))
}

/// Names the main composite after the project's folder; `.` and `..` stand for the folders they
/// lead to.
fn name_of(folder: &Path) -> Result<String, CommandFailure> {
    let named = match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => folder.canonicalize().map_err(|error| {
            CommandFailure::Program(format!("cannot find `{}`: {error}", folder.display()))
        })?,
    };
    let name = named.file_name().map(|name| name.to_string_lossy());
    name.as_deref().and_then(composite_name).ok_or_else(|| {
        CommandFailure::Usage(format!(
            "`{}`: the project is named after its folder, whose name needs a letter of a to z or a \
             digit",
            folder.display()
        ))
    })
}

/// Whether a folder has no files but hidden ones, such as `.git`.
fn is_empty(folder: &Path) -> Result<bool, CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::Program(format!("cannot look into `{}`: {error}", folder.display()))
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Quotes a word for the shell, if it has special characters.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Prefix of a composite whose name would begin with a digit or hide an operator of the library.
const PREFIX: &str = "App";

/// Makes a composite's name of a folder's: `my-app` becomes `MyApp`, `7up` becomes `App7up`.
/// `filter` becomes `AppFilter`, because a composite `Filter` would hide the operator.
fn composite_name(folder: &str) -> Option<String> {
    let words = folder.split(|c: char| !c.is_ascii_alphanumeric());
    let name: String = words.map(capitalised).collect();
    let first = name.chars().next()?;
    let is_taken = first.is_ascii_digit() || engine::is_library_name(&name);
    Some(match is_taken {
        true => format!("{PREFIX}{name}"),
        false => name,
    })
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn write(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| {
        CommandFailure::Program(format!("cannot write {}: {error}", path.display()))
    })
}

fn program_text(composite: &str) -> String {
    format!(
        r#"// Reads names and counts, keeps the large ones, prints them.
composite {composite} {{
    param
        expression<int32> $atLeast : (int32) getSubmissionTimeValue("atLeast", "2");
    graph
        stream<rstring name, int32 count> Names = FileSource() {{
            param
                file : "names.csv";
        }}

        stream<Names> Large = Filter(Names) {{
            param
                filter : count >= $atLeast;
        }}

        () as Printer = Custom(Large) {{
            logic
                onTuple Large : printStringLn(name + " " + (rstring) count);
        }}
}}
"#
    )
}

fn readme_text(composite: &str) -> String {
    format!(
        "# {composite}\n\n    thalweg run {composite}.spl\n    thalweg run {composite}.spl atLeast=1\n\n\
         `data/` is where relative file names lead.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{composite_name, quoted};

    #[test]
    fn composites_are_named_after_folders() {
        assert_eq!(composite_name("my-app").as_deref(), Some("MyApp"));
        assert_eq!(composite_name("2nd_try").as_deref(), Some("App2ndTry"));
        assert_eq!(composite_name("7up").as_deref(), Some("App7up"));
        assert_eq!(
            composite_name("file-source").as_deref(),
            Some("AppFileSource")
        );
        assert_eq!(composite_name("sys").as_deref(), Some("AppSys"));
        assert_eq!(composite_name("list").as_deref(), Some("List"));
        assert_eq!(composite_name("---"), None);
    }

    #[test]
    fn a_shell_takes_names_for_one_word() {
        assert_eq!(quoted("a-b/C.spl"), "a-b/C.spl");
        assert_eq!(quoted("bad name/it's.spl"), r"'bad name/it'\''s.spl'");
    }
}
