//! Input and output attributes of operators over blobs.

use eval::Fault;
use graph::{
    Expr, InvocationError, InvocationPart, OperatorNode, ParamMode, ParamModel, PortIndex,
};
use runtime::abi::Projection;
use runtime::{BuildContext, EvaluationInputs, Outlet};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use crate::adapter::compression::Compression;
use crate::lower;
use crate::verify_params::{exprs, report_misuse};

/// Model of the parameter `compression`.
pub const COMPRESSION: ParamModel = ParamModel {
    name: "compression",
    ty: "CompressionAlg",
    mode: ParamMode::Literal,
    mandatory: true,
    doc: "The algorithm.",
    ..ParamModel::DEFAULT
};

/// Number of bytes at which compressed or decompressed data is submitted: large enough that a
/// tuple's overhead does not matter.
pub const SUBMIT_BYTES_MIN: usize = 8 * 1024;

/// The algorithm that the parameter names.
pub fn compression(build: &BuildContext<'_>) -> Result<Compression, Fault> {
    let compression = Compression::from_literal(build.literal("compression"))?;
    compression.ok_or_else(|| lower::missing_param("compression"))
}

/// The input is the expression of a parameter, or the only attribute, which is a blob.
pub fn verify_input(operator: &OperatorNode, param: &'static str) -> Result<(), InvocationError> {
    let attributes = &operator.inputs[0].schema.attributes;
    match (exprs(operator, param), &**attributes) {
        ([_, ..], _) => Ok(()),
        ([], [only]) if only.ty == Type::Blob => Ok(()),
        ([], all) if all.iter().all(|attribute| attribute.ty != Type::Blob) => {
            let name = &operator.inputs[0].name;
            let message = format!("no attribute of `{name}` is a blob");
            let help = format!("a text becomes one by `{param} : convertToBlob(text);`");
            report_misuse(InvocationPart::Input(PortIndex(0)), message, &help)
        }
        _ => {
            let message = format!("it is not said which blob of the input is meant: no `{param}`");
            let help = format!("give `{param}`, or an input stream of one blob attribute");
            report_misuse(InvocationPart::Input(PortIndex(0)), message, &help)
        }
    }
}

/// The output port has one attribute, a blob.
pub fn verify_output(operator: &OperatorNode) -> Result<(), InvocationError> {
    match &*operator.outputs[0].schema.attributes {
        [only] if only.ty == Type::Blob => Ok(()),
        _ => {
            let name = &operator.outputs[0].name;
            let message = format!("the output stream `{name}` is not one blob attribute");
            report_misuse(
                InvocationPart::Output(PortIndex(0)),
                message,
                "compressed or not, bytes go out as blobs",
            )
        }
    }
}

/// Index of the input attribute with the blob.
pub struct BlobInput {
    projection: Projection,
    buffer: TupleBuf,
}

impl BlobInput {
    /// The expression of a parameter, or the only attribute.
    pub fn new(build: &mut BuildContext<'_>, param: &str) -> Result<BlobInput, Fault> {
        let projection = match build.param_exprs(param) {
            Some(exprs) => build.projection(exprs)?,
            None => {
                let pos = build.operator.pos;
                let kind = graph::ExprKind::Attribute {
                    port: PortIndex(0),
                    history: 0,
                    index: 0,
                };
                let only: Expr = lower::expr(kind, Type::Blob, pos);
                build.projection(&[only])?
            }
        };
        Ok(BlobInput {
            projection,
            buffer: TupleBuf::default(),
        })
    }

    /// The blob of a tuple.
    pub fn read(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<Vec<u8>, Fault> {
        let inputs = [Some(tuple)];
        let buffer = &mut self.buffer;
        self.projection
            .write(&EvaluationInputs::new(&inputs), out, buffer)?;
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
    out.submit(PortIndex(0), buffer.as_ref())
}
