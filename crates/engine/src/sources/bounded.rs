//! Reading files that users name (programs, plans) within bounds of size and time, so that reading
//! ends whatever the name leads to.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// Bytes of the largest file that is read: no program and no plan is as large.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// Time without a byte after which reading a pipe or a terminal is given up: the command would
/// otherwise hang without a message.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the bytes of a file, or of a pipe until it is closed.
///
/// # Errors
/// The file cannot be read, is a directory, has more than 64 MB, or gives no byte for 10 seconds.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_with_timeout(path, READ_TIMEOUT)
}

/// Reads the text of a file, within the bounds of [`read`].
///
/// # Errors
/// The file cannot be read within these bounds, or its text is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads the text of an open input, at most 64 MB.
///
/// # Errors
/// The input cannot be read, has more than 64 MB, or is not UTF-8.
pub fn read_from(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    match text.len() > BYTES_MAX {
        true => Err(too_large_error()),
        false => Ok(text),
    }
}

fn read_with_timeout(path: &Path, timeout: Duration) -> io::Result<Vec<u8>> {
    // Opening does not block on a pipe that nobody has opened for writing.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
    if kind == FileType::Directory {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    let mut buffer = [0; 1 << 16];
    loop {
        if kind != FileType::RegularFile {
            wait_readable(&file, timeout)?;
        }
        match file.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
        if bytes.len() > BYTES_MAX {
            return Err(too_large_error());
        }
    }
}

/// Waits until the file has bytes to read or has ended.
fn wait_readable(file: &File, timeout: Duration) -> io::Result<()> {
    let timespec = Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    let mut wanted = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut wanted, Some(&timespec)) {
        Ok(0) => {
            let message = format!("nothing has come from it for {timeout:?}");
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        }
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

fn too_large_error() -> io::Error {
    let megabytes = BYTES_MAX >> 20;
    let message = format!("it has more than {megabytes} MB, or no end");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_has_no_end_is_given_up() {
        let why = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(why, "it has more than 64 MB, or no end");
        let why = read_from(File::open("/dev/zero").unwrap()).unwrap_err();
        assert_eq!(why.to_string(), "it has more than 64 MB, or no end");
    }

    #[test]
    fn directories_are_said() {
        let why = read(Path::new("/")).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn pipes_are_read_to_their_end_and_silent_ones_given_up() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        let timeout = Duration::from_millis(5);
        let why = read_with_timeout(Path::new(&path), timeout).unwrap_err();
        assert_eq!(why.to_string(), "nothing has come from it for 5ms");
        let text = "x".repeat(10_000);
        writer.write_all(text.as_bytes()).unwrap();
        drop(writer);
        assert_eq!(read(Path::new(&path)).unwrap(), text.as_bytes());
        assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
    }

    #[test]
    fn text_is_utf_8() {
        let folder = std::env::temp_dir().join(format!("thalweg-bounded-{}", std::process::id()));
        std::fs::write(&folder, b"\xFF").unwrap();
        let found = read_text(&folder);
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(found.unwrap_err().to_string(), "it is not UTF-8");
    }
}
