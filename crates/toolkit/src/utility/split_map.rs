//! Split with a mapping file: a tuple is submitted to the ports on the line of its key.
//!
//! ```text
//! # key, then ports
//! "IBM",0
//! XYZ,1,2      # two ports
//! default,3
//! ```

use std::collections::HashMap;
use std::path::Path;

use eval::{Fault, FaultKind};
use graph::PortIndex;
use runtime::abi::Projection;
use runtime::window::encode_key;
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet};
use tuple::text::{self, TextReader};
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

/// The operator instance of a Split with a mapping file.
struct SplitMap {
    key: Projection,
    ports: HashMap<Box<[u8]>, Box<[PortIndex]>>,
    /// Ports of tuples whose key has no line.
    default: Option<Box<[PortIndex]>>,
    /// The key's tuple and its canonical bytes, to use their memory again.
    scratch: TupleBuf,
    bytes: Vec<u8>,
}

/// Reads the mapping file.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let key = build.param_projection("key")?;
    let key = key.ok_or_else(|| crate::lower::missing_param("key"))?;
    let Some(Value::RString(name)) = build.value("file")? else {
        return Err(crate::lower::missing_param("file"));
    };
    let directory = build.services.data_directory()?;
    let path = Path::new(&directory).join(&*name.to_string_lossy());
    let content = std::fs::read(&path).map_err(|error| {
        let message = format!("cannot read mapping file {}: {error}", path.display());
        Fault::new(FaultKind::System, message)
    })?;
    let mut split = SplitMap {
        key,
        ports: HashMap::new(),
        default: None,
        scratch: TupleBuf::default(),
        bytes: Vec::new(),
    };
    let count = build.operator.outputs.len() as i64;
    for (at, line) in (1..).zip(content.split(|&b| b == b'\n')) {
        split.add(line, count).map_err(|problem| {
            let path = path.display();
            let message = format!("line {at} of mapping file {path}: {problem}");
            Fault::value(message)
        })?;
    }
    Ok(Box::new(split))
}

impl SplitMap {
    /// Takes in a line. A problem is a clause without a full stop.
    fn add(&mut self, line: &[u8], count: i64) -> Result<(), String> {
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            return Ok(());
        }
        let ty = &self.key.layout.schema.attributes[0].ty;
        let (key, rest) = read_key(line, ty)?;
        let ports = read_ports(rest, count)?;
        match key {
            None => self.default = Some(ports),
            Some(key) => {
                let bytes = encode(&self.key.layout, &key);
                self.ports.insert(bytes, ports);
            }
        }
        Ok(())
    }
}

/// The key of a line, `None` for the default one, and what follows the comma after it.
fn read_key<'l>(line: &'l [u8], ty: &Type) -> Result<(Option<Value>, &'l [u8]), String> {
    let is_text = ty.is_string() || matches!(ty, Type::Enum(_));
    let comma = line.iter().position(|&b| b == b',');
    let word = line[..comma.unwrap_or(line.len())].trim_ascii_end();
    let (key, rest) = if word == b"default" {
        (None, &line[comma.unwrap_or(line.len())..])
    } else if is_text && !matches!(line[0], b'"' | b'\'') {
        let key = text::parse_whole(word, ty).map_err(|error| error.to_string())?;
        (Some(key), &line[comma.unwrap_or(line.len())..])
    } else {
        let mut reader = TextReader::new(line);
        let key = text::read(&mut reader, ty).map_err(|error| error.to_string())?;
        (Some(key), reader.rest())
    };
    let rest = rest.trim_ascii_start().strip_prefix(b",");
    let rest = rest.ok_or_else(|| "there is no port after the key".to_owned())?;
    Ok((key, rest))
}

/// The ports of a line up to a comment; negative ones drop out.
fn read_ports(text: &[u8], count: i64) -> Result<Box<[PortIndex]>, String> {
    let text = text.split(|&b| b == b'#').next().unwrap_or_default();
    let mut ports = Vec::new();
    for word in text.split(|&b| b == b',') {
        let word = String::from_utf8_lossy(word.trim_ascii());
        let port: i64 = word
            .parse()
            .map_err(|_| format!("`{word}` is not a port"))?;
        if port >= 0 {
            ports.push(PortIndex((port % count) as u32));
        }
    }
    Ok(ports.into())
}

fn encode(layout: &Layout, key: &Value) -> Box<[u8]> {
    let mut tuple = TupleBuf::default();
    tuple.begin(layout);
    tuple.set(layout, 0, key);
    let mut bytes = Vec::new();
    encode_key(tuple.as_ref(), layout, &mut bytes);
    bytes.into()
}

impl Operator for SplitMap {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.key.write(
            &EvaluationInputs::new(&[Some(tuple)]),
            out,
            &mut self.scratch,
        )?;
        self.bytes.clear();
        let key = self.scratch.as_ref();
        encode_key(key, &self.key.layout, &mut self.bytes);
        let ports = self.ports.get(&*self.bytes).or(self.default.as_ref());
        let Some(ports) = ports else {
            let attribute = &self.key.layout.schema.attributes[0];
            let key = text::to_text(&key.get(&self.key.layout, 0), &attribute.ty);
            let message = format!("the mapping file has neither a line for {key} nor a default");
            return Err(Fault::value(message));
        };
        for &port in ports {
            out.submit(port, tuple)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_be_quoted_and_bare() {
        let key = |line: &'static str| read_key(line.as_bytes(), &Type::RString);
        let (found, rest) = key("\"a,b\" , 1").unwrap();
        assert_eq!(found, Some(Value::RString("a,b".into())));
        assert_eq!(rest, b" 1");
        let (found, rest) = key("IBM ,0,2").unwrap();
        assert_eq!(found, Some(Value::RString("IBM".into())));
        assert_eq!(rest, b"0,2");
        assert_eq!(key("default,3").unwrap().0, None);
        assert!(key("IBM").is_err());
        let (found, _) = read_key(b"-7,1", &Type::Int32).unwrap();
        assert_eq!(found, Some(Value::Int32(-7)));
    }

    #[test]
    fn ports_end_at_a_comment_and_wrap() {
        let ports = read_ports(b" 0, 4 ,-1 # rest", 3).unwrap();
        assert_eq!(*ports, [PortIndex(0), PortIndex(1)]);
        assert_eq!(read_ports(b"x", 3).unwrap_err(), "`x` is not a port");
    }
}
