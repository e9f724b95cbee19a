//! Types: `xs:string`, `element(a)*`.

use super::super::Outcome;
use super::super::atomic::Type;
use super::super::query::{ItemType, SequenceType};
use super::Parser;
use super::names::TYPES;

impl Parser<'_> {
    /// `as` and a type, if they are there.
    pub(super) fn declared_type(&mut self) -> Outcome<Option<SequenceType>> {
        match self.cursor.take_words("as")? {
            true => self.sequence_type().map(Some),
            false => Ok(None),
        }
    }

    pub(super) fn sequence_type(&mut self) -> Outcome<SequenceType> {
        self.cursor.blanks()?;
        let begin = self.cursor.rest;
        let item = self.item_type()?;
        let sign = self.cursor.peek().filter(|c| "?*+".contains(*c));
        if sign.is_some() {
            self.cursor.skip();
        }
        let text = begin[..begin.len() - self.cursor.rest.len()].to_owned();
        Ok(SequenceType {
            text,
            may_be_empty: item.is_none() || matches!(sign, Some('?' | '*')),
            may_be_several: matches!(sign, Some('*' | '+')),
            item,
        })
    }

    fn item_type(&mut self) -> Outcome<Option<ItemType>> {
        for (word, is_item) in [("empty-sequence", false), ("item", true)] {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.expect(")")?;
                return Ok(is_item.then_some(ItemType::Any));
            }
        }
        match self.kind_test()? {
            Some(test) => Ok(Some(ItemType::Node(test))),
            None => self.atomic_type().map(ItemType::Atomic).map(Some),
        }
    }

    fn atomic_type(&mut self) -> Outcome<Type> {
        let begin = self.cursor;
        match self.cursor.prefixed() {
            Some((prefix, local)) if *self.names.uri(prefix)? == *TYPES => match Type::named(local)
            {
                Some(ty) => Ok(ty),
                None => Err(begin.wrong(&format!("the type `{prefix}:{local}` is not supported"))),
            },
            _ => Err(begin.wrong("a type is missing, as in `xs:string`")),
        }
    }

    /// A type to cast to, and whether `?` stands behind it.
    pub(super) fn single_type(&mut self) -> Outcome<(Type, bool)> {
        self.cursor.blanks()?;
        let ty = self.atomic_type()?;
        Ok((ty, self.cursor.take_exact("?")))
    }
}
