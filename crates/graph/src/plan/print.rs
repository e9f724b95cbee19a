//! A plan as text.

use std::fmt;

use super::{Medium, OperatorId, Pe, Plan, Program};

impl Plan {
    /// The plan as text, with the operators' names.
    pub fn display<'a>(&'a self, program: &'a Program) -> impl fmt::Display + 'a {
        Text {
            plan: self,
            program,
        }
    }
}

struct Text<'a> {
    plan: &'a Plan,
    program: &'a Program,
}

impl Text<'_> {
    fn name(&self, id: OperatorId) -> &str {
        let operator = self.program.operators.get(id.0 as usize);
        operator.map_or("?", |o| &*o.name)
    }

    fn pe(&self, f: &mut fmt::Formatter<'_>, pe: &Pe) -> fmt::Result {
        for (number, region) in pe.regions.iter().enumerate() {
            let names: Vec<_> = region.operators.iter().map(|&o| self.name(o)).collect();
            writeln!(f, "  region {number}: {}", names.join(" "))?;
        }
        if !pe.shared.is_empty() {
            let names: Vec<_> = pe.shared.iter().map(|&o| self.name(o)).collect();
            writeln!(f, "  shared: {}", names.join(" "))?;
        }
        for route in &pe.edges {
            let from = self.name(route.from.operator);
            let to = self.name(route.operator);
            let medium = match route.medium {
                Medium::Fused => "fused".to_owned(),
                Medium::Queue => "queue".to_owned(),
                Medium::Crossing(number) => format!("crossing {number}"),
            };
            writeln!(
                f,
                "  edge {from}.{} -> {to}.{} {medium}",
                route.from.port, route.port
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan {}", self.program.name)?;
        for (number, pe) in self.plan.pes.iter().enumerate() {
            writeln!(f, "pe {number}: {} operators", pe.operators.len())?;
            self.pe(f, pe)?;
        }
        Ok(())
    }
}
