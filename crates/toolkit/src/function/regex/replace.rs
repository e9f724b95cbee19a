//! Replacement of matches by a template.
//!
//! | flavour | group | whole match | itself |
//! | --- | --- | --- | --- |
//! | POSIX | `\1` to `\9` | none | everything else; `\\` is one backslash |
//! | ICU | `$1`, `${name}` | `$0` | `\` before a character |
//! | Perl | `$1`, `${1}`, `\1` | `$&`, `$0` | `\` before punctuation |
//!
//! Perl templates also know `$$`, `` $` ``, `$'`, `\n` and the like, `(...)` to group and
//! `?1 then : else`, which depends on whether the group took part.

use eval::Fault;

use super::compiled_pattern::{CompiledPattern, RegexFlavour};
use super::posix::CaptureGroups;

/// The text with the first match, or all of them, replaced.
///
/// POSIX patterns are matched again on what remains, so that `^` matches again, and an empty match
/// ends the replacing; the others go on after the match, past an empty one by one character.
pub(in crate::function) fn replace(
    pattern: &CompiledPattern,
    flavour: RegexFlavour,
    text: &[u8],
    template: &[u8],
    global: bool,
) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::with_capacity(text.len());
    let (mut done, mut from) = (0, 0);
    while from <= text.len()
        && let Some(groups) = pattern.groups(text, from)?
        && let Some(whole) = groups[0].clone()
    {
        if flavour == RegexFlavour::Posix && whole.is_empty() {
            break;
        }
        out.extend_from_slice(&text[done..whole.start]);
        let mut expansion = TemplateExpansion {
            text,
            groups: &groups,
            rest: template,
            out: &mut out,
        };
        expansion.write(flavour)?;
        done = whole.end;
        from = if whole.is_empty() {
            after_character(text, done)
        } else {
            done
        };
        if !global {
            break;
        }
    }
    out.extend_from_slice(&text[done..]);
    Ok(out)
}

/// All matches from left to right. The next one is looked for where the last one ends, one
/// character on if that was empty.
pub(in crate::function) fn all_matches(
    pattern: &CompiledPattern,
    text: &[u8],
) -> Result<Vec<CaptureGroups>, Fault> {
    let mut found = Vec::new();
    let mut from = 0;
    while from <= text.len()
        && let Some(groups) = pattern.groups(text, from)?
        && let Some(whole) = groups[0].clone()
    {
        found.push(groups);
        from = if whole.is_empty() {
            after_character(text, whole.end)
        } else {
            whole.end
        };
    }
    Ok(found)
}

/// The position one character on.
fn after_character(text: &[u8], at: usize) -> usize {
    let continues = |b: &&u8| **b & 0xC0 == 0x80;
    let next = text.get(at + 1..).unwrap_or_default();
    at + 1 + next.iter().take_while(continues).count()
}

/// Expansion of a template for one match.
struct TemplateExpansion<'a> {
    text: &'a [u8],
    groups: &'a CaptureGroups,
    /// Bytes of the template that were not read yet.
    rest: &'a [u8],
    out: &'a mut Vec<u8>,
}

/// Depth to which conditions and parentheses of a Perl template nest at most.
const DEPTH_MAX: usize = 64;

impl<'a> TemplateExpansion<'a> {
    fn write(&mut self, flavour: RegexFlavour) -> Result<(), Fault> {
        match flavour {
            RegexFlavour::Posix => self.posix(),
            RegexFlavour::Icu => self.icu(),
            RegexFlavour::PerlBytes | RegexFlavour::PerlPoints => self.perl(true, 0),
        }
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn group(&self, number: usize) -> Option<&'a [u8]> {
        let range = self.groups.get(number)?.clone()?;
        Some(&self.text[range])
    }

    /// Writes a group, nothing if it took no part; faults if the pattern has no such group.
    fn put_group(&mut self, number: usize) -> Result<(), Fault> {
        if number >= self.groups.len() {
            return Err(Fault::value(format!(
                "the replacement uses group {number} of a pattern with {}",
                self.groups.len() - 1
            )));
        }
        self.out
            .extend_from_slice(self.group(number).unwrap_or_default());
        Ok(())
    }

