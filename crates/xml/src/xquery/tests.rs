//! Queries with their results, one a line.

use super::{QueryFailure, run};

const BOOKS: &str = "<?xml version='1.0'?><books xmlns:n='urn:n' year='2020'><!--two-->\
    <book id='b1' price='10.5'><title>A &amp; B</title><n:tag>x</n:tag><author>Lee</author></book>\
    <book id='b2' price='9'><title>Cats</title><author>Ann</author><author>Bo</author></book>\
    <?keep it?></books>";

fn find_in(document: &str, query: &str) -> Result<Vec<String>, QueryFailure> {
    run(document.as_bytes(), query, &|name| match name {
        "id" => Some("b2".to_owned()),
        "count" => Some("41".to_owned()),
        _ => None,
    })
}

/// Asserts the result of a query on [`BOOKS`], with `|` between the items.
#[track_caller]
fn finds(query: &str, wanted: &str) {
    match find_in(BOOKS, query) {
        Ok(found) => assert_eq!(found.join("|"), wanted, "{query}"),
        Err(why) => panic!("{query}: {why}"),
    }
}

#[track_caller]
fn fails(query: &str, wanted: &str) {
    let found = find_in(BOOKS, query).expect_err(query).to_string();
    assert!(found.contains(wanted), "{query}: {found}");
}

#[test]
fn paths_and_axes() {
    finds("/books/book/title/text()", "A & B|Cats");
    finds(
        "/books/book[2]/title",
        "<title xmlns:n=\"urn:n\">Cats</title>",
    );
    finds("//author[1]/text()", "Lee|Ann");
    finds("(//author)[2]/text()", "Ann");
    finds("/books/@year", "2020");
    finds("//book[@id = 'b2']/author/text()", "Ann|Bo");
    finds("//book[@price < 10]/@id", "b2");
    finds("//book[author = 'Lee' or title eq 'x']/@id", "b1");
    finds("//title/../@id", "b1|b2");
    finds("//book[last()]/preceding-sibling::*/@id", "b1");
    finds("//author/ancestor::books/@year", "2020");
    finds(
        "//author[text() = 'Bo']/preceding-sibling::*[1]/text()",
        "Ann",
    );
    finds("//title[. = 'Cats']/following::author/text()", "Ann|Bo");
    finds("//book[1]/following-sibling::book/self::book/@id", "b2");
    finds("count(//author/preceding::node())", "12");
    finds("/descendant::author[2]/text()", "Ann");
    finds(
        "/books/comment(), /books/processing-instruction()",
        "two|it",
    );
    finds("//book[2]/*[position() >= 2]/text()", "Ann|Bo");
    finds("//*:tag/text(), //@*[name() = 'price']", "x|10.5|9");
    finds("//book[author][not(author[2])]/@id", "b1");
    finds(
        "/",
        &BOOKS[BOOKS.find("<books").unwrap()..].replace('\'', "\""),
    );
    finds("//book/(title | author)/text()", "A & B|Lee|Cats|Ann|Bo");
    finds(
        "//author except //author[1]",
        "<author xmlns:n=\"urn:n\">Bo</author>",
    );
    finds("//nothing", "");
}

#[test]
fn namespaces() {
    let orders = "<Orders xmlns='http://example.com'><Transaction TxID='100' TxType='return'>\
                  <Item count='3'>Shorts</Item></Transaction></Orders>";
    let path = "/Orders/Transaction[@TxType = 'return']/Item";
    assert_eq!(find_in(orders, path), Ok(Vec::new()));
    let declared = format!("declare default element namespace 'http://example.com'; {path}/text()");
    assert_eq!(find_in(orders, &declared), Ok(vec!["Shorts".to_owned()]));
    let prefixed = "declare namespace e = \"http://example.com\"; //e:Item";
    let item = "<Item xmlns=\"http://example.com\" count=\"3\">Shorts</Item>";
    assert_eq!(find_in(orders, prefixed), Ok(vec![item.to_owned()]));
    finds("declare namespace m = 'urn:n'; //m:tag/name()", "n:tag");
    finds(
        "declare namespace m = 'urn:n'; //m:*/namespace-uri()",
        "urn:n",
    );
    finds(
        "<a xmlns='urn:a'><b/>{//*:author[. = 'Bo']}</a>",
        "<a xmlns=\"urn:a\"><b/><author xmlns:n=\"urn:n\" xmlns=\"\">Bo</author></a>",
    );
    finds(
        "declare namespace p = 'urn:p'; <p:a p:b='1'/>",
        "<p:a xmlns:p=\"urn:p\" p:b=\"1\"/>",
    );
    fails("//m:tag", "`m:` stands for nothing");
    assert_eq!(
        find_in("<p:a/>", "/").map_err(|why| why.to_string()),
        Err("the query fails: no namespace is declared for `p:`".to_owned())
    );
}

