//! URIs of documents and paths of files, as each other.
//!
//! A document without a file (`untitled:Untitled-1`) gets a path that no file has, so that it can
//! be checked like others.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use lsp_types::Uri;

/// The path of a document.
pub fn path_of(uri: &Uri) -> PathBuf {
    let text = uri.as_str();
    let Some(behind) = text.strip_prefix("file://") else {
        return PathBuf::from(text);
    };
    let path = behind.find('/').map_or("/", |start| &behind[start..]);
    PathBuf::from(OsString::from_vec(decoded(path)))
}

/// The URI of a file with an absolute path; `None` for other paths.
pub fn uri_of(path: &Path) -> Option<Uri> {
    if !path.is_absolute() {
        return None;
    }
    let mut text = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => text.push(byte as char),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text.parse().ok()
}

/// The bytes of a text in which some are written `%XX`.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_being_uris() {
        for path in ["/a/b.spl", "/with blank/é%20.spl", "/#?[x]"] {
            let uri = uri_of(Path::new(path)).expect(path);
            assert_eq!(path_of(&uri), Path::new(path), "{}", uri.as_str());
        }
        assert!(uri_of(Path::new("relative")).is_none());
        let odd = PathBuf::from(OsString::from_vec(b"/odd\xff.spl".to_vec()));
        assert_eq!(path_of(&uri_of(&odd).expect("a URI")), odd);
    }

    #[test]
    fn other_forms_have_paths_too() {
        let path = |text: &str| path_of(&text.parse().expect(text));
        assert_eq!(path("file:///c%3A/x.spl"), Path::new("/c:/x.spl"));
        assert_eq!(path("file://host/x"), Path::new("/x"));
        assert_eq!(
            path("untitled:Untitled-1"),
            Path::new("untitled:Untitled-1")
        );
    }
}
