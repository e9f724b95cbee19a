//! What may stand before the expression: version, namespaces, variables.

use super::super::Outcome;
use super::super::query::Declared;
use super::Parser;

impl Parser<'_> {
    /// The variables that are declared.
    pub(super) fn prolog(&mut self) -> Outcome<Vec<Declared>> {
        self.version()?;
        let mut variables = Vec::new();
        loop {
            let cursor = &mut self.cursor;
            if cursor.take_words("declare namespace")? {
                cursor.blanks()?;
                let Some(prefix) = cursor.word() else {
                    return Err(cursor.wrong("a prefix is missing"));
                };
                cursor.expect("=")?;
                let uri = cursor.string()?;
                self.names.declare(prefix, &uri);
            } else if cursor.take_words("declare default element namespace")? {
                let uri = cursor.string()?;
                self.names.declare("", &uri);
            } else if cursor.take_words("declare boundary-space")? {
                self.keeps_blanks = cursor.take_words("preserve")?;
                if !self.keeps_blanks {
                    cursor.expect_word("strip")?;
                }
            } else if cursor.take_words("declare variable")? {
                variables.push(self.declared()?);
            } else if cursor.take_words("declare")? {
                return self.refused("this declaration");
            } else if cursor.take_words("import module")? || cursor.take_words("import schema")? {
                return self.refused("an import");
            } else if cursor.take_words("module namespace")? {
                return self.refused("a module");
            } else {
                return Ok(variables);
            }
            self.cursor.expect(";")?;
        }
    }

    fn version(&mut self) -> Outcome<()> {
        if self.cursor.take_words("xquery version")? {
            let version = self.cursor.string()?;
            if !matches!(&version[..], "1.0" | "3.0" | "3.1") {
                return self.refused(&format!("XQuery {version}"));
            }
            if self.cursor.take_words("encoding")? {
                self.cursor.string()?;
            }
            self.cursor.expect(";")?;
        }
        Ok(())
    }

    /// Behind `declare variable`.
    fn declared(&mut self) -> Outcome<Declared> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        let value = match self.cursor.take_words("external")? {
            true => None,
            false => {
                self.cursor.expect(":=")?;
                Some(self.single()?)
            }
        };
        self.scope.push(name.clone());
        Ok(Declared { name, ty, value })
    }

    /// `$name`
    pub(super) fn variable(&mut self) -> Outcome<String> {
        self.cursor.expect("$")?;
        self.cursor.blanks()?;
        match self.cursor.prefixed() {
            Some(("", local)) => Ok(local.to_owned()),
            Some((prefix, local)) => Ok(format!("{prefix}:{local}")),
            None => Err(self.cursor.wrong("the name of a variable is missing")),
        }
    }
}
