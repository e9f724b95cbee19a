//! The axes of XPath: which nodes of a tree a step begins with.

use crate::tree::{XmlNodeKind, XmlNodeRef};

/// A direction in the tree, seen from one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XPathAxis {
    Child,
    Descendant,
    Attribute,
    Itself,
    DescendantOrSelf,
    FollowingSibling,
    Following,
    Parent,
    Ancestor,
    PrecedingSibling,
    Preceding,
    AncestorOrSelf,
}

/// The nodes along an axis that pass a test, nearest first.
pub(crate) fn nodes_along<'t>(
    axis: XPathAxis,
    from: XmlNodeRef<'t>,
    test: impl Fn(XmlNodeRef<'t>) -> bool,
) -> Vec<XmlNodeRef<'t>> {
    let (index, end) = (from.index(), from.end());
    let of = |nodes: &mut dyn Iterator<Item = XmlNodeRef<'t>>| -> Vec<XmlNodeRef<'t>> {
        nodes.filter(|node| test(*node)).collect()
    };
    let itself = || std::iter::once(from);
    match axis {
        XPathAxis::Child => from.children().filter(|node| test(*node)).collect(),
        XPathAxis::Attribute => from.attributes().filter(|node| test(*node)).collect(),
        XPathAxis::Itself => of(&mut itself()),
        XPathAxis::Descendant => of(&mut descendants(from, index + 1, end)),
        XPathAxis::DescendantOrSelf => of(&mut itself().chain(descendants(from, index + 1, end))),
        XPathAxis::Parent => of(&mut from.parent().into_iter()),
        XPathAxis::Ancestor => of(&mut ancestors(from)),
        XPathAxis::AncestorOrSelf => of(&mut itself().chain(ancestors(from))),
        XPathAxis::FollowingSibling => {
            of(&mut siblings(from).filter(|other| other.index() > index))
        }
        XPathAxis::PrecedingSibling => {
            let before = siblings(from).filter(|other| other.index() < index);
            let before: Vec<_> = before.collect();
            of(&mut before.into_iter().rev())
        }
        // Nothing is below an attribute, and what its element contains follows it.
        XPathAxis::Following => of(&mut descendants(from, end, from.tree_len())),
        XPathAxis::Preceding => {
            let above: Vec<_> = ancestors(from).map(XmlNodeRef::index).collect();
            let before: Vec<_> = descendants(from, 0, index)
                .filter(|node| !above.contains(&node.index()))
                .collect();
            of(&mut before.into_iter().rev())
        }
    }
}

/// The nodes of an index range that are no attributes.
fn descendants(of: XmlNodeRef<'_>, begin: u32, end: u32) -> impl Iterator<Item = XmlNodeRef<'_>> {
    let all = (begin..end).map(move |index| of.at(index));
    all.filter(|node| node.kind() != XmlNodeKind::Attribute)
}

/// The parent, its parent and so on.
fn ancestors(of: XmlNodeRef<'_>) -> impl Iterator<Item = XmlNodeRef<'_>> {
    std::iter::successors(of.parent(), |node| node.parent())
}

/// The children of the parent; an attribute has no siblings.
fn siblings(of: XmlNodeRef<'_>) -> impl Iterator<Item = XmlNodeRef<'_>> {
    let parent = of.parent().filter(|_| of.kind() != XmlNodeKind::Attribute);
    parent.into_iter().flat_map(XmlNodeRef::children)
}
