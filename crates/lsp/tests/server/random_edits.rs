//! Random edits of the programs of `tests/programs`: nothing panics, every request is answered, and
//! the diagnostics of the last text are those of `engine::check`.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{CompileRequest, check};
use serde_json::{Value, json};

use crate::client::{ScriptedClient, TestFolder, at, position};

/// Programs that one run edits, and edits of each.
const PROGRAMS: usize = 24;
const EDITS: usize = 12;

/// Texts that edits write: parts of programs, alone and broken off.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "{",
    "}",
    "(",
    ")",
    ";",
    ":",
    ",",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "é😀",
    "$",
    "@",
    "=",
    "<",
    ">",
    ".",
    "0x",
    "1e",
    "graph\n",
    "param ",
    "composite X { graph ",
    "stream<int32 a> ",
    "type T = ",
    "output A : ",
    "onTuple A : {",
    "if (a) ",
    " as B",
    "::",
    "use spl.file::*;",
    "Beacon() {",
    "In.",
    "[",
    "]",
    "int32 f(int32 x) { return x; }",
];

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "spl") {
            found.push(path);
        }
    }
}

/// An offset between two characters.
fn boundary(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// An edit at a random place: the range, the new part, and the text then.
fn edit(text: &str, numbers: &mut Numbers) -> (Value, &'static str, String) {
    let start = boundary(text, numbers.below(text.len() + 1));
    let taken = match numbers.below(4) {
        0 => numbers.below(200),
        1 => numbers.below(5),
        _ => 0,
    };
    let end = boundary(text, (start + taken).min(text.len()));
    let end = end.max(start);
    let new = PIECES[numbers.below(PIECES.len())];
    let range = json!({ "start": position(text, start), "end": position(text, end) });
    (range, new, [&text[..start], new, &text[end..]].concat())
}

/// Diagnostics that `engine::check` gives, as the server sends them: range, code and message.
fn checked(file: &Path, text: &str) -> Vec<(Value, String, String)> {
    fs::write(file, text).expect("a file");
    let request = CompileRequest {
        file: file.to_owned(),
        ..CompileRequest::default()
    };
    let findings = check(&request).expect("a readable file");
    let found = findings.diagnostics().iter().map(|finding| {
        let place = |offset: u32| position(text, offset as usize);
        let range = json!({ "start": place(finding.span.start), "end": place(finding.span.end) });
        let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
        let message = std::iter::once(finding.message.clone())
            .chain(help)
            .collect();
        (range, finding.code.to_owned(), message)
    });
    found.collect()
}

#[test]
fn any_edits_leave_the_findings_of_a_check() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let mut paths = Vec::new();
    programs(&root, &mut paths);
    paths.sort();
    let mut numbers = Numbers(20_261_128);
    let mut client = ScriptedClient::start(&[]);
    let mut findings = 0;
    for _ in 0..PROGRAMS {
        let path = &paths[numbers.below(paths.len())];
        let folder = TestFolder::new();
        let uri = folder.uri("Main.spl");
        let mut text = fs::read_to_string(path).expect("a readable program");
        client.open(&uri, &text);
        let mut asked = Vec::new();
        for version in 0..EDITS {
            let (range, new, edited) = edit(&text, &mut numbers);
            client.change(&uri, version as i32 + 2, &[(range, new)]);
            text = edited;
            let place = position(&text, boundary(&text, numbers.below(text.len() + 1)));
            let methods = [
                "completion",
                "hover",
                "definition",
                "documentSymbol",
                "rename",
            ];
            let method = format!("textDocument/{}", methods[numbers.below(methods.len())]);
            let mut params = at(&uri, &place);
            params["newName"] = "fresh".into();
            asked.push(client.ask(&method, params));
        }
        for id in asked {
            // Renames may be refused; a fault of the server is none of the answers.
            let code = client.answer(&id).err().map(|error| error.code);
            assert!(
                matches!(code, None | Some(-32803)),
                "{code:?} {}\n{text}",
                path.display()
            );
        }
        let last = EDITS as i32 + 1;
        let published = client.diagnostics(&uri, Some(last));
        let published: Vec<_> = published
            .into_iter()
            .map(|one| {
                let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
                (one["range"].clone(), word("code"), word("message"))
            })
            .collect();
        let wanted = checked(&folder.path().join("Main.spl"), &text);
        assert_eq!(published, wanted, "{}\n{text}", path.display());
        findings += wanted.len();
        client.notify(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri } }),
        );
    }
    println!("{findings} findings on {PROGRAMS} programs");
    client.end();
}