    fn posix(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.next() {
            match (byte, self.rest.first()) {
                (b'\\', Some(&digit @ b'1'..=b'9')) => {
                    self.next();
                    self.put_group((digit - b'0').into())?;
                }
                (b'\\', Some(b'\\')) => {
                    self.next();
                    self.out.push(b'\\');
                }
                _ => self.out.push(byte),
            }
        }
        Ok(())
    }

    fn icu(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => {
                    let escaped = self.next();
                    self.out.extend(escaped);
                }
                b'$' => {
                    let braced = self.rest.strip_prefix(b"{").is_some_and(|rest| {
                        self.rest = rest;
                        true
                    });
                    let number = self.number().ok_or_else(|| {
                        Fault::value(
                            "a \"$\" of the replacement has no group number; write \"\\$\"",
                        )
                    })?;
                    if braced && self.next() != Some(b'}') {
                        return Err(Fault::value("a \"${\" of the replacement is not closed"));
                    }
                    self.put_group(number)?;
                }
                _ => self.out.push(byte),
            }
        }
        Ok(())
    }

    /// A group number: as many digits as still name a group, at least one.
    fn number(&mut self) -> Option<usize> {
        let digit = |byte: Option<&u8>| byte.filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
        let mut number = usize::from(digit(self.rest.first())?);
        self.rest = &self.rest[1..];
        while let Some(more) = digit(self.rest.first()) {
            let longer = number * 10 + usize::from(more);
            if longer >= self.groups.len() {
                break;
            }
            number = longer;
            self.rest = &self.rest[1..];
        }
        Some(number)
    }

    /// Expands up to the end, or to the `)` or `:` that ends a nested part. What is not `wanted` is
    /// read over.
    fn perl(&mut self, wanted: bool, depth: usize) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::value("the replacement is nested too deeply"));
        }
        let mark = self.out.len();
        while let Some(&byte) = self.rest.first() {
            if depth > 0 && (byte == b')' || byte == b':') {
                break;
            }
            self.rest = &self.rest[1..];
            match byte {
                b'$' => self.dollar(),
                b'\\' => self.backslash(),
                b'(' => {
                    self.perl(true, depth + 1)?;
                    self.rest = self.rest.strip_prefix(b")").unwrap_or(self.rest);
                }
                b')' => {}
                b'?' => self.condition(depth)?,
                _ => self.out.push(byte),
            }
        }
        if !wanted {
            self.out.truncate(mark);
        }
        Ok(())
    }

    /// Writes the condition behind a `?`: the number of a group, the text if the group took part,
    /// the text if it did not.
    fn condition(&mut self, depth: usize) -> Result<(), Fault> {
        let Some(number) = self.number() else {
            self.out.push(b'?');
            return Ok(());
        };
        let matched = self.group(number).is_some();
        self.perl(matched, depth + 1)?;
        if let Some(rest) = self.rest.strip_prefix(b":") {
            self.rest = rest;
            self.perl(!matched, depth + 1)?;
        }
        Ok(())
    }

    fn dollar(&mut self) {
        let whole = self.groups[0].clone().unwrap_or_default();
        let part = match self.rest.first() {
            Some(b'$') => b"$",
            Some(b'&') => &self.text[whole],
            Some(b'`') => &self.text[..whole.start],
            Some(b'\'') => &self.text[whole.end..],
            Some(b'{') => return self.braced(),
            _ => {
                match self.number() {
                    Some(number) => self.put_if_any(number),
                    None => self.out.push(b'$'),
                }
                return;
            }
        };
        self.rest = &self.rest[1..];
        self.out.extend_from_slice(part);
    }

    fn braced(&mut self) {
        let before = self.rest;
        self.rest = &self.rest[1..];
        let number = self.number();
        match (number, self.next()) {
            (Some(number), Some(b'}')) => self.put_if_any(number),
            _ => {
                self.rest = before;
                self.out.push(b'$');
            }
        }
    }

    fn put_if_any(&mut self, number: usize) {
        self.out
            .extend_from_slice(self.group(number).unwrap_or_default());
    }

    fn backslash(&mut self) {
        if let Some(number) = self.number() {
            return self.put_if_any(number);
        }
        let escaped = self.next().unwrap_or(b'\\');
        self.out.push(match escaped {
            b'a' => 7,
            b'e' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            other => other,
        });
    }
}
