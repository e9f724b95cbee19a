//! Reading of the prolog: version, namespaces, variables.

use super::super::failure::QueryResult;
use super::super::query::VariableDeclaration;
use super::query_parser::QueryParser;

impl QueryParser<'_> {
    /// Reads the prolog, and returns the declared variables.
    pub(super) fn prolog(&mut self) -> QueryResult<Vec<VariableDeclaration>> {
        self.version()?;
        let mut variables = Vec::new();
        loop {
            let cursor = &mut self.cursor;
            if cursor.take_words("declare namespace")? {
                cursor.skip_blanks()?;
                let Some(prefix) = cursor.word() else {
                    return Err(cursor.failure_at("a prefix is missing"));
                };
                cursor.expect("=")?;
                let uri = cursor.string()?;
                self.namespaces.declare(prefix, &uri);
            } else if cursor.take_words("declare default element namespace")? {
                let uri = cursor.string()?;
                self.namespaces.declare("", &uri);
            } else if cursor.take_words("declare boundary-space")? {
                self.keeps_blanks = cursor.take_words("preserve")?;
                if !self.keeps_blanks {
                    cursor.expect_word("strip")?;
                }
            } else if cursor.take_words("declare variable")? {
                variables.push(self.variable_declaration()?);
            } else if cursor.take_words("declare")? {
                return self.unsupported("this declaration");
            } else if cursor.take_words("import module")? || cursor.take_words("import schema")? {
                return self.unsupported("an import");
            } else if cursor.take_words("module namespace")? {
                return self.unsupported("a module");
            } else {
                return Ok(variables);
            }
            self.cursor.expect(";")?;
        }
    }

    fn version(&mut self) -> QueryResult<()> {
        if self.cursor.take_words("xquery version")? {
            let version = self.cursor.string()?;
            if !matches!(&version[..], "1.0" | "3.0" | "3.1") {
                return self.unsupported(&format!("XQuery {version}"));
            }
            if self.cursor.take_words("encoding")? {
                self.cursor.string()?;
            }
            self.cursor.expect(";")?;
        }
        Ok(())
    }

    /// Reads a declaration after `declare variable`.
    fn variable_declaration(&mut self) -> QueryResult<VariableDeclaration> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        let value = match self.cursor.take_words("external")? {
            true => None,
            false => {
                self.cursor.expect(":=")?;
                Some(self.expr_single()?)
            }
        };
        self.scope.push(name.clone());
        Ok(VariableDeclaration { name, ty, value })
    }

    /// Reads the name of a variable, `$name`.
    pub(super) fn variable(&mut self) -> QueryResult<String> {
        self.cursor.expect("$")?;
        self.cursor.skip_blanks()?;
        match self.cursor.prefixed() {
            Some(("", local)) => Ok(local.to_owned()),
            Some((prefix, local)) => Ok(format!("{prefix}:{local}")),
            None => Err(self.cursor.failure_at("the name of a variable is missing")),
        }
    }
}
