//! What operators over blobs share: where the blob comes in, and where one goes out.

use graph::{Expr, Fault, Misuse, Operator, ParamMode, ParamModel, Part};
use runtime::abi::Projection;
use runtime::{Build, Outlet, Row};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use crate::adapter::compression::Compression;
use crate::lower;
use crate::rule::{exprs, wrong};

/// `compression`.
pub const COMPRESSION: ParamModel = ParamModel {
    name: "compression",
    ty: "CompressionAlg",
    mode: ParamMode::Literal,
    mandatory: true,
    doc: "The algorithm.",
    ..ParamModel::DEFAULT
};

/// What is compressed or decompressed is sent when there are so many bytes.
pub const SENT_BYTES: usize = 8 * 1024;

/// The algorithm that the parameter names.
pub fn compression(build: &Build<'_>) -> Result<Compression, Fault> {
    let compression = Compression::of(build.literal("compression"))?;
    compression.ok_or_else(|| lower::missing("compression"))
}

/// The input is the expression of a parameter, or the only attribute, which is a blob.
pub fn verify_input(operator: &Operator, param: &'static str) -> Result<(), Misuse> {
    let attributes = &operator.inputs[0].schema.attributes;
    match (exprs(operator, param), &**attributes) {
        ([_, ..], _) => Ok(()),
        ([], [only]) if only.ty == Type::Blob => Ok(()),
        ([], all) if all.iter().all(|attribute| attribute.ty != Type::Blob) => {
            let name = &operator.inputs[0].name;
            let message = format!("no attribute of `{name}` is a blob");
            let help = format!("a text becomes one by `{param} : convertToBlob(text);`");
            wrong(Part::Input(0), message, &help)
        }
        _ => {
            let message = format!("it is not said which blob of the input is meant: no `{param}`");
            let help = format!("give `{param}`, or an input stream of one blob attribute");
            wrong(Part::Input(0), message, &help)
        }
    }
}

/// The output port has one attribute, a blob.
pub fn verify_output(operator: &Operator) -> Result<(), Misuse> {
    match &*operator.outputs[0].schema.attributes {
        [only] if only.ty == Type::Blob => Ok(()),
        _ => {
            let name = &operator.outputs[0].name;
            let message = format!("the output stream `{name}` is not one blob attribute");
            wrong(
                Part::Output(0),
                message,
                "compressed or not, bytes go out as blobs",
            )
        }
    }
}

/// Where blobs come in.
pub struct Input {
    projection: Projection,
    buffer: TupleBuf,
}

impl Input {
    /// The expression of a parameter, or the only attribute.
    pub fn new(build: &mut Build<'_>, param: &str) -> Result<Input, Fault> {
        let projection = match build.exprs(param) {
            Some(exprs) => build.projection(exprs)?,
            None => {
                let pos = build.operator.pos;
                let kind = graph::ExprKind::Attribute {
                    port: 0,
                    history: 0,
                    index: 0,
                };
                let only: Expr = lower::expr(kind, Type::Blob, pos);
                build.projection(&[only])?
            }
        };
        Ok(Input {
            projection,
            buffer: TupleBuf::default(),
        })
    }

    /// The blob of a tuple.
    pub fn read(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<Vec<u8>, Fault> {
        let row = [Some(tuple)];
        let buffer = &mut self.buffer;
        self.projection.write(&Row::new(&row), out, buffer)?;
        match buffer.as_ref().get(&self.projection.layout, 0) {
            Value::Blob(bytes) => Ok(bytes),
            _ => Ok(Vec::new()),
        }
    }
}

/// Sends a blob as the only attribute of output port 0, unless it is empty.
pub fn submit(
    bytes: Vec<u8>,
    layout: &Layout,
    buffer: &mut TupleBuf,
    out: &mut dyn Outlet,
) -> Result<(), Fault> {
    if bytes.is_empty() {
        return Ok(());
    }
    buffer.begin(layout);
    buffer.set(layout, 0, &Value::Blob(bytes));
    out.submit(0, buffer.as_ref())
}
