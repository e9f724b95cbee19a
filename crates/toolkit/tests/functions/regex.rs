//! Regular expressions.

use tuple::Type;

use crate::harness::*;

const MATCH: &str = "regexMatch(rstring str, rstring patt)";
const REPLACE: &str =
    "regexReplace(rstring str, rstring searchPatt, rstring substPatt, boolean global)";

#[track_caller]
fn posix<const N: usize>(text: &str, pattern: &str, expected: [&str; N]) {
    gives(MATCH, &[r(text), r(pattern)], strings(expected));
}

#[test]
fn posix_matches_are_leftmost_and_longest() {
    posix("xabcabc", "abc|abcabc", ["abcabc"]);
    posix("foobar", "foo|foob|fooba", ["fooba"]);
    posix("aaa", "(a|aa)*", ["aaa", "a"]);
    posix("abcd", "b|bc|a", ["a"]);
    posix("a\nb", "a.b", ["a\nb"]);
    posix(
        "key=value",
        "([a-z]+)=([a-z]*)",
        ["key=value", "key", "value"],
    );
    posix(
        "2011-04-05",
        "([0-9]{4})-([0-9]{2})-([0-9]{2})",
        ["2011-04-05", "2011", "04", "05"],
    );
    posix("nothing", "^thing$", []);
    posix("", "^$", [""]);
    posix("é", "^..$", ["é"]);
}

#[test]
fn posix_drops_groups_that_took_no_part() {
    posix("b", "(a)|(b)", ["b", "b"]);
    posix("ac", "(a)(b)?(c)", ["ac", "a", "c"]);
    posix("ac", "(a)(b*)(c)", ["ac", "a", "", "c"]);
}

#[test]
fn posix_syntax() {
    posix("a]b-c", "[]a-]+", ["a]"]);
    posix("x^y", "[x^]+", ["x^"]);
    posix("tab\tx", "[[:space:]][[:alpha:]]", ["\tx"]);
    posix("a\\d", "[\\d]+", ["\\d"]);
    posix("[.-.]", "[[.-.]]", ["-"]);
    posix("a)", "a)", ["a)"]);
    posix("aaaa", "a{2,3}", ["aaa"]);
    posix("ab", "a|", ["a"]);
    posix("foo_bar baz", "\\<b\\w+", ["baz"]);
    posix("a.b", "a\\.b", ["a.b"]);
    posix("abAB", "[^[:upper:]]+", ["ab"]);
    posix("ab", "()b", ["b", ""]);
}

#[test]
fn wrong_posix_patterns_fault() {
    let wrong = [
        ("(a", "not closed"),
        ("[a", "not closed"),
        ("*a", "nothing to repeat"),
        ("a|*", "nothing to repeat"),
        ("a{2,1}", "no number"),
        ("a{x}", "no number"),
        ("a{99999}", "no number"),
        ("a\\", "backslash"),
        ("[z-a]", "is empty"),
        ("[[:foo:]]", "no character class"),
        ("((((a{999}){999}){999}){999})", "too large"),
    ];
    for (pattern, words) in wrong {
        faults(MATCH, &[r("a"), r(pattern)], strings([""]).0, words);
    }
    faults(
        MATCH,
        &[r("a"), r("(".repeat(5000))],
        strings([""]).0,
        "nested",
    );
}

#[test]
fn posix_patterns_may_refer_back() {
    posix("xabab", "(ab)\\1", ["abab", "ab"]);
    posix("ab\nab", "(a.)\n\\1", ["ab\nab", "ab"]);
    posix("abba", "^(.)(.)\\2\\1$", ["abba", "a", "b"]);
    posix("abab", "(ab)\\1\\1", []);
}

#[track_caller]
fn replaced(text: &str, pattern: &str, template: &str, global: bool, expected: &str) {
    gives(
        REPLACE,
        &[r(text), r(pattern), r(template), boolean(global)],
        r(expected),
    );
}

#[test]
fn posix_replacement() {
    replaced("a-b-c", "-", "+", false, "a+b-c");
    replaced("a-b-c", "-", "+", true, "a+b+c");
    replaced(
        "john smith",
        "([a-z]+) ([a-z]+)",
        "\\2, \\1",
        false,
        "smith, john",
    );
    replaced("aaa", "^a", "b", true, "bbb");
    replaced("abc", "x*", "-", true, "abc");
    replaced("a&b", "&", "<&\\0\\\\>", true, "a<&\\0\\>b");
    replaced("none", "x", "y", true, "none");
    let args = [r("a"), r("a"), r("\\1"), boolean(true)];
    faults(REPLACE, &args, Type::RString, "group 1");
}

