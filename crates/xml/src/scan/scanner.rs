//! The scanner: bytes in, tokens out, and a sentence where the text is not well-formed.
//!
//! Bytes may come in pieces that end anywhere. The scanner keeps the bytes of the item that is not
//! complete, and the names of the open elements.

use super::markup::{MarkupKind, TagParser, markup_at};
use super::text::{checked_text, expand_references, is_blank, normalize_line_ends};
use super::token::XmlToken;

/// Limits on documents, so that input from outside cannot use up memory and stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannerLimits {
    /// Depth to which elements nest at most.
    pub depth: usize,
    /// Greatest length in bytes of a tag, a text or a comment.
    pub item_bytes: usize,
}

/// Takes text apart. See the [module](super).
#[derive(Debug)]
pub struct Scanner {
    /// Bytes received; those before `next_item` have been read.
    input: Vec<u8>,
    next_item: usize,
    /// Number of bytes of the next item that were searched for its end in vain.
    searched: usize,
    /// Names of the open elements, outermost first.
    open_elements: Vec<String>,
    /// Whether the innermost open element was written as `<name/>`, so that its end follows.
    is_empty_tag: bool,
    state: DocumentState,
    /// Whether several documents may follow one another.
    allows_several: bool,
    /// Whether comments and instructions are given as tokens.
    keeps_comments: bool,
    limits: ScannerLimits,
    /// Line in which the current item begins.
    line: u64,
    next_line: u64,
}

/// Part of a document that the scanner has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentState {
    /// No byte of the document has come.
    NotStarted,
    /// The prolog has begun, and the root element has not.
    Prolog,
    /// The root element has begun.
    RootStarted,
}

impl Scanner {
    /// A scanner of one document.
    pub fn new(limits: ScannerLimits) -> Scanner {
        Scanner {
            input: Vec::new(),
            next_item: 0,
            searched: 0,
            open_elements: Vec::new(),
            is_empty_tag: false,
            state: DocumentState::NotStarted,
            allows_several: false,
            keeps_comments: false,
            limits,
            line: 1,
            next_line: 1,
        }
    }

    /// A scanner of documents that follow one another: after a root element another document may
    /// begin.
    pub fn for_several_documents(limits: ScannerLimits) -> Scanner {
        Scanner {
            allows_several: true,
            ..Scanner::new(limits)
        }
    }

    /// A scanner of one document that gives comments and instructions too.
    pub fn with_comments(limits: ScannerLimits) -> Scanner {
        Scanner {
            keeps_comments: true,
            ..Scanner::new(limits)
        }
    }

