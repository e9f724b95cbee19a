//! Paths over a small document.

use super::*;

fn element(name: &str, text: &str, children: Vec<Element>) -> Element {
    let attributes = vec![("id".to_owned(), format!("{name}1"))];
    let mut element = Element::new(name, attributes);
    element.add_text(text, false);
    element.children = children;
    element
}

/// `<r id="r1"><a>x<b>y</b></a><c>z</c><a><b>w</b></a></r>`, each with an id.
fn document() -> Element {
    let first = element("a", "x", vec![element("b", "y", vec![])]);
    let second = element("a", "", vec![element("b", "w", vec![])]);
    element("r", "", vec![first, element("c", "z", vec![]), second])
}

fn texts(path: &str) -> Vec<String> {
    let path = Path::parse(path, Wanted::Text).unwrap();
    let document = document();
    let found = path.select(&document, Names::default());
    let texts = found.iter().map(|node| match node {
        Node::Text(text) => (*text).to_owned(),
        Node::Element(element) => panic!("{element:?}"),
    });
    texts.collect()
}

#[test]
fn paths_find_nodes_in_the_order_of_the_document() {
    assert_eq!(texts("a/b/text()"), ["y", "w"]);
    assert_eq!(texts("a/text()"), ["x"]);
    assert_eq!(texts("./@id"), ["r1"]);
    assert_eq!(texts("@id"), ["r1"]);
    assert_eq!(texts("a/@id | c/text()"), ["a1", "z", "a1"]);
    assert_eq!(texts("c/text()|a/text()"), ["x", "z"]);
    assert_eq!(texts("*/b/text()"), ["y", "w"]);
    assert_eq!(texts("*/text()"), ["x", "z"]);
    assert_eq!(texts("b/text()"), [""; 0]);
    assert_eq!(texts("a/@none"), [""; 0]);
    assert_eq!(texts("text()"), [""; 0]);
}

#[test]
fn triggers_lead_from_the_document() {
    let leads = |trigger: &str, path: &[&str]| {
        let trigger = Path::parse(trigger, Wanted::Trigger).unwrap();
        let way: Vec<Begun<'_>> = path.iter().map(|name| (*name, &[][..])).collect();
        trigger.leads_to(&way, Names::default())
    };
    assert!(leads("/r/a", &["r", "a"]));
    assert!(!leads("/r/a", &["r"]));
    assert!(!leads("/r/a", &["r", "a", "a"]));
    assert!(leads("/r/a|/r/b", &["r", "b"]));
    assert!(leads("/r/*", &["r", "c"]));
    assert!(leads("/r/./a", &["r", "a"]));
    assert!(leads("//a", &["r", "a"]));
    assert!(leads("//a", &["a"]));
    assert!(!leads("//a", &["a", "b"]));
    assert!(leads("/r//b", &["r", "a", "a", "b"]));
    assert!(leads("/r//a//b", &["r", "a", "x", "a", "b"]));
    assert!(!leads("/r//b", &["s", "a", "b"]));
}

#[test]
fn triggers_ask_for_attributes_on_their_way() {
    let trigger = Path::parse("/r[@k = 'v']/a[@n > '']", Wanted::Trigger);
    assert!(trigger.is_err(), "there is no order");
    let trigger = Path::parse("/r[@k = 'v']/a[@n]", Wanted::Trigger).unwrap();
    assert!(trigger.asks_attributes());
    let of = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let leads = |outer: &[(String, String)], inner: &[(String, String)]| {
        trigger.leads_to(&[("r", outer), ("a", inner)], Names::default())
    };
    assert!(leads(&of("k", "v"), &of("n", "")));
    assert!(!leads(&of("k", "w"), &of("n", "")));
    assert!(!leads(&of("k", "v"), &of("k", "v")));
}

#[test]
fn two_slashes_find_at_any_depth() {
    assert_eq!(texts(".//b/text()"), ["y", "w"]);
    assert_eq!(texts("a//text()"), ["x", "y", "w"]);
    assert_eq!(texts(".//@id"), ["r1", "a1", "b1", "c1", "a1", "b1"]);
    assert_eq!(texts(".//*//b/text()"), ["y", "w"]);
    assert_eq!(texts(".//a/@id"), ["a1", "a1"]);
}