#[test]
fn numbers_and_comparisons() {
    finds("1 + 2 * 3 - 4 idiv 3", "6");
    finds("(1 + 2) * 3, -(2), - - 2, 7 mod 3, -7 mod 3", "9|-2|2|1|-1");
    finds(
        "7 div 2, 0.1 + 0.2, 1e3, 1.5e6, 1 div 3.0",
        "3.5|0.3|1000|1.5E6|0.3333333333333333333333333333333333",
    );
    finds("//book/(@price * 2)", "21|18");
    finds(
        "sum(//@price), avg((1, 2)), max(//@price), min((3, 2))",
        "19.5|1.5|10.5|2",
    );
    finds("1 to 3, reverse(1 to 3), count(5 to 1)", "1|2|3|3|2|1|0");
    finds(
        "(1, 2) = (2, 3), (1, 2) != (1, 2), () = 1, 'a' < 'b', 1 eq 1.0",
        "true|true|false|true|true",
    );
    finds("() eq 1, 1 lt 2 and not(2 le 1)", "true");
    finds(
        "(//title)[1] is (//title)[1], (//title)[1] << (//title)[2]",
        "true|true",
    );
    finds(
        "round(2.5), round(-2.5), floor(-1.5), ceiling(1.2), abs(-3), round(0.49999999999999994e0)",
        "3|-2|-2|2|3|0",
    );
    finds(
        "number('x'), 1e0 div 0, xs:double('-INF'), 0.00000012e0",
        "NaN|INF|-INF|1.2E-7",
    );
    finds(
        "1000000 * 1e0, 123456.5e0, 100.50, 0.0",
        "1.0E6|123456.5|100.5|0",
    );
    fails("1 div 0", "division by 0");
    fails("9223372036854775807 + 1", "too large");
    fails("'a' + 1", "`a` (xs:string) is not a number");
    fails("//title + 1", "one item at most, and there are 2");
    fails("1 = 'a'", "cannot be compared");
    fails("1 to 100000000", "a sequence of more than 16777216 items");
}

#[test]
fn flwor() {
    finds(
        "for $b in /books/book order by xs:decimal($b/@price) return string($b/title)",
        "Cats|A & B",
    );
    finds(
        "for $b at $i in //book let $n := count($b/author) where $n > 1 \
         return <r i=\"{$i}\" n='{$n}-{{}}'>{data($b/@id)}</r>",
        "<r i=\"2\" n=\"2-{}\">b2</r>",
    );
    finds(
        "for $x in (3, 1, 2), $y in (10, 20) order by $y descending, $x return $x + $y",
        "21|22|23|11|12|13",
    );
    finds(
        "for $x in (1, 2) for $x in ($x, $x * 10) return $x",
        "1|10|2|20",
    );
    finds("let $x := (1, 2), $y := count($x) return ($x, $y)", "1|2|2");
    finds(
        "for $a in //author order by string($a) descending empty greatest return $a/text()",
        "Lee|Bo|Ann",
    );
    finds(
        "for $x in (2, 1) order by $x for $y in ('a', 'b') order by $y return concat($x, $y)",
        "1a|2a|1b|2b",
    );
    finds("some $x in (1, 2), $y in (2, 3) satisfies $x = $y", "true");
    finds("every $b in //book satisfies $b/author", "true");
    finds(
        "if (count(//book) > 1) then 'many' else if (//book) then 'one' else 'none'",
        "many",
    );
    fails(
        "for $x in (1, 'a') order by $x return $x",
        "cannot be compared",
    );
    fails(
        "for $x in 1 group by $x return $x",
        "this clause is not supported",
    );
}