    /// Adds bytes to those that wait to be read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.next_item);
        self.next_item = 0;
        self.input.extend_from_slice(bytes);
    }

    /// Line of the document, from 1, in which the last token or error begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Drops all bytes and open elements: the next bytes begin a document.
    pub fn restart(&mut self) {
        *self = Scanner {
            allows_several: self.allows_several,
            keeps_comments: self.keeps_comments,
            ..Scanner::new(self.limits)
        };
    }

    /// Reads the next token; `None` if more bytes are needed.
    ///
    /// # Errors
    /// A sentence that says what is not well-formed. Only [`Scanner::restart`] may follow.
    pub fn token(&mut self) -> Result<Option<XmlToken>, String> {
        self.next(false)
    }

    /// Ends the input. All tokens must have been read before.
    ///
    /// # Errors
    /// If a document has begun and not ended, or if there is none and the scanner is for one
    /// document.
    pub fn end(&mut self) -> Result<(), String> {
        while self.next(true)?.is_some() {}
        if let Some(name) = self.open_elements.last() {
            return Err(format!("<{name}> is not closed"));
        }
        let is_between = self.state == DocumentState::NotStarted && self.allows_several;
        if self.state == DocumentState::RootStarted || is_between {
            Ok(())
        } else {
            Err("it has no element".to_owned())
        }
    }

    fn next(&mut self, at_end: bool) -> Result<Option<XmlToken>, String> {
        if std::mem::take(&mut self.is_empty_tag) {
            return Ok(self.close());
        }
        loop {
            self.line = self.next_line;
            if !self.skip_mark(at_end) {
                return Ok(None);
            }
            let rest = &self.input[self.next_item..];
            let Some(item) = markup_at(rest, at_end).filter(|_| !rest.is_empty()) else {
                return Ok(None);
            };
            let limit = self.limits.item_bytes;
            let len = match item.len(rest, self.searched) {
                Some(len) => len,
                None if at_end && item == MarkupKind::Text => rest.len(),
                None if at_end => return Err(format!("{} is missing", item.terminator())),
                None if rest.len() > limit => return Err(too_long(limit)),
                None => {
                    // A terminator has three bytes at most: two of them may have come.
                    self.searched = rest.len().saturating_sub(2);
                    return Ok(None);
                }
            };
            if len > limit {
                return Err(too_long(limit));
            }
            let bytes = self.next_item..self.next_item + len;
            let text = checked_text(&self.input[bytes])?.to_owned();
            (self.next_item, self.searched) = (self.next_item + len, 0);
            let token = self.read(item, &text)?;
            let is_over =
                self.state == DocumentState::NotStarted && self.allows_several && token.is_some();
            let lines = text.bytes().filter(|&b| b == b'\n').count() as u64;
            self.next_line = if is_over { 1 } else { self.line + lines };
            if token.is_some() {
                return Ok(token);
            }
        }
    }

    /// Skips byte order marks at the beginning. `false` if more bytes decide whether there is one.
    fn skip_mark(&mut self, at_end: bool) -> bool {
        const MARK: &[u8] = "\u{FEFF}".as_bytes();
        if self.state != DocumentState::NotStarted {
            return true;
        }
        while self.input[self.next_item..].starts_with(MARK) {
            self.next_item += MARK.len();
        }
        let rest = &self.input[self.next_item..];
        at_end || rest.is_empty() || !MARK.starts_with(rest)
    }

    fn read(&mut self, item: MarkupKind, text: &str) -> Result<Option<XmlToken>, String> {
        match item {
            MarkupKind::Comment => self.comment(text),
            MarkupKind::CData => self.text(
                normalize_line_ends(&text[9..text.len() - 3]).into_owned(),
                true,
            ),
            MarkupKind::Instruction => self.instruction(text),
            MarkupKind::DocType => self.doc_type(),
            MarkupKind::End => self.end_tag(&text[2..text.len() - 1]),
            MarkupKind::Start => self.start_tag(&text[1..text.len() - 1]),
            MarkupKind::Text if text.contains("]]>") => Err("`]]>` in text".to_owned()),
            MarkupKind::Text => self.text(expand_references(&normalize_line_ends(text))?, false),
        }
    }

    fn comment(&mut self, text: &str) -> Result<Option<XmlToken>, String> {
        let inside = &text[4..text.len() - 3];
        if inside.contains("--") {
            return Err("`--` in a comment".to_owned());
        }
        self.begin_document();
        let text = normalize_line_ends(inside).into_owned();
        Ok(self.keeps_comments.then_some(XmlToken::Comment { text }))
    }

    fn instruction(&mut self, text: &str) -> Result<Option<XmlToken>, String> {
        let inside = &text[2..text.len() - 2];
        let target = inside.split(is_blank).next().unwrap_or_default();
        if !target.eq_ignore_ascii_case("xml") {
            self.begin_document();
            let text = inside[target.len()..].trim_start_matches(is_blank);
            return Ok(self.keeps_comments.then(|| XmlToken::Instruction {
                target: target.to_owned(),
                text: normalize_line_ends(text).into_owned(),
            }));
        }
        if target != "xml" || self.state != DocumentState::NotStarted {
            return Err("an XML declaration inside".to_owned());
        }
        self.state = DocumentState::Prolog;
        let mut inside = TagParser { rest: &inside[3..] };
        let attributes = inside.attributes("?xml")?;
        let mut named = attributes.into_iter();
        let encoding = named.find(|(name, _)| name == "encoding");
        let encoding = encoding.map(|(_, value)| value);
        Ok(Some(XmlToken::Declaration { encoding }))
    }

    fn doc_type(&mut self) -> Result<Option<XmlToken>, String> {
        if self.state == DocumentState::RootStarted {
            return Err("a document type behind the beginning of the root element".to_owned());
        }
        self.state = DocumentState::Prolog;
        Ok(None)
    }

    /// Notes that a document has begun. Between documents it is open which one a comment belongs
    /// to.
    fn begin_document(&mut self) {
        if self.state == DocumentState::NotStarted && !self.allows_several {
            self.state = DocumentState::Prolog;
        }
    }

    fn text(&mut self, text: String, is_literal: bool) -> Result<Option<XmlToken>, String> {
        if !self.open_elements.is_empty() {
            return Ok(Some(XmlToken::Text {
                text,
                is_cdata: is_literal,
            }));
        }
        if is_literal || !text.chars().all(is_blank) {
            return Err("text outside of the root element".to_owned());
        }
        self.begin_document();
        Ok(None)
    }

    fn start_tag(&mut self, inside: &str) -> Result<Option<XmlToken>, String> {
        if self.state == DocumentState::RootStarted && self.open_elements.is_empty() {
            return Err("a second root element".to_owned());
        }
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let mut inside = TagParser { rest: inside };
        let name = inside.name()?;
        let attributes = inside.attributes(&name)?;
        if self.open_elements.len() == self.limits.depth {
            let depth = self.limits.depth;
            return Err(format!("elements nest deeper than {depth}"));
        }
        self.state = DocumentState::RootStarted;
        self.is_empty_tag = is_empty;
        self.open_elements.push(name.clone());
        Ok(Some(XmlToken::Start { name, attributes }))
    }

    fn end_tag(&mut self, inside: &str) -> Result<Option<XmlToken>, String> {
        let mut inside = TagParser { rest: inside };
        let name = inside.name()?;
        inside.skip_blanks();
        match self.open_elements.last() {
            Some(open) if *open == name && inside.rest.is_empty() => Ok(self.close()),
            Some(open) => Err(format!("</{name}> where <{open}> should be closed")),
            None => Err(format!("</{name}> closes nothing")),
        }
    }

    fn close(&mut self) -> Option<XmlToken> {
        let name = self.open_elements.pop()?;
        let is_root = self.open_elements.is_empty();
        if is_root && self.allows_several {
            self.state = DocumentState::NotStarted;
            self.next_line = 1;
        }
        Some(XmlToken::End { name, is_root })
    }
}

