//! `docs/tutorial.md`: its commands print what it says.
//!
//! A block of the page with a name is a file (`spl Hello.spl`); one of the kind `console` has
//! commands behind `$ `, each with all that it prints. They run in a folder with the files so far.

use std::fs;

use crate::scratch::{Scratch, command, root};

/// A block between two lines of three backticks: kind, name or nothing, text.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let inside = page.split("```").skip(1).step_by(2);
    inside.map(|block| {
        let (head, text) = block.split_once('\n').expect("a block has lines");
        let (kind, name) = head.split_once(' ').unwrap_or((head, ""));
        (kind, name, text)
    })
}

/// The commands of a console block, each with what it prints.
fn commands(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let commands = text.split("$ thalweg ").skip(1);
    commands.map(|one| one.split_once('\n').expect("a command has its line"))
}

#[test]
fn every_command_prints_what_the_page_says() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let folder = Scratch::new();
    let mut count = 0;
    for (kind, name, text) in blocks(&page) {
        if kind != "console" {
            folder.write(name, text);
            continue;
        }
        for (line, expected) in commands(text) {
            let args: Vec<&str> = line.split(' ').collect();
            let output = command(&args).current_dir(folder.path("")).output();
            let output = output.unwrap();
            let printed = [output.stdout, output.stderr].concat();
            assert_eq!(String::from_utf8_lossy(&printed), expected, "{line}");
            count += 1;
        }
    }
    assert!(count >= 9, "{count} commands");
}
