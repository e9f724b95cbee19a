//! Mixed mode with the system's Perl; where there is none these tests say so.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use compiler::SourceText;

use super::{SCRIPT_TIMEOUT, generate, generate_with};

fn has_perl() -> bool {
    let found = Command::new("perl").arg("-e1").status().is_ok();
    if !found {
        eprintln!("there is no Perl here: not tested");
    }
    found
}

fn of(template: &str, args: &[&str]) -> SourceText {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    generate(Path::new("some \"file\".splmm"), template.to_owned(), &args)
}

fn problems(source: &SourceText) -> Vec<(u32, bool, &str)> {
    let generated = source.generated.as_ref().unwrap();
    let problems = generated.problems.iter();
    problems
        .map(|p| (p.line, p.is_error, p.message.as_str()))
        .collect()
}

/// The text, and behind each line the line of the file.
fn numbered(source: &SourceText) -> String {
    let generated = source.generated.as_ref().unwrap();
    assert_eq!(problems(source), []);
    assert_eq!(source.text.split('\n').count(), generated.lines.len());
    let lines = source.text.split('\n').zip(&generated.lines);
    lines
        .map(|(text, line)| format!("{text}|{line}\n"))
        .collect()
}

#[test]
fn the_code_repeats_chooses_and_prints() {
    if !has_perl() {
        return;
    }
    let template = "<% use strict; my $count = $ARGV[0]; # how many\n\
        %>a 'quoted' \\ $text @here\n\
        <% for my $i (1..$count) {%>b<%=$i%>;\n\
        <% } if ($count > 1) { %>many\n\
        <% } else { %>one\n\
        <% }\n\
        print \"c\\n\", \"d\\n\";\n\
        printf('%s-%d', 'e', 1) %>\n\
        end";
    let source = of(template, &["2", "unused"]);
    assert_eq!(
        numbered(&source),
        "a 'quoted' \\ $text @here|2\nb1;|3\nb2;|3\nmany|4\nc|7\nd|7\ne-1|8\nend|9\n"
    );
}

/// Perl is asked: semicolons are put where they have to be, and nowhere else.
#[test]
fn code_ends_with_or_without_a_semicolon() {
    if !has_perl() {
        return;
    }
    let cases = [
        ("<% my $h = { a => 1 } %>a<%= $h->{a} %>", "a1"),
        (
            "<% my $h = { a => 1 } %><% my $x = 2 %><%= $h->{a} + $x %>",
            "3",
        ),
        (
            "<% my $h = { a => 1 } %><% while (delete $h->{a}) { %>b<% } %>",
            "b",
        ),
        ("<% my $x = 1 # the width; %><%= $x %>", "1"),
        ("<% my $x = 1 # { %><%= $x %>", "1"),
        ("<% my $x = 1 # }\n %><%= $x %>", "1"),
        ("<% my @x = map { 2 * $_ } (1, 2) %><%= \"@x\" %>", "2 4"),
        (
            "<% if (0) { %>a<% } %><% elsif (0) { %>b<% } # so %><% else { %>c<% } %>",
            "c",
        ),
        ("<% if (0) { %>a<% } %><% # or\n else { %>b<% } %>c", "bc"),
        (
            "<% my $x = 0; do { %>a<% } %><% while (++$x < 3); %>",
            "aaa",
        ),
        ("<% my $x = 0; do { %>a<% } while (++$x < 3) %>b", "aaab"),
        ("<% my %h = ( %><% a => 1, %><% b => 2) %><%= $h{b} %>", "2"),
        ("<% my $h = { %><% a => 1 }; %><%= $h->{a} %>", "1"),
        ("<% sub f { %>a<% } %><% f() %><% f %>", "aa"),
        (
            "<% for my $i (1..2) { if ($i > 1) { %>a<% } %><% } %>b",
            "ab",
        ),
        ("<% print <<E;\na\nE\n%>b", "a\nb"),
    ];
    for (template, text) in cases {
        let source = of(template, &[]);
        assert_eq!(problems(&source), [], "{template}");
        assert_eq!(source.text, text, "{template}");
    }
}

#[test]
fn values_of_several_lines_and_undefined_ones_are_text() {
    if !has_perl() {
        return;
    }
    let source = of("x <%= \"1\\n2\" %> <%= undef # none %> y\n<%= 3 %>", &[]);
    assert_eq!(numbered(&source), "x 1|1\n2  y|1\n3|2\n");
}

