//! User functions as machine functions.
//!
//! One takes the environment, the parts of each argument by value, the address of each argument by
//! reference (a flat slot for a scalar, else a `Value`), and the address for the result if that has
//! more than one part. It returns a status, and the result if that has one part.

use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::FunctionId;
use tuple::Type;

use crate::lower::context::{BodyContext, BodyUsage, FunctionLowering, LocalStorage, ReturnTarget};
use crate::lower::values::AccessRegion;
use crate::lowered_value::LoweredValue;
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// A whole machine function.
    pub fn lower_user_function(mut self, id: FunctionId) {
        let functions = self.unit.functions.clone();
        let function = &functions[id.0 as usize];
        let params = self.block_params(self.entry_block);
        let mut params = params.into_iter().skip(1);
        let done = self.block_with(&type_parts::parts(&function.result));
        let exit = ReturnTarget {
            block: done,
            ty: function.result.clone(),
        };
        self.body = BodyContext::for_function(function, exit);
        let uses = BodyUsage::from_body(&function.body);
        let has_frame = self.enter_frame(function, &uses);
        let mut references = Vec::new();
        self.body.locals = self.assign_storages(&function.body, function.formals as usize, &uses);
        for at in 0..function.formals as usize {
            let local = &function.body.locals[at];
            let storage = if !local.by_reference {
                let count = type_parts::part_count(&local.ty);
                let value = LoweredValue::from_parts(params.by_ref().take(count));
                match self.assign_storage(&local.ty, &uses.locals[at], 1) {
                    LocalStorage::Unset => LocalStorage::Alias(value),
                    storage => self.set_storage(storage, value, &local.ty),
                }
            } else {
                let address = params.next().expect("an address for each reference");
                self.reference_parameter(at, address, &local.ty, &mut references)
            };
            self.body.locals[at] = storage;
        }
        let result_address = params.next();
        self.stmts(&function.body.stmts);
        self.end_of_function(function);
        self.switch_to_sealed(done);
        let results = self.block_params(done);
        self.write_back_references(&references);
        self.exit_frame(has_frame);
        self.return_results(&results, result_address);
        self.switch_to_sealed(self.fault_block);
        self.write_back_references(&references);
        self.return_fault(&function.result);
        self.finish_function();
    }

    /// A formal by reference: a scalar lives in registers until the function returns.
    fn reference_parameter(
        &mut self,
        at: usize,
        address: ir::Value,
        ty: &Type,
        references: &mut Vec<(usize, ir::Value, Type)>,
    ) -> LocalStorage {
        if !type_parts::is_scalar(ty) {
            return LocalStorage::Memory(address);
        }
        let parts = self.load_slot(AccessRegion::Bytes, address, 0, ty);
        references.push((at, address, ty.clone()));
        let vars = parts.iter().map(|&part| {
            let ty = self.builder.func.dfg.value_type(part);
            let var = self.builder.declare_var(ty);
            self.builder.def_var(var, part);
            var
        });
        LocalStorage::Registers(vars.collect())
    }

    fn write_back_references(&mut self, references: &[(usize, ir::Value, Type)]) {
        for (at, address, ty) in references {
            let value = self.read_local(graph::LocalId(*at as u32));
            let parts = self.parts(&value, ty);
            self.store_slot(AccessRegion::Bytes, *address, 0, ty, &parts);
        }
    }

    fn return_results(&mut self, results: &[ir::Value], result_address: Option<ir::Value>) {
        match result_address {
            Some(result_address) => {
                for (at, &part) in results.iter().enumerate() {
                    self.store_word(part, result_address, at);
                }
                self.return_status(0, &[]);
            }
            None => self.return_status(0, results),
        }
    }

    fn return_fault(&mut self, result: &Type) {
        let parts = type_parts::parts(result);
        let zero = match parts[..] {
            [part] => vec![self.zero(part)],
            _ => Vec::new(),
        };
        self.return_status(1, &zero);
    }

    fn zero(&mut self, ty: ir::Type) -> ir::Value {
        match ty {
            types::F32 => self.builder.ins().f32const(0.0),
            types::F64 => self.builder.ins().f64const(0.0),
            int => self.int(int, 0),
        }
    }
}