#[test]
fn variables() {
    finds(
        "declare variable $id external; //book[@id = $id]/title/text()",
        "Cats",
    );
    finds("//book[@id = $id]/title/text()", "Cats");
    finds(
        "declare variable $count as xs:integer external; $count + 1",
        "42",
    );
    finds(
        "declare variable $a := 2; declare variable $b as xs:integer := $a * 2; $a + $b",
        "6",
    );
    fails("$none", "the variable $none has no value");
    fails(
        "declare variable $none external; 1",
        "the variable $none has no value",
    );
    fails(
        "declare variable $id as xs:integer external; 1",
        "`b2` cannot be made to xs:integer",
    );
}

#[test]
fn functions() {
    finds(
        "concat('a', 1, ()), string-join(('a', 'b'), '-'), 'a' || 1",
        "a1|a-b|a1",
    );
    finds(
        "substring('12345', 2, 3), substring('12345', 1.5, 2.6), substring('12345', 0)",
        "234|234|12345",
    );
    finds(
        "substring-before('a=b', '='), substring-after('a=b', '='), string-length('\u{fc}b')",
        "a|b|2",
    );
    finds(
        "upper-case('a'), lower-case('B'), translate('bar', 'abc', 'AB'), normalize-space(' a  b ')",
        "A|b|BAr|a b",
    );
    finds(
        "contains('abc', 'b'), starts-with('abc', 'b'), ends-with('abc', 'bc')",
        "true|false|true",
    );
    finds(
        "matches('abc', '^A', 'i'), replace('a1b22', '([0-9]+)', '<$1>'), tokenize('a, b', ',\\s*')",
        "true|a<1>b<22>|a|b",
    );
    finds(
        "distinct-values((1, 1.0, 'a', 'a')), index-of((1, 2, 1), 1)",
        "1|a|1|3",
    );
    finds(
        "subsequence((1, 2, 3), 2), remove((1, 2), 1), insert-before((1, 2), 2, 9), head((1, 2)), tail((1, 2))",
        "2|3|2|1|9|2|1|2",
    );
    finds(
        "empty(()), exists(()), boolean('a'), true(), string(true())",
        "true|false|true|true|true",
    );
    finds("//title/string-length()", "5|4");
    finds(
        "name(/*), local-name((//*)[4]), count(root(//book[1])/books)",
        "books|tag|1",
    );
    finds(
        "xs:integer('7') + 1, '8' cast as xs:decimal, 'x' castable as xs:integer, () castable as xs:string?",
        "8|8|false|true",
    );
    finds(
        "1 instance of xs:decimal, (1, 2) instance of xs:integer+, /* instance of element(books)",
        "true|true|true",
    );
    fails("nothing(1)", "there is no function `nothing`");
    fails("contains('a')", "`contains` does not take 1 arguments");
    fails(
        "replace('a', '(', 'b')",
        "the regular expression `(` is wrong",
    );
    fails("xs:date('2020-01-01')", "there is no such function");
}

#[test]
fn constructors() {
    finds(
        "<a b='x{1 + 1}y{\"z\"}'> {1, 2} {3}<c/>t &lt; {{}}<![CDATA[<]]></a>",
        "<a b=\"x2yz\">1 23<c/>t &lt; {}&lt;</a>",
    );
    finds(
        "<a>{/books/@year}{//book[2]/title}</a>",
        "<a year=\"2020\"><title xmlns:n=\"urn:n\">Cats</title></a>",
    );
    finds(
        "<a> <b/> </a>, <a>&#x20;<b/></a>",
        "<a><b/></a>|<a> <b/></a>",
    );
    finds(
        "declare boundary-space preserve; <a> <b/></a>",
        "<a> <b/></a>",
    );
    finds(
        "element a { attribute b { 1, 2 }, text { 'x' }, comment { 'c' } }",
        "<a b=\"1 2\">x<!--c--></a>",
    );
    finds(
        "<a b='&quot;&amp;&lt;'/>/@b, (<a><b>1</b></a>)/b/text()",
        "\"&<|1",
    );
    finds("count((<a/>, <b/>)/..)", "0");
    fails("<a>", "an element is not closed");
    fails("<a></b>", "the end of another element");
    fails("<a b='1' b='2'/>", "the attribute `b` twice");
    fails("<a>x{attribute b {1}}</a>", "stands behind contents");
    fails("element {'a'} {1}", "a computed name is not supported");
}