#[test]
fn conditions_choose_elements() {
    assert_eq!(texts("a[2]/b/text()"), ["w"]);
    assert_eq!(texts("*[2]/text()"), ["z"]);
    assert_eq!(texts("a[last()]/b/text()"), ["w"]);
    assert_eq!(texts("a[3]/@id"), [""; 0]);
    assert_eq!(texts("a[b='y']/text()"), ["x"]);
    assert_eq!(texts("a[b != 'y']/b/text()"), ["w"]);
    assert_eq!(texts("a[text()]/@id"), ["a1"]);
    assert_eq!(texts("*[@id = \"c1\"]/text()"), ["z"]);
    assert_eq!(texts("*[@id='c1' or b = 'w']/@id"), ["c1", "a1"]);
    assert_eq!(texts("a[@id='a1' and b='w']/b/text()"), ["w"]);
    assert_eq!(texts("a[b][2]/b/text()"), ["w"]);
    assert_eq!(texts("*[. = 'z']/@id"), ["c1"]);
    assert_eq!(texts("a[@none]/@id"), [""; 0]);
    assert_eq!(texts("a[@none != 'x']/@id"), [""; 0]);
    assert_eq!(texts(".//b[1]/text()"), ["y", "w"]);
    assert_eq!(texts("c[. = 'a|b/]']/@id | c/@id"), ["c1"]);
}

#[test]
fn numbers_are_compared_as_numbers() {
    let mut document = element("r", "", vec![]);
    document.children = vec![element("n", " 5.0 ", vec![]), element("n", "x", vec![])];
    let found = |path: &str| {
        let path = Path::parse(path, Wanted::Element).unwrap();
        path.select(&document, Names::default()).len()
    };
    assert_eq!(found("n[. = 5]"), 1);
    assert_eq!(found("n[. = '5']"), 0);
    assert_eq!(found("n[. != 6]"), 2);
}

fn refused(cases: &[(&str, Wanted, &str)]) {
    for (path, wanted, why) in cases {
        let refused = Path::parse(path, *wanted).expect_err(path);
        assert_eq!(refused.message, *why);
    }
}

#[test]
fn what_is_more_of_xpath_is_refused() {
    refused(&[
        (
            "a[b()]/text()",
            Wanted::Text,
            "the path `a[b()]/text()` has a condition that is none",
        ),
        (
            "a///text()",
            Wanted::Text,
            "the path `a///text()` has a step without a name",
        ),
        (
            "../@id",
            Wanted::Text,
            "the path `../@id` has the step `..`",
        ),
        (
            "child::a/text()",
            Wanted::Text,
            "the path `child::a/text()` has an axis",
        ),
        (
            "/a/text()",
            Wanted::Text,
            "the path `/a/text()` begins with `/`",
        ),
        (
            "a/node()",
            Wanted::Element,
            "the path `a/node()` has a function or a node test other than `text()`",
        ),
    ]);
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    refused(&[
        (
            "a",
            Wanted::Text,
            "the path `a` leads to an element, not to text",
        ),
        (
            "@*",
            Wanted::Text,
            "the path `@*` leads to all attributes, not to one",
        ),
        (
            "text()/a",
            Wanted::Element,
            "the path `text()/a` goes on behind its end",
        ),
        (
            "a/@b",
            Wanted::Element,
            "the path `a/@b` leads to no element",
        ),
        (
            "a/text()",
            Wanted::Attributes,
            "the path `a/text()` leads to text, not to attributes",
        ),
        ("", Wanted::Element, "the path `` has a step without a name"),
        (
            "a|",
            Wanted::Element,
            "the path `` has a step without a name",
        ),
        ("a b", Wanted::Element, "`a b` in the path `a b` is no name"),
        (
            "a",
            Wanted::Trigger,
            "the trigger `a` does not begin with `/`",
        ),
        ("/.", Wanted::Trigger, "the trigger `/.` names no element"),
        (
            "/a/text()",
            Wanted::Trigger,
            "the path `/a/text()` leads to no element",
        ),
    ]);
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    refused(&[
        (
            "/a[2]",
            Wanted::Trigger,
            "the trigger `/a[2]` asks for more than attributes",
        ),
        (
            "//a/text()",
            Wanted::Text,
            "the path `//a/text()` begins with `/`",
        ),
        (
            "a/",
            Wanted::Element,
            "the path `a/` has a step without a name",
        ),
        (
            "a[0]",
            Wanted::Element,
            "the path `a[0]` has a condition that is none",
        ),
        (
            "a[1",
            Wanted::Element,
            "the path `a[1` has a condition that is none",
        ),
    ]);
}
