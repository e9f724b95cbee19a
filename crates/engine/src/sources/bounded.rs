//! Files that people name: source files, plans. Whatever a name leads to, reading it ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// No plan and no program is as large as this.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// A pipe or a terminal from which nothing comes for so long is given up: it would hold up the
/// command for ever without a word.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes of a file, or of what comes from a pipe until it is closed.
///
/// # Errors
/// It cannot be read, is a directory, has more than 64 MB, or nothing comes from it.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_with_timeout(path, READ_TIMEOUT)
}

/// The text of a file, as [`read`].
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The text of something that is open, with the same bound.
///
/// # Errors
/// It cannot be read, has more than 64 MB, or is not UTF-8.
pub fn read_from(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    match text.len() > BYTES_MAX {
        true => Err(too_large_error()),
        false => Ok(text),
    }
}

fn read_with_timeout(path: &Path, patience: Duration) -> io::Result<Vec<u8>> {
    // A pipe that nobody has opened for writing is not waited for here.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    let kind = FileType::from_raw_mode(fstat(&file)?.st_mode);
    if kind == FileType::Directory {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    let mut room = [0; 1 << 16];
    loop {
        if kind != FileType::RegularFile {
            wait_readable(&file, patience)?;
        }
        match file.read(&mut room) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&room[..count]),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
        if bytes.len() > BYTES_MAX {
            return Err(too_large_error());
        }
    }
}

/// Waits until there is something to read, or the end.
fn wait_readable(file: &File, patience: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: patience.as_secs().cast_signed(),
        tv_nsec: patience.subsec_nanos().into(),
    };
    let mut wanted = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut wanted, Some(&timeout)) {
        Ok(0) => {
            let message = format!("nothing has come from it for {patience:?}");
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
        let patience = Duration::from_millis(5);
        let why = read_with_timeout(Path::new(&path), patience).unwrap_err();
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