#[test]
fn what_is_not_understood_is_said() {
    for (query, why) in [
        ("", "an expression is missing, at its end"),
        ("/books/", "an expression is missing, at its end"),
        ("//book[", "an expression is missing"),
        ("//book[1", "`]` is missing, at its end"),
        ("1 +", "an expression is missing"),
        ("(1, 2", "`)` is missing"),
        ("'abc", "a text is not closed"),
        ("'&x'", "`&` begins no reference"),
        ("1 2", "nothing more is expected here, at `2`"),
        ("1 = 2 = 3", "compared once more"),
        ("(: (: :)", "a comment is not closed"),
        (
            "declare function local:f() { 1 }; 1",
            "this declaration is not supported",
        ),
        (
            "import module namespace a = 'b'; 1",
            "an import is not supported",
        ),
        (
            "typeswitch (1) default return 2",
            "a switch is not supported",
        ),
        ("xquery version '9'; 1", "XQuery 9 is not supported"),
        ("99999999999999999999", "this number is too large"),
    ] {
        fails(query, why);
    }
    assert!(matches!(find_in(BOOKS, "1 +"), Err(QueryFailure::Query(_))));
    assert!(matches!(
        find_in(BOOKS, "1 div 0"),
        Err(QueryFailure::Value(_))
    ));
    assert!(matches!(find_in("", "1"), Err(QueryFailure::Value(_))));
}

#[test]
fn chains_are_long_and_nesting_is_bounded() {
    finds(&format!("1{}", " + 1".repeat(20_000)), "20001");
    finds(&format!("0{}", " or 0".repeat(20_000)), "false");
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    finds(&nested(60), "1");
    for depth in [100, 100_000] {
        fails(&nested(depth), "expressions nest deeper than 64");
    }
    let clauses = |clause: &str, count| format!("{} return 1", clause.repeat(count));
    for clause in ["let $a := 1 ", "for $a in 1 ", "where 1 ", "order by 1 "] {
        let query = format!("let $z := 1 {}", clauses(clause, 900));
        finds(&query, "1");
        let query = format!("let $z := 1 {}", clauses(clause, 100_000));
        fails(&query, "it has more than 1000 clauses");
    }
    let some = |count| format!("some {} satisfies 1", vec!["$a in 1"; count].join(", "));
    finds(&some(900), "true");
    fails(&some(100_000), "it has more than 1000 clauses");
    fails(&"<a>".repeat(100_000), "expressions nest deeper than 64");
    fails(&"<a b='{".repeat(1_000), "expressions nest deeper than 64");
    let deep = format!("{}x{}", "<a>".repeat(1_000), "</a>".repeat(1_000));
    assert_eq!(
        find_in(&deep, "/").map(|found| found == [deep.clone()]),
        Ok(true)
    );
    assert_eq!(find_in(&deep, "count(//a)"), Ok(vec!["1000".to_owned()]));
}

#[test]
fn texts_are_bounded() {
    for twice in ["concat($s, $s)", "string-join(($s, $s), '-')", "$s || $s"] {
        let lets = format!("let $s := {twice} ").repeat(40);
        fails(
            &format!("let $s := 'x' {lets} return 1"),
            "a text of more than",
        );
    }
}

#[test]
fn comments_and_blanks_are_skipped() {
    finds("(: a (: b :) :) 1 (: c :) + (: d :) 2", "3");
    finds("//book [ @id = 'b1' ] / title / text( )", "A & B");
}
