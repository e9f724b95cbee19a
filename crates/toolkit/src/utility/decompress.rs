//! Decompress: decompresses a stream of blobs.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use bzip2::write::BzDecoder;
use flate2::write::MultiGzDecoder;
use graph::{Fault, InPortModel, Misuse, Operator as Invocation, OperatorModel};
use graph::{OutPortModel, ParamMode, ParamModel, Part};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef};

use super::blob;
use crate::adapter::compression::Compression;
use crate::adapter::params;
use crate::adapter::zlib::Inflater;
use crate::rule::{holds, wrong};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
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

fn verify(operator: &Invocation) -> Result<(), Misuse> {
    blob::verify_input(operator, "decompressionInput")?;
    if holds(operator, "flushOnPunct") && holds(operator, "flushPerTuple") {
        let message = "`flushOnPunct` and `flushPerTuple` exclude each other";
        let help = "what is decompressed is sent at each marker, or at each tuple";
        return wrong(Part::Param("flushPerTuple"), message, help);
    }
    blob::verify_output(operator)
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let compression = blob::compression(build)?;
    Ok(Box::new(Decompress {
        input: blob::Input::new(build, "decompressionInput")?,
        compression,
        decoder: None,
        flushes: build.flag("flushOnPunct", false)?,
        sent_bytes: match build.flag("flushPerTuple", false)? {
            true => 1,
            false => blob::SENT_BYTES,
        },
        layout: build.outputs[0].clone(),
        buffer: TupleBuf::default(),
    }))
}

struct Decompress {
    input: blob::Input,
    compression: Compression,
    /// `None` between the end of compressed data and the first byte of others.
    decoder: Option<Decoder>,
    flushes: bool,
    sent_bytes: usize,
    layout: Arc<Layout>,
    buffer: TupleBuf,
}

enum Decoder {
    Zlib(Inflater, Vec<u8>),
    Gzip(MultiGzDecoder<Vec<u8>>),
    Bzip2(BzDecoder<Vec<u8>>),
}

impl Decoder {
    fn new(compression: Compression) -> Decoder {
        match compression {
            Compression::Zlib => Decoder::Zlib(Inflater::default(), Vec::new()),
            Compression::Gzip => Decoder::Gzip(MultiGzDecoder::new(Vec::new())),
            Compression::Bzip2 => Decoder::Bzip2(BzDecoder::new(Vec::new())),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Decoder::Zlib(inflater, plain) => inflater.inflate(bytes, plain),
            Decoder::Gzip(decoder) => decoder.write_all(bytes),
            Decoder::Bzip2(decoder) => write_bzip2(decoder, bytes),
        }
    }

    /// Has the decoder hand over all that it knows.
    fn flush(&mut self) -> io::Result<&mut Vec<u8>> {
        match self {
            Decoder::Zlib(_, plain) => Ok(plain),
            Decoder::Gzip(decoder) => decoder.flush().map(|()| decoder.get_mut()),
            Decoder::Bzip2(decoder) => decoder.flush().map(|()| decoder.get_mut()),
        }
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Decoder::Zlib(inflater, plain) => inflater.finish().map(|()| plain),
            Decoder::Gzip(decoder) => decoder.finish(),
            Decoder::Bzip2(mut decoder) => decoder.finish(),
        }
    }
}

/// Decompresses bytes, in which other data may follow the end of those at hand.
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
    fn end(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(decoder) = self.decoder.take() else {
            return Ok(());
        };
        let bytes = decoder.finish().map_err(failure)?;
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }
}

impl Operator for Decompress {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let bytes = self.input.read(tuple, out)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let compression = self.compression;
        let decoder = self
            .decoder
            .get_or_insert_with(|| Decoder::new(compression));
        decoder.write(&bytes).map_err(failure)?;
        let plain = decoder.flush().map_err(failure)?;
        if plain.len() < self.sent_bytes {
            return Ok(());
        }
        let bytes = mem::take(plain);
        blob::submit(bytes, &self.layout, &mut self.buffer, out)
    }

    fn window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.flushes {
            return Ok(());
        }
        self.end(out)?;
        out.punctuate(0, Punctuation::Window)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.end(out)?;
        if self.flushes {
            return Ok(());
        }
        out.punctuate(0, Punctuation::Window)
    }
}

fn failure(error: io::Error) -> Fault {
    Fault::value(format!("the compressed data are damaged: {error}"))
}
