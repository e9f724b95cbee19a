//! Compress: compresses a stream of blobs.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use bzip2::write::BzEncoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use graph::{Fault, FaultKind, InPortModel, Misuse, Operator as Invocation, OperatorModel};
use graph::{OutPortModel, ParamMode, ParamModel};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef};

use super::blob;
use crate::adapter::compression::Compression;
use crate::adapter::params;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
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

fn verify(operator: &Invocation) -> Result<(), Misuse> {
    blob::verify_input(operator, "compressionInput")?;
    blob::verify_output(operator)
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let compression = blob::compression(build)?;
    Ok(Box::new(Compress {
        input: blob::Input::new(build, "compressionInput")?,
        compression,
        encoder: Encoder::new(compression),
        flushes: build.flag("flushOnPunct", false)?,
        layout: build.outputs[0].clone(),
        buffer: TupleBuf::default(),
    }))
}

struct Compress {
    input: blob::Input,
    compression: Compression,
    encoder: Encoder,
    flushes: bool,
    layout: Arc<Layout>,
    buffer: TupleBuf,
}

enum Encoder {
    Zlib(ZlibEncoder<Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
    Bzip2(BzEncoder<Vec<u8>>),
}

impl Encoder {
    fn new(compression: Compression) -> Encoder {
        let level = flate2::Compression::default();
        match compression {
            Compression::Zlib => Encoder::Zlib(ZlibEncoder::new(Vec::new(), level)),
            Compression::Gzip => Encoder::Gzip(GzEncoder::new(Vec::new(), level)),
            Compression::Bzip2 => {
                let level = bzip2::Compression::default();
                Encoder::Bzip2(BzEncoder::new(Vec::new(), level))
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Zlib(encoder) => encoder.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Bzip2(encoder) => encoder.write_all(bytes),
        }
    }

    fn compressed(&mut self) -> &mut Vec<u8> {
        match self {
            Encoder::Zlib(encoder) => encoder.get_mut(),
            Encoder::Gzip(encoder) => encoder.get_mut(),
            Encoder::Bzip2(encoder) => encoder.get_mut(),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Encoder::Zlib(encoder) => encoder.finish(),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
        }
    }
}

impl Compress {
    /// Sends all that there is, so that it can be decompressed, and begins anew.
    fn end(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let fresh = Encoder::new(self.compression);
        let bytes = mem::replace(&mut self.encoder, fresh).finish();
        let bytes = bytes.map_err(failure)?;
        blob::submit(bytes, &self.layout, &mut self.buffer, out)?;
        out.punctuate(0, Punctuation::Window)
    }
}

impl Operator for Compress {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let bytes = self.input.read(tuple, out)?;
        self.encoder.write(&bytes).map_err(failure)?;
        let compressed = self.encoder.compressed();
        if compressed.len() < blob::SENT_BYTES {
            return Ok(());
        }
        let bytes = mem::take(compressed);
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }

    fn window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.flushes { self.end(out) } else { Ok(()) }
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.flushes {
            return self.end(out);
        }
        // What came after the last marker.
        let bytes = mem::replace(&mut self.encoder, Encoder::new(self.compression)).finish();
        blob::submit(bytes.map_err(failure)?, &self.layout, &mut self.buffer, out)
    }
}

fn failure(error: io::Error) -> Fault {
    Fault::new(FaultKind::System, format!("cannot compress: {error}"))
}
