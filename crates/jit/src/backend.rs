//! The backend: collects the bodies of a PE, makes machine code of all of them at once.

use std::sync::{Arc, OnceLock};

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use graph::interp::Interpreter;
use graph::{Body, Expr, Fault, Function, NativeFn, Services, State};
use runtime::abi::{Act, ActEach, Backend, Code, FusedView, Project, Scope, Test, interpreted};
use tuple::{Layout, Value};

use crate::chains::Chains;
use crate::code::{Action, Entrance, Loop, Memory, Needs, Pool, Predicate, Projection};
use crate::error::Error;
use crate::lower::{Against, Entry, Made, Target, Text, Unit};
use crate::options::Options;
use crate::perf::{self, Placed};

/// Makes machine code of typed expressions.
pub struct Jit {
    unit: Option<Unit>,
    entries: Vec<(FuncId, Entrance)>,
    pool: Arc<OnceLock<Arc<Pool>>>,
    interpreter: Interpreter,
    options: Options,
    texts: Vec<Text>,
}

impl Jit {
    /// For a program with these functions, and a library with those.
    pub fn new(
        functions: &[Function],
        natives: &[NativeFn],
        options: Options,
    ) -> Result<Jit, Error> {
        let mut unit = Unit::new(crate::module::module(&options)?, functions, natives);
        unit.texts = options.texts.then(Vec::new);
        Ok(Jit {
            unit: Some(unit),
            entries: Vec::new(),
            pool: Arc::default(),
            interpreter: Interpreter::new(functions, natives),
            options,
            texts: Vec::new(),
        })
    }

    /// The text of all code, if [`Options::texts`] asked for it; complete after `finish`.
    pub fn texts(&self) -> &[Text] {
        &self.texts
    }

    fn unit(&mut self) -> Result<&mut Unit, Error> {
        self.unit
            .as_mut()
            .ok_or_else(|| Error::new("the code of this PE is already finished"))
    }

    /// Makes an entry; how a handle gets to it.
    pub(crate) fn entry(
        &mut self,
        title: &str,
        entry: &Entry<'_>,
        against: &Against,
    ) -> Result<(Entrance, Needs), Error> {
        let (id, Made { slots, allocates }) = self.unit()?.entry(title, entry, against)?;
        let entrance = Entrance::new();
        self.entries.push((id, entrance.clone()));
        let inputs = against.inputs.iter().enumerate();
        let inputs = inputs.map(|(slot, layout)| (slot as u32, Arc::clone(layout)));
        let needs = Needs {
            slots,
            inputs: inputs.collect(),
            allocates,
        };
        Ok((entrance, needs))
    }

    pub(crate) fn action_against(
        &mut self,
        title: &str,
        body: &Body,
        against: &Against,
    ) -> Result<Box<dyn Act>, Error> {
        let (entrance, needs) = self.entry(title, &Entry::Action(body), against)?;
        Ok(Box::new(Action::new(&entrance, &self.pool, needs)))
    }

    pub(crate) fn loop_against(
        &mut self,
        title: &str,
        body: &Body,
        port: usize,
        against: &Against,
    ) -> Result<Box<dyn ActEach>, Error> {
        let entry = Entry::Each(body, against.ports[port]);
        let (entrance, needs) = self.entry(title, &entry, against)?;
        Ok(Box::new(Loop::new(&entrance, &self.pool, needs)))
    }

    fn finished(&mut self) -> Result<(), Error> {
        let Some(mut unit) = self.unit.take() else {
            return Ok(());
        };
        unit.called_functions()?;
        unit.module.finalize_definitions()?;
        self.texts = unit.texts.take().unwrap_or_default();
        let pool = Arc::new(std::mem::take(&mut unit.pool));
        let module = unit.module;
        if self.options.perf_map {
            map_for_perf(&module, std::mem::take(&mut unit.made))?;
        }
        let found: Vec<_> = self.entries.drain(..).collect();
        let found: Vec<(*const u8, Entrance)> = found
            .into_iter()
            .map(|(id, entrance)| (module.get_finalized_function(id), entrance))
            .collect();
        let memory = Arc::new(Memory::new(module, Arc::clone(&pool)));
        let _ = self.pool.set(pool);
        for (entry, entrance) in found {
            entrance.open(entry, &memory);
        }
        Ok(())
    }
}

/// Writes where functions are, for `perf`.
fn map_for_perf(module: &JITModule, made: Vec<(String, FuncId, usize)>) -> Result<(), Error> {
    let placed = made.into_iter().map(|(title, id, bytes)| Placed {
        title,
        address: module.get_finalized_function(id).addr(),
        bytes,
    });
    let placed: Vec<Placed> = placed.collect();
    perf::write(&placed)
        .map_err(|error| Error::new(format!("the map for perf cannot be written: {error}")))
}

/// What the expressions of an operator are made against.
pub(crate) fn against(scope: &Scope<'_>) -> Against {
    let mut ports = vec![0];
    for port in &scope.operator.inputs {
        ports.push(ports[ports.len() - 1] + port.history + 1);
    }
    Against {
        inputs: scope.inputs.clone(),
        ports,
        state_types: scope.state.iter().map(|var| var.ty.clone()).collect(),
        state: None,
        targets: scope.outputs.iter().cloned().map(Target::Outlet).collect(),
        stop: None,
    }
}

impl Backend for Jit {
    fn projection(
        &mut self,
        scope: &Scope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn Project>, Fault> {
        let title = format!("{}: projection", scope.operator.name);
        let entry = Entry::Projection(exprs, layout);
        let (entrance, needs) = self.entry(&title, &entry, &against(scope))?;
        Ok(Box::new(Projection::new(&entrance, &self.pool, needs)))
    }

    fn predicate(&mut self, scope: &Scope<'_>, expr: &Expr) -> Result<Box<dyn Test>, Fault> {
        let title = format!("{}: condition", scope.operator.name);
        let (entrance, needs) = self.entry(&title, &Entry::Predicate(expr), &against(scope))?;
        Ok(Box::new(Predicate::new(&entrance, &self.pool, needs)))
    }

    fn action(&mut self, scope: &Scope<'_>, body: &Body) -> Result<Box<dyn Act>, Fault> {
        let title = format!("{}: statements", scope.operator.name);
        Ok(self.action_against(&title, body, &against(scope))?)
    }

    /// Interpreted: compiling code that runs once does not pay.
    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        interpreted::evaluate(&mut self.interpreter, expr, state, services)
    }

    fn fused(&mut self, view: &FusedView<'_>) -> Result<Vec<Code>, Fault> {
        Ok(Chains::of(view).code(self)?)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        Ok(self.finished()?)
    }
}
