//! README.md and pages of `docs` with commands: the commands print what the page says.
//!
//! A block of a page with a name is a file (`spl Hello.spl`); one of the kind `console` has
//! commands behind `$ `, each with all that it prints. The commands of a page run in a folder with
//! its files so far. Blocks of other kinds are passed over. `BLESS=1` writes the outputs anew.

use std::fs;
use std::path::{Path, PathBuf};

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

/// A text with the times that runs took as on the pages, `0.00s`.
fn without_times(text: &str) -> String {
    let mut parts = text.split("finished in ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('s').unwrap_or(("", part));
        plain.push_str("finished in 0.00s");
        plain.push_str(rest);
    }
    plain
}

/// The pages below a folder that have commands.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|end| end == "md")
            && fs::read_to_string(&path)
                .unwrap()
                .contains("\n```console\n")
        {
            found.push(path);
        }
    }
}

/// All pages below a folder, by their names from there.
fn all_pages(folder: &Path, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(all_pages(&entry.path(), &format!("{name}/")));
        } else if name.ends_with(".md") {
            found.push(name);
        }
    }
    found
}

/// Runs the commands of a page; their number. With `BLESS`, writes what they print into the page.
fn check_page(path: &Path) -> usize {
    let page = fs::read_to_string(path).unwrap();
    let mut blessed = page.clone();
    let folder = Scratch::new();
    let mut count = 0;
    for (kind, name, text) in blocks(&page) {
        if kind != "console" {
            if !name.is_empty() {
                folder.write(name, text);
            }
            continue;
        }
        for (line, expected) in commands(text) {
            let args: Vec<&str> = line.split(' ').collect();
            let output = command(&args).current_dir(folder.path("")).output();
            let output = output.unwrap();
            let printed = [output.stdout, output.stderr].concat();
            let printed = without_times(&String::from_utf8_lossy(&printed));
            count += 1;
            if std::env::var_os("BLESS").is_none() {
                assert_eq!(printed, expected, "{}: {line}", path.display());
                continue;
            }
            let begin = format!("$ thalweg {line}\n");
            let (before, after) = (begin.clone() + expected, begin + &printed);
            blessed = blessed.replacen(&before, &after, 1);
        }
    }
    if blessed != page {
        fs::write(path, blessed).unwrap();
    }
    count
}

#[test]
fn every_command_prints_what_its_page_says() {
    let mut found = vec![root().join("README.md")];
    pages(&root().join("docs"), &mut found);
    let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
    for page in ["tutorial.md", "testing.md"] {
        assert!(names.contains(&page.as_ref()), "{page} has no commands");
    }
    for path in &found {
        assert!(check_page(path) > 0, "{} has no commands", path.display());
    }
}

#[test]
fn the_table_of_contents_has_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let links = summary.split("](").skip(1);
    let mut listed: Vec<&str> = links.filter_map(|link| link.split(')').next()).collect();
    listed.sort_unstable();
    let mut pages = all_pages(&docs, "");
    pages.retain(|page| page != "SUMMARY.md");
    pages.sort();
    assert_eq!(listed, pages);
}