#[test]
fn text_is_what_it_was_whatever_the_code_prints() {
    if !has_perl() {
        return;
    }
    let source = of("$$ \u{e9} <% my $ref = ['v']; %><%= $$ref[0] %>", &[]);
    assert_eq!(source.text, "$$ \u{e9} v");
    for code in ["", "use utf8;", "use utf8; binmode(STDOUT, ':utf8');"] {
        let template = format!("<% {code} %>\u{e9} \u{20ac}\n");
        assert_eq!(of(&template, &[]).text, "\u{e9} \u{20ac}\n", "{code}");
    }
    let code = "use utf8; binmode(STDOUT, ':encoding(UTF-8)');";
    let template = format!("\u{e9}<% {code} %><%= '\u{20ac}' %>\u{e9}");
    assert_eq!(of(&template, &[]).text, "\u{e9}\u{20ac}\u{e9}");
}

/// Output of processes that the script starts keeps its place in the order.
#[test]
fn commands_print_in_order() {
    if !has_perl() {
        return;
    }
    let source = of("a\n<% system('echo b'); %>c\n", &[]);
    assert_eq!(source.text, "a\nb\nc\n");
}

#[test]
fn messages_of_perl_name_lines_of_the_file() {
    if !has_perl() {
        return;
    }
    let found = of("a\n<% my $x = ;\n%>", &[]);
    assert_eq!(
        problems(&found),
        [(2, true, "Perl: syntax error, near \"= ;\"")]
    );
    let found = of("a\n<%\nuse strict;\n$y = 1; %>", &[]);
    let (line, is_error, message) = problems(&found)[0];
    assert_eq!((line, is_error), (4, true));
    assert!(message.contains("Global symbol \"$y\""), "{message}");
    let found = of("a\n<% die 'it is over'; %>", &[]);
    assert_eq!(problems(&found), [(2, true, "Perl: it is over")]);
    let found = of("a\n<%\n die \"no place\\n\"; %>", &[]);
    assert_eq!(problems(&found), [(3, true, "Perl: no place")]);
    let found = of(
        "a\n<%\n print STDERR \"give \",\n\"a number\\n\";\n exit 1; %>",
        &[],
    );
    assert_eq!(problems(&found), [(5, true, "Perl: give a number")]);
    let found = of("a\n\n<% exit 3; %>", &[]);
    let expected = "the Perl code ended with exit status: 3";
    assert_eq!(problems(&found), [(3, true, expected)]);
    let found = of("a\n<% warn 'careful'; %>b", &[]);
    assert_eq!(problems(&found), [(2, false, "Perl: careful")]);
    assert_eq!(found.text, "a\nb");
}

#[test]
fn code_without_an_end_is_told_where_it_begins() {
    let found = of("a\n<% if (1) {", &[]);
    let expected = "the Perl code that begins here has no end";
    assert_eq!(problems(&found), [(2, true, expected)]);
}

#[test]
fn without_perl_there_is_one_clear_error() {
    let name = "no-such-perl";
    let found = generate_with(name, Path::new("x"), "a".to_owned(), &[], SCRIPT_TIMEOUT);
    let expected = "this file is SPL with Perl in it, and there is no `no-such-perl` to run";
    assert_eq!(problems(&found), [(1, true, expected)]);
}

/// Code that does not end is killed, with all processes that it has started.
#[test]
fn code_that_hangs_is_ended() {
    if !has_perl() {
        return;
    }
    for code in ["while (1) {}", "system('sleep 1000')", "sleep(1000)"] {
        let template = format!("a\n\n<% {code} %>");
        let timeout = Duration::from_millis(100);
        let found = generate_with("perl", Path::new("x"), template, &[], timeout);
        let problems = problems(&found);
        let expected = "the Perl code has not ended within 100ms";
        let [(_, true, message)] = problems[..] else {
            panic!("{problems:?}");
        };
        assert_eq!(message, expected, "{code}");
    }
}

#[test]
fn what_has_no_end_is_given_up() {
    if !has_perl() {
        return;
    }
    let found = of("<% while (1) { print 'x' x 65536 } %>", &[]);
    let expected = "the Perl code writes more than any program has";
    assert_eq!(problems(&found), [(1, true, expected)]);
}

#[test]
fn a_long_file_is_told_whole() {
    if !has_perl() {
        return;
    }
    let template = "// a line of text\n".repeat(20_000);
    let source = of(&template, &[]);
    assert_eq!(source.text, template);
    let lines = &source.generated.as_ref().unwrap().lines;
    assert!(lines.iter().copied().eq(1..=20_001));
}