fn too_long(limit: usize) -> String {
    format!("a tag, a text or a comment of more than {limit} bytes")
}

#[cfg(test)]
mod tests {
    use crate::*;

    const LIMITS: ScannerLimits = ScannerLimits {
        depth: 4,
        item_bytes: 64,
    };

    /// All tokens of a text that comes in pieces of `piece` bytes, one token a line.
    fn tokens(text: &[u8], piece: usize) -> Result<String, String> {
        let mut scanner = Scanner::for_several_documents(LIMITS);
        let mut out = String::new();
        for piece in text.chunks(piece) {
            scanner.push(piece);
            while let Some(token) = scanner.token()? {
                match token {
                    XmlToken::Declaration { encoding } => out += &format!("?{encoding:?}\n"),
                    XmlToken::Start { name, attributes } => {
                        out += &format!("+{name}{attributes:?}\n")
                    }
                    XmlToken::End { name, is_root } => out += &format!("-{name} {is_root}\n"),
                    XmlToken::Text { text, .. } => out += &format!("={text:?}\n"),
                    aside => out += &format!("{aside:?}\n"),
                }
            }
        }
        scanner.end()?;
        Ok(out)
    }

    const DOCUMENTS: &str = "\u{FEFF}<?xml version='1.0' encoding='utf-8'?>\r\n\
        <!DOCTYPE a [<!-- don't --><!ENTITY e '>'>]><a b=\"1>'&lt;\n\">x&amp;\r\ny<!-- > -->\
        <![CDATA[<&\r\n]]><?p >?></a ><!-- c -->\n<\u{E9}/> <a><b/></a>";

