//! Decompress: decompresses a stream of blobs.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use bzip2::write::BzDecoder;
use eval::Fault;
use flate2::write::MultiGzDecoder;
use graph::{InPortModel, InvocationError, OperatorModel, OperatorNode as Invocation, PortIndex};
use graph::{InvocationPart, OutPortModel, ParamMode, ParamModel};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef};

use super::blob;
use crate::adapter::compression::Compression;
use crate::adapter::params;
use crate::adapter::zlib::Inflater;
use crate::verify_params::{is_true, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Decompress",
    doc: "Decompresses the blobs that come in, one behind the other, and sends what comes of it as \
          blobs of any size.",
    inputs: &[InPortModel {
        mutable: true,
        ..InPortModel::DEFAULT
    }],
    outputs: &[OutPortModel::DEFAULT],
    params: &[
        blob::COMPRESSION,
        ParamModel {
            name: "decompressionInput",
            ty: "blob",
            mode: ParamMode::Expression,
            doc: "The blob to decompress. Default: the only attribute of the input.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "flushOnPunct",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether a window marker ends the compressed data, and is sent on. Default: \
                  false, one window marker at the end.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "flushPerTuple",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether what a tuple gave is sent at once. Default: false, when it is a lot.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[params::ALGORITHMS],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    blob::verify_input(operator, "decompressionInput")?;
    if is_true(operator, "flushOnPunct") && is_true(operator, "flushPerTuple") {
        let message = "`flushOnPunct` and `flushPerTuple` exclude each other";
        let help = "what is decompressed is sent at each marker, or at each tuple";
        return report_misuse(InvocationPart::Param("flushPerTuple"), message, help);
    }
    blob::verify_output(operator)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let compression = blob::compression(build)?;
    Ok(Box::new(Decompress {
        input: blob::BlobInput::new(build, "decompressionInput")?,
        compression,
        decoder: None,
        flushes: build.flag("flushOnPunct", false)?,
        submit_bytes_min: match build.flag("flushPerTuple", false)? {
            true => 1,
            false => blob::SUBMIT_BYTES_MIN,
        },
        layout: build.outputs[0].clone(),
        buffer: TupleBuf::default(),
    }))
}

struct Decompress {
    input: blob::BlobInput,
    compression: Compression,
    /// `None` between the end of compressed data and the first byte of others.
    decoder: Option<BlobDecompressor>,
    flushes: bool,
    submit_bytes_min: usize,
    layout: Arc<Layout>,
    buffer: TupleBuf,
}

enum BlobDecompressor {
    Zlib(Inflater, Vec<u8>),
    Gzip(MultiGzDecoder<Vec<u8>>),
    Bzip2(BzDecoder<Vec<u8>>),
}

impl BlobDecompressor {
    fn new(compression: Compression) -> BlobDecompressor {
        match compression {
            Compression::Zlib => BlobDecompressor::Zlib(Inflater::default(), Vec::new()),
            Compression::Gzip => BlobDecompressor::Gzip(MultiGzDecoder::new(Vec::new())),
            Compression::Bzip2 => BlobDecompressor::Bzip2(BzDecoder::new(Vec::new())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            BlobDecompressor::Zlib(inflater, plain) => inflater.inflate(bytes, plain),
            BlobDecompressor::Gzip(decoder) => decoder.write_all(bytes),
            BlobDecompressor::Bzip2(decoder) => write_bzip2(decoder, bytes),
        }
    }

    /// The buffer of decompressed bytes, after the decoder has written all that it can.
    fn flush(&mut self) -> io::Result<&mut Vec<u8>> {
        match self {
            BlobDecompressor::Zlib(_, plain) => Ok(plain),
            BlobDecompressor::Gzip(decoder) => decoder.flush().map(|()| decoder.get_mut()),
            BlobDecompressor::Bzip2(decoder) => decoder.flush().map(|()| decoder.get_mut()),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            BlobDecompressor::Zlib(inflater, plain) => inflater.finish().map(|()| plain),
            BlobDecompressor::Gzip(decoder) => decoder.finish(),
            BlobDecompressor::Bzip2(mut decoder) => decoder.finish(),
        }
    }
}

/// Decompresses bytes; other compressed data may follow the end of the current one.
fn write_bzip2(decoder: &mut BzDecoder<Vec<u8>>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match decoder.write(bytes)? {
            0 => *decoder = BzDecoder::new(decoder.finish()?),
            taken => bytes = &bytes[taken..],
        }
    }
    Ok(())
}

impl Decompress {
    /// Sends what is left of data that have come whole.
    fn finish_data(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(decoder) = self.decoder.take() else {
            return Ok(());
        };
        let bytes = decoder.finish().map_err(failure)?;
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }
}

impl Operator for Decompress {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let bytes = self.input.read(tuple, out)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let compression = self.compression;
        let decoder = self
            .decoder
            .get_or_insert_with(|| BlobDecompressor::new(compression));
        decoder.write(&bytes).map_err(failure)?;
        let plain = decoder.flush().map_err(failure)?;
        if plain.len() < self.submit_bytes_min {
            return Ok(());
        }
        let bytes = mem::take(plain);
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.flushes {
            return Ok(());
        }
        self.finish_data(out)?;
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.finish_data(out)?;
        if self.flushes {
            return Ok(());
        }
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }
}

fn failure(error: io::Error) -> Fault {
    Fault::value(format!("the compressed data are damaged: {error}"))
}
