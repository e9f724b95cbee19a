//! Scanning: bytes of XML text in, tokens out.

mod markup;
mod scanner;
pub(crate) mod text;
mod token;

pub use scanner::{Scanner, ScannerLimits};
pub use token::XmlToken;