    #[test]
    fn pieces_end_anywhere() {
        let whole = "?Some(\"utf-8\")\n+a[(\"b\", \"1>'< \")]\n=\"x&\\ny\"\n=\"<&\\n\"\n-a true\n\
                     +\u{E9}[]\n-\u{E9} true\n+a[]\n+b[]\n-b false\n-a true\n";
        for piece in 1..=DOCUMENTS.len() {
            let found = tokens(DOCUMENTS.as_bytes(), piece);
            assert_eq!(found.as_deref(), Ok(whole), "pieces of {piece}");
        }
    }

    #[test]
    fn asides_are_given_when_asked_for() {
        let mut scanner = Scanner::with_comments(LIMITS);
        scanner.push(b"<!-- a\r\n --><?p  q ?><a><!--b--></a><?r?>");
        let mut asides = Vec::new();
        while let Ok(Some(token)) = scanner.token() {
            match token {
                XmlToken::Comment { text } => asides.push(("", text)),
                XmlToken::Instruction { target, text } if target == "p" => asides.push(("p", text)),
                XmlToken::Instruction { text, .. } => asides.push(("r", text)),
                _ => {}
            }
        }
        let wanted = [("", " a\n "), ("p", "q "), ("", "b"), ("r", "")];
        assert_eq!(
            asides,
            wanted.map(|(target, text)| (target, text.to_owned()))
        );
        assert_eq!(scanner.end(), Ok(()));
    }

    #[test]
    fn what_is_cut_off_is_said() {
        for (text, why) in [
            ("<a>", "<a> is not closed"),
            ("<a", "> is missing"),
            ("<a><!-", "> is missing"),
            ("<a><!-- ", "--> is missing"),
            ("<a>x", "<a> is not closed"),
            ("<?xml version='1.0'?>", "it has no element"),
            ("<a/>x", "text outside of the root element"),
            ("<a/><?xml?><?xml?>", "an XML declaration inside"),
            ("<a><?xml?></a>", "an XML declaration inside"),
            ("<a>]]></a>", "`]]>` in text"),
            ("<a b='1'c='2'/>", "<a> is not well-formed"),
            ("<a b/>", "the attribute b has no value"),
        ] {
            for piece in 1..=text.len() {
                let found = tokens(text.as_bytes(), piece);
                assert_eq!(found, Err(why.to_owned()), "{text} in pieces of {piece}");
            }
        }
        assert_eq!(tokens(b" \n<!-- c --> ", 1).as_deref(), Ok(""));
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = "<a><a><a><a></a></a></a></a>";
        assert!(tokens(deep.as_bytes(), 1).is_ok());
        let deeper = format!("<a>{deep}</a>");
        let why = "elements nest deeper than 4";
        assert_eq!(tokens(deeper.as_bytes(), 9), Err(why.to_owned()));
        let why = "a tag, a text or a comment of more than 64 bytes";
        let long = format!("<a>{}</a>", "x".repeat(65));
        for piece in [1, 7, long.len()] {
            assert_eq!(tokens(long.as_bytes(), piece), Err(why.to_owned()));
        }
    }

    #[test]
    fn lines_are_those_of_the_document() {
        let mut scanner = Scanner::for_several_documents(LIMITS);
        scanner.push(b"<a>\n\n</a><b>\n<b></c>");
        while let Ok(Some(_)) = scanner.token() {}
        assert_eq!(scanner.line(), 2);
    }

    #[test]
    fn after_a_restart_a_document_begins() {
        let mut scanner = Scanner::for_several_documents(LIMITS);
        scanner.push(b"<a><b></c> and more");
        assert!((0..3).any(|_| scanner.token().is_err()));
        scanner.restart();
        scanner.push(b"<d/>");
        assert!(matches!(scanner.token(), Ok(Some(XmlToken::Start { .. }))));
        assert!(matches!(
            scanner.token(),
            Ok(Some(XmlToken::End { is_root: true, .. }))
        ));
        assert_eq!(scanner.end(), Ok(()));
    }
}
