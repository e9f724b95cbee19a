//! Reading of types, as `xs:string` and `element(a)*`.

use super::super::atomic_value::AtomicType;
use super::super::failure::QueryResult;
use super::super::query::{SequenceType, XQueryItemType};
use super::namespace_scope::TYPES;
use super::query_parser::QueryParser;

impl QueryParser<'_> {
    /// Reads `as` and a type, if they are there.
    pub(super) fn declared_type(&mut self) -> QueryResult<Option<SequenceType>> {
        match self.cursor.take_words("as")? {
            true => self.sequence_type().map(Some),
            false => Ok(None),
        }
    }

    pub(super) fn sequence_type(&mut self) -> QueryResult<SequenceType> {
        self.cursor.skip_blanks()?;
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

    fn item_type(&mut self) -> QueryResult<Option<XQueryItemType>> {
        for (word, is_item) in [("empty-sequence", false), ("item", true)] {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.expect(")")?;
                return Ok(is_item.then_some(XQueryItemType::Any));
            }
        }
        match self.kind_test()? {
            Some(test) => Ok(Some(XQueryItemType::Node(test))),
            None => self.atomic_type().map(XQueryItemType::Atomic).map(Some),
        }
    }

    fn atomic_type(&mut self) -> QueryResult<AtomicType> {
        let begin = self.cursor;
        match self.cursor.prefixed() {
            Some((prefix, local)) if *self.namespaces.uri(prefix)? == *TYPES => {
                match AtomicType::from_name(local) {
                    Some(ty) => Ok(ty),
                    None => {
                        Err(begin
                            .failure_at(&format!("the type `{prefix}:{local}` is not supported")))
                    }
                }
            }
            _ => Err(begin.failure_at("a type is missing, as in `xs:string`")),
        }
    }

    /// Reads a type to cast to, and whether `?` follows it.
    pub(super) fn single_type(&mut self) -> QueryResult<(AtomicType, bool)> {
        self.cursor.skip_blanks()?;
        let ty = self.atomic_type()?;
        Ok((ty, self.cursor.take_exact("?")))
    }
}
