//! Fills the function table: signatures when a function is first asked for, bodies when a call
//! needs them.

use std::collections::HashSet;
use std::rc::Rc;

use graph::{Function, FunctionId, NativeId};
use syntax::ast;

use crate::Session;
use crate::names::UnitId;
use crate::tables::{FunctionOwner, Signature, UserFunction, UserFunctionId};

impl<'w> Session<'w> {
    /// The signature of a library function, parsed when first asked for.
    pub(super) fn native_signature(&self, id: NativeId) -> Option<Rc<Signature>> {
        if let Some(known) = self.functions.natives.borrow().get(&id) {
            return known.clone();
        }
        let text = self.symbols.native(id).prototype;
        let signature = self.prototype(text, FunctionOwner::Native(id)).map(Rc::new);
        self.functions
            .natives
            .borrow_mut()
            .insert(id, signature.clone());
        signature
    }

    /// A user function, with its signature resolved when first asked for.
    pub(super) fn user_function(
        &self,
        unit: UnitId,
        ast: &'w ast::Function,
    ) -> Rc<UserFunction<'w>> {
        let key = std::ptr::from_ref(ast);
        let known = self.functions.by_ast.borrow().get(&key).copied();
        if let Some(UserFunctionId(at)) = known {
            return self.functions.users.borrow()[at as usize].clone();
        }
        let id = UserFunctionId(self.functions.users.borrow().len() as u32);
        // Known before its signature is, which cannot refer to it.
        let placeholder = UserFunction::new(unit, ast, None);
        self.functions.users.borrow_mut().push(Rc::new(placeholder));
        self.functions.by_ast.borrow_mut().insert(key, id);
        let signature = self.user_signature(id, unit, ast);
        let function = Rc::new(UserFunction::new(unit, ast, signature.map(Rc::new)));
        self.functions.users.borrow_mut()[id.0 as usize] = function.clone();
        function
    }

    /// The id of a user function in the program; it will be emitted.
    pub(super) fn function_id(&self, id: UserFunctionId) -> FunctionId {
        let function = self.functions.users.borrow()[id.0 as usize].clone();
        if let Some(id) = function.emitted.get() {
            return id;
        }
        let mut order = self.functions.emitted.borrow_mut();
        let id = FunctionId(order.len() as u32);
        function.emitted.set(Some(id));
        order.push(function);
        id
    }

    /// Types the bodies of all functions that are referred to. Does nothing while it is at work.
    pub(crate) fn type_functions(&self) {
        if self.functions.is_typing.replace(true) {
            return;
        }
        loop {
            let at = self.functions.typed.borrow().len();
            let next = self.functions.emitted.borrow().get(at).cloned();
            let Some(function) = next else { break };
            let typed = self.type_function(&function);
            self.functions.typed.borrow_mut().push(typed);
        }
        self.functions.is_typing.set(false);
    }

    /// Calls `work` with the typed functions, by id.
    pub(crate) fn with_functions<T>(&self, work: impl FnOnce(&[Function]) -> T) -> T {
        work(&self.functions.typed.borrow())
    }

    /// Says that all operators of the program are typed: what is referred to from now on is only
    /// checked, and not part of the program.
    pub fn seal_functions(&self) {
        self.type_functions();
        self.functions
            .needed_count
            .set(Some(self.functions.typed.borrow().len()));
    }

    /// The functions that the program needs, typed, in the order of their ids; then checks (and
    /// drops) all other functions of units that are checked. Call it last.
    pub fn finish_functions(&self) -> Vec<Function> {
        self.type_functions();
        let all = self.functions.typed.borrow().len();
        let count = self.functions.needed_count.get().unwrap_or(all);
        for (unit, loaded) in self.symbols.units().filter(|(_, unit)| unit.is_checked) {
            for item in &loaded.unit.items {
                if let ast::Item::Function(ast) = item {
                    self.check_function(unit, ast);
                }
            }
        }
        let mut done = self.functions.typed.take();
        done.truncate(count);
        done
    }

    fn check_function(&self, unit: UnitId, ast: &'w ast::Function) {
        let function = self.user_function(unit, ast);
        if function
            .emitted
            .get()
            .is_none_or(|id| self.functions.typed.borrow().len() <= id.0 as usize)
        {
            self.type_function(&function);
        }
    }

    /// Resolves all top-level types of a unit and the static types of its composites, and checks
    /// that its overloads differ, whether they are used or not.
    pub fn check_unit(&self, unit: UnitId) {
        let mut compared = HashSet::new();
        for item in &self.symbols.unit(unit).unit.items {
            match item {
                ast::Item::Type(def) => {
                    self.unit_type(unit, def, &def.name);
                }
                ast::Item::Function(ast) => {
                    if compared.insert(&ast.name.text) {
                        self.check_overloads(unit, ast);
                    }
                }
                ast::Item::Composite(_) => {}
            }
        }
    }
}