#[test]
fn perl_matches() {
    let f = "regexMatchPerl(rstring str, rstring patt)";
    gives(f, &[r("abcabc"), r("abc|abcabc")], strings(["abc"]));
    gives(
        f,
        &[r("x=12, y=3"), r(r"(\w)=(\d+)")],
        strings(["x=12", "x", "12"]),
    );
    gives(
        f,
        &[r("ac"), r("(a)(b)?(c)")],
        strings(["ac", "a", "", "c"]),
    );
    gives(f, &[r("abab"), r(r"(ab)\1")], strings(["abab", "ab"]));
    gives(f, &[r("price: 5 EUR"), r(r"\d+(?= EUR)")], strings(["5"]));
    gives(f, &[r("aXbX"), r("a.*?X")], strings(["aX"]));
    gives(f, &[r("one\ntwo"), r("^two$")], strings(["two"]));
    gives(f, &[r("one\ntwo"), r("e.t")], strings(["e\nt"]));
    gives(f, &[r("HeLLo"), r("(?i)hello")], strings(["HeLLo"]));
    gives(f, &[r("é"), r("^..$")], strings(["é"]));
    gives(f, &[r("né"), r("[é]+")], strings(["é"]));
    gives(f, &[r(b"\xFFa"), r(".a")], list([r(b"\xFFa")]));
    gives(f, &[r("abc"), r("x")], empty(Type::RString));
    faults(f, &[r("a"), r("(")], strings([""]).0, "wrong");
}

#[test]
fn ustring_matches_see_code_points() {
    let icu = "regexMatch(ustring str, ustring patt)";
    gives(icu, &[u("a😀b"), u("a(.)b")], ustrings(["a😀b", "😀"]));
    gives(
        icu,
        &[u("ac"), u("(a)(b)?(c)")],
        ustrings(["ac", "a", "", "c"]),
    );
    gives(icu, &[u("a\nb"), u("a.b")], empty(Type::UString));
    gives(icu, &[u("Größe"), u(r"^\w+$")], ustrings(["Größe"]));
    let perl = "regexMatchPerl(ustring str, ustring patt)";
    gives(perl, &[u("a\nb"), u("a.b")], ustrings(["a\nb"]));
    gives(perl, &[u("éé"), u(r"(é)\1")], ustrings(["éé", "é"]));
}

#[test]
fn ustring_replacement_uses_dollars() {
    let f = "regexReplace(ustring str, ustring searchPatt, ustring substPatt, boolean global)";
    let case =
        |text, pattern, template, global| [u(text), u(pattern), u(template), boolean(global)];
    gives(
        f,
        &case("john smith", r"(\w+) (\w+)", "$2, $1", false),
        u("smith, john"),
    );
    gives(f, &case("a1b2", r"\d", r"<$0\$>", true), u("a<1$>b<2$>"));
    gives(f, &case("éa", "x*", "-", true), u("-é-a-"));
    gives(f, &case("ab", "(a)", "$12", true), u("a2b"));
    faults(
        f,
        &case("a", "a", "$x", true),
        Type::UString,
        "group number",
    );
    faults(f, &case("a", "a", "$1", true), Type::UString, "group 1");
}

#[test]
fn perl_replacement() {
    let f = "regexReplacePerl(rstring str, rstring searchPatt, rstring substPatt, boolean global)";
    let case =
        |text, pattern, template, global| [r(text), r(pattern), r(template), boolean(global)];
    gives(
        f,
        &case("john smith", r"(\w+) (\w+)", "$2, \\1", false),
        r("smith, john"),
    );
    gives(f, &case("a.b.c", r"\.", "$&$&", true), r("a..b..c"));
    gives(f, &case("a1", r"(\d)", "<${1}0>", true), r("a<10>"));
    gives(f, &case("ab", "(a)|(b)", "?1A:B", true), r("AB"));
    gives(f, &case("xay", "a", "[$`|$']", true), r("x[x|y]y"));
    gives(f, &case("a", "a", r"\n\(\)$$", true), r("\n()$"));
    gives(f, &case("ab", "b", "(c)d", true), r("acd"));
    gives(f, &case("ab", "", "-", true), r("-a-b-"));
    let f = "regexReplacePerl(ustring str, ustring searchPatt, ustring substPatt, boolean global)";
    let args = [u("😀a"), u("(.)a"), u("$1b"), boolean(true)];
    gives(f, &args, u("😀b"));
}

#[test]
fn many_patterns_pass_through_the_cache() {
    for n in 0..400 {
        posix(
            &format!("x{n}y"),
            &format!("x({})y", n),
            [&format!("x{n}y"), &format!("{n}")],
        );
    }
    posix("x3y", "x(3)y", ["x3y", "3"]);
}
