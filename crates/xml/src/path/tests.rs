//! Paths over a small document.

use super::trigger::StartTag;
use super::*;
use crate::tree::XmlTree;

const DOCUMENT: &str = "<r id='r1'><a id='a1'>x<b id='b1'>y</b></a><c id='c1'>z</c>\
    <a id='a1'><b id='b1'>w</b></a></r>";

fn texts(path: &str) -> Vec<String> {
    let path = XmlPath::parse(path, PathTarget::Text).unwrap();
    let tree = XmlTree::parse(DOCUMENT.as_bytes()).unwrap();
    let found = path.select(tree.root_element().unwrap(), NameMatching::default());
    let texts = found.into_iter().map(|node| match node {
        SelectedNode::Text(text) => text.into_owned(),
        SelectedNode::Element(element) => panic!("{element:?}"),
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
    assert_eq!(texts("c/text() | c/text()"), ["z", "z"]);
}

#[test]
fn triggers_lead_from_the_document() {
    let leads = |trigger: &str, path: &[&str]| {
        let trigger = XmlPath::parse(trigger, PathTarget::Trigger).unwrap();
        let way: Vec<StartTag<'_>> = path.iter().map(|name| (*name, &[][..])).collect();
        trigger.leads_to(&way, NameMatching::default())
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
    let trigger = XmlPath::parse("/r[@k = 'v']/a[@n > '']", PathTarget::Trigger);
    assert!(trigger.is_err(), "there is no order");
    let trigger = XmlPath::parse("/r[@k = 'v']/a[@n]", PathTarget::Trigger).unwrap();
    assert!(trigger.needs_attributes());
    let of = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let leads = |outer: &[(String, String)], inner: &[(String, String)]| {
        trigger.leads_to(&[("r", outer), ("a", inner)], NameMatching::default())
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
    let tree = XmlTree::parse(b"<r><n> 5.0 </n><n>x</n></r>").unwrap();
    let root = tree.root_element().unwrap();
    let found = |path: &str| {
        let path = XmlPath::parse(path, PathTarget::Element).unwrap();
        path.select(root, NameMatching::default()).len()
    };
    assert_eq!(found("n[. = 5]"), 1);
    assert_eq!(found("n[. = '5']"), 0);
    assert_eq!(found("n[. != 6]"), 2);
}

fn refused(cases: &[(&str, PathTarget, &str)]) {
    for (path, wanted, why) in cases {
        let refused = XmlPath::parse(path, *wanted).expect_err(path);
        assert_eq!(refused.message, *why);
    }
}

#[test]
fn what_is_more_of_xpath_is_refused() {
    refused(&[
        (
            "a[b()]/text()",
            PathTarget::Text,
            "the path `a[b()]/text()` has a condition that is none",
        ),
        (
            "a///text()",
            PathTarget::Text,
            "the path `a///text()` has a step without a name",
        ),
        (
            "../@id",
            PathTarget::Text,
            "the path `../@id` has the step `..`",
        ),
        (
            "child::a/text()",
            PathTarget::Text,
            "the path `child::a/text()` has an axis",
        ),
        (
            "/a/text()",
            PathTarget::Text,
            "the path `/a/text()` begins with `/`",
        ),
        (
            "a/node()",
            PathTarget::Element,
            "the path `a/node()` has a function or a node test other than `text()`",
        ),
    ]);
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    refused(&[
        (
            "a",
            PathTarget::Text,
            "the path `a` leads to an element, not to text",
        ),
        (
            "@*",
            PathTarget::Text,
            "the path `@*` leads to all attributes, not to one",
        ),
        (
            "text()/a",
            PathTarget::Element,
            "the path `text()/a` goes on behind its end",
        ),
        (
            "a/@b",
            PathTarget::Element,
            "the path `a/@b` leads to no element",
        ),
        (
            "a/text()",
            PathTarget::Attributes,
            "the path `a/text()` leads to text, not to attributes",
        ),
        (
            "",
            PathTarget::Element,
            "the path `` has a step without a name",
        ),
        (
            "a|",
            PathTarget::Element,
            "the path `` has a step without a name",
        ),
        (
            "a b",
            PathTarget::Element,
            "`a b` in the path `a b` is no name",
        ),
        (
            "a",
            PathTarget::Trigger,
            "the trigger `a` does not begin with `/`",
        ),
        (
            "/.",
            PathTarget::Trigger,
            "the trigger `/.` names no element",
        ),
        (
            "/a/text()",
            PathTarget::Trigger,
            "the path `/a/text()` leads to no element",
        ),
    ]);
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    refused(&[
        (
            "/a[2]",
            PathTarget::Trigger,
            "the trigger `/a[2]` asks for more than attributes",
        ),
        (
            "//a/text()",
            PathTarget::Text,
            "the path `//a/text()` begins with `/`",
        ),
        (
            "a/",
            PathTarget::Element,
            "the path `a/` has a step without a name",
        ),
        (
            "a[0]",
            PathTarget::Element,
            "the path `a[0]` has a condition that is none",
        ),
        (
            "a[1",
            PathTarget::Element,
            "the path `a[1` has a condition that is none",
        ),
    ]);
}
