//! Compress: compresses a stream of blobs.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use bzip2::write::BzEncoder;
use eval::{Fault, FaultKind};
use flate2::write::{GzEncoder, ZlibEncoder};
use graph::{InPortModel, InvocationError, OperatorModel, OperatorNode as Invocation, PortIndex};
use graph::{OutPortModel, ParamMode, ParamModel};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef};

use super::blob;
use crate::adapter::compression::Compression;
use crate::adapter::params;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Compress",
    doc: "Compresses the blobs that come in, one behind the other, and sends what comes of it as \
          blobs of any size.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel::DEFAULT],
    params: &[
        blob::COMPRESSION,
        ParamModel {
            name: "compressionInput",
            ty: "blob",
            mode: ParamMode::Expression,
            doc: "The blob to compress. Default: the only attribute of the input.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "flushOnPunct",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether a window marker ends the compressed data, begins new ones, and is sent \
                  on. Default: false, one window marker at the end.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[params::ALGORITHMS],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    blob::verify_input(operator, "compressionInput")?;
    blob::verify_output(operator)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let compression = blob::compression(build)?;
    Ok(Box::new(Compress {
        input: blob::BlobInput::new(build, "compressionInput")?,
        compression,
        encoder: BlobEncoder::new(compression),
        flushes: build.flag("flushOnPunct", false)?,
        layout: build.outputs[0].clone(),
        buffer: TupleBuf::default(),
    }))
}

struct Compress {
    input: blob::BlobInput,
    compression: Compression,
    encoder: BlobEncoder,
    flushes: bool,
    layout: Arc<Layout>,
    buffer: TupleBuf,
}

enum BlobEncoder {
    Zlib(ZlibEncoder<Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
    Bzip2(BzEncoder<Vec<u8>>),
}

impl BlobEncoder {
    fn new(compression: Compression) -> BlobEncoder {
        let level = flate2::Compression::default();
        match compression {
            Compression::Zlib => BlobEncoder::Zlib(ZlibEncoder::new(Vec::new(), level)),
            Compression::Gzip => BlobEncoder::Gzip(GzEncoder::new(Vec::new(), level)),
            Compression::Bzip2 => {
                let level = bzip2::Compression::default();
                BlobEncoder::Bzip2(BzEncoder::new(Vec::new(), level))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            BlobEncoder::Zlib(encoder) => encoder.write_all(bytes),
            BlobEncoder::Gzip(encoder) => encoder.write_all(bytes),
            BlobEncoder::Bzip2(encoder) => encoder.write_all(bytes),
        }
    }

    fn output_mut(&mut self) -> &mut Vec<u8> {
        match self {
            BlobEncoder::Zlib(encoder) => encoder.get_mut(),
            BlobEncoder::Gzip(encoder) => encoder.get_mut(),
            BlobEncoder::Bzip2(encoder) => encoder.get_mut(),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            BlobEncoder::Zlib(encoder) => encoder.finish(),
            BlobEncoder::Gzip(encoder) => encoder.finish(),
            BlobEncoder::Bzip2(encoder) => encoder.finish(),
        }
    }
}

impl Compress {
    /// Ends the compressed data, submits the rest of it and a window marker, and begins anew.
    fn finish_data(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let fresh = BlobEncoder::new(self.compression);
        let bytes = mem::replace(&mut self.encoder, fresh).finish();
        let bytes = bytes.map_err(failure)?;
        blob::submit(bytes, &self.layout, &mut self.buffer, out)?;
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }
}

impl Operator for Compress {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let bytes = self.input.read(tuple, out)?;
        self.encoder.write(&bytes).map_err(failure)?;
        let compressed = self.encoder.output_mut();
        if compressed.len() < blob::SUBMIT_BYTES_MIN {
            return Ok(());
        }
        let bytes = mem::take(compressed);
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.flushes {
            self.finish_data(out)
        } else {
            Ok(())
        }
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.flushes {
            return self.finish_data(out);
        }
        // The data after the last marker.
        let bytes = mem::replace(&mut self.encoder, BlobEncoder::new(self.compression)).finish();
        blob::submit(bytes.map_err(failure)?, &self.layout, &mut self.buffer, out)
    }
}

fn failure(error: io::Error) -> Fault {
    Fault::new(FaultKind::System, format!("cannot compress: {error}"))
}
