//! Errors for options and files that cannot be used.

use super::{publish, topic};
use crate::scratch::{Scratch, thalweg};

#[test]
fn options_that_cannot_be_are_refused_with_what_would_be_right() {
    let wrong = [
        (["-f", "8"], "from 0 to 7"),
        (["-f", "0xg"], "decimal or as in 0x1f"),
        (["-n", "-1"], "-1"),
        (["-n", "many"], "must be a whole number"),
        (["-r", "0"], "from 1 to 1000000000"),
        (["-m", "0x7fffffff"], "from 0 to 1073741824"),
        (["-a", "4096"], "from 0 to 1023"),
        (["-x", "1"], "-x"),
    ];
    for (args, says) in wrong {
        let said = publish(&args).fails(2);
        assert!(said.contains(says), "{args:?}: {said}");
    }
    assert!(thalweg(&["perf"]).fails(2).contains("jitter"));
    let topic = topic();
    let short = publish(&["-t", &topic, "-f", "1", "-m", "23"]).fails(2);
    let says = "thalweg: a message with a time stamp (-f 1) has at least 24 bytes, not 23 (-m)\n";
    assert_eq!(short, says);
    let long = publish(&["-t", &topic, "-m", "1000000", "-w", "0"]).fails(1);
    assert!(
        long.contains("a message of 1000000 bytes can never have room"),
        "{long}"
    );
    let nowhere = publish(&["-t", &topic, "-a", "1023", "-n", "1"]).fails(1);
    let says = "thalweg: cannot run on processor 1023: ";
    assert!(
        nowhere.starts_with(says) && nowhere.contains("may use 0"),
        "{nowhere}"
    );
    let named = publish(&["-t", &"x".repeat(65)]).fails(1);
    assert!(named.contains("at most 64 bytes"), "{named}");
}

#[test]
fn the_help_has_the_documents_letters() {
    for (program, letters) in [("pub", "hacfjlmnrtw"), ("sub", "hacfst")] {
        let help = thalweg(&["perf", program, "-h"]).ok();
        let options = help
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix('-'));
        let mut found: Vec<_> = options.filter_map(|option| option.chars().next()).collect();
        found.sort_unstable();
        let mut expected: Vec<_> = letters.chars().collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{help}");
    }
}

#[test]
fn a_wrong_file_is_said_with_line_and_column() {
    let scratch = Scratch::new();
    let good = scratch.write("good.toml", "receivers = 2\n");
    let wrong = scratch.write("wrong.toml", "receivers = 2\nrong_bytes = 1\n");
    let (good, wrong) = (
        good.to_str().expect("plain"),
        wrong.to_str().expect("plain"),
    );
    let expected = format!(
        "thalweg: {wrong}:2:1: there is no key `rong_bytes`; there are `ring_bytes`, `receivers`, \
         `huge_pages`\n"
    );
    for files in [
        vec!["-c", wrong],
        vec!["-c", good, "-c", wrong],
        vec!["-c", wrong, "-c", good],
    ] {
        assert_eq!(publish(&files).fails(2), expected);
        let said = thalweg(&[&["perf", "sub"], &files[..]].concat()).fails(2);
        assert_eq!(said, expected);
    }
}
