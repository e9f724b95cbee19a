//! `thalweg new`: a starter project that runs.

use std::fs;
use std::path::Path;

use super::{Failure, print};
use crate::args::NewArgs;

/// Makes the folder with a program, a line of input and a README.
pub fn new(args: NewArgs) -> Result<(), Failure> {
    let folder = &args.folder;
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let composite = name.as_deref().and_then(composite_name).ok_or_else(|| {
        Failure::Usage(format!(
            "`{}`: a name with at least one letter is needed",
            folder.display()
        ))
    })?;
    if folder.exists() {
        return Err(Failure::Program(format!(
            "`{}` exists already",
            folder.display()
        )));
    }
    let program = format!("{composite}.spl");
    write(&folder.join(&program), &program_text(&composite))?;
    write(
        &folder.join("data/names.csv"),
        "\"river\",3\n\"stream\",1\n\"valley\",2\n",
    )?;
    write(&folder.join("README.md"), &readme_text(&composite))?;
    print(&format!(
        "made {}; run it:\n\n    thalweg run {}\n",
        folder.display(),
        quoted(&folder.join(&program).display().to_string())
    ))
}

/// As a shell takes it: one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// `my-app` becomes `MyApp`.
fn composite_name(folder: &str) -> Option<String> {
    let words = folder.split(|c: char| !c.is_ascii_alphanumeric());
    let name: String = words.map(capitalised).collect();
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    (!name.is_empty()).then(|| name.to_owned())
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::Program(format!("cannot write {}: {error}", path.display())))
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
        assert_eq!(composite_name("2nd_try").as_deref(), Some("ndTry"));
        assert_eq!(composite_name("---"), None);
    }

    #[test]
    fn a_shell_takes_names_for_one_word() {
        assert_eq!(quoted("a-b/C.spl"), "a-b/C.spl");
        assert_eq!(quoted("bad name/it's.spl"), r"'bad name/it'\''s.spl'");
    }
}
