//! A PE's process as a rank: joins the others, and finds the launcher of rank 0.
//!
//! ```text
//!   PE 0      share():    join --> contact of the launcher to all ranks
//!   others    connect():  join --> contact --> three connections: control, output, errors
//! ```
//! On one host the connections are Unix sockets, which can carry descriptors; between hosts TCP.
//! Standard output and error of this process become connections to the launcher, which writes the
//! lines of all PEs as those of its children.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use transport::media::{self, plugin};

use crate::control::{
    ANSWER_BYTES, HANDSHAKE_BYTES, RankContact, RankHandshake, RankShare, RankSocketKind,
};
use crate::error::Error;
use crate::job::RankOptions;

/// Longest time for a connection to an address of the launcher, and for its answer: the launcher
/// waits for nothing else meanwhile.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Joins the ranks as rank 0, and gives the others the contact of the launcher.
///
/// # Errors
/// [`Error::Program`]: the library fails, or is of another MPI than the ranks.
pub fn share(share: &RankShare) -> Result<(), Error> {
    let folders: Vec<_> = share.media_path.iter().map(|f| f.0.clone()).collect();
    media::search(&folders);
    let text = serde_json::to_vec(&share.contact);
    let text = text.map_err(|error| Error::Program(format!("internal error: {error}")))?;
    let mut bytes = [0; plugin::SHARE_BYTES_MAX];
    let room = bytes.get_mut(..text.len());
    let room = room.ok_or_else(|| Error::Program("internal error: a long contact".to_owned()))?;
    room.copy_from_slice(&text);
    exchange(&share.medium, (0, share.contact.rank_count), &mut bytes)
}

/// Joins the ranks, and connects to the launcher of rank 0. Returns the control connection.
///
/// # Errors
/// [`Error::Program`]: this process is no rank, the library fails, or the launcher cannot be
/// reached.
pub fn connect(ranks: &RankOptions) -> Result<OwnedFd, Error> {
    let missing = || Error::Program("this process was not started as a rank".to_owned());
    let environment = ranks.environment.as_ref().ok_or_else(missing)?;
    let (rank, size) = (environment.rank, environment.size);
    let mut bytes = [0; plugin::SHARE_BYTES_MAX];
    media::search(&ranks.media_path);
    exchange(&ranks.medium, (rank, size), &mut bytes)?;
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = &bytes[..end.unwrap_or(bytes.len())];
    let contact: Option<RankContact> = serde_json::from_slice(text).ok();
    let contact = contact.filter(|contact| contact.version == env!("CARGO_PKG_VERSION"));
    let contact = contact.ok_or_else(|| {
        Error::Program(format!(
            "rank 0 runs another version of thalweg than rank {rank}"
        ))
    })?;
    let open = |kind| {
        let opened = open_socket(&contact, RankHandshake { rank, kind });
        opened.map_err(|error| {
            let to = contact.addresses.iter().map(ToString::to_string);
            let to: Vec<_> = ["a socket of its host".to_owned()]
                .into_iter()
                .chain(to)
                .collect();
            let tried = to.join(", ");
            let why =
                format!("rank {rank} cannot reach the launcher of rank 0 by {tried}: {error}");
            Error::Program(why)
        })
    };
    let control = open(RankSocketKind::Control)?;
    let output = open(RankSocketKind::Output)?;
    let errors = open(RankSocketKind::Errors)?;
    let failed = |error: rustix::io::Errno| Error::system("set standard output", error);
    rustix::stdio::dup2_stdout(&output).map_err(failed)?;
    rustix::stdio::dup2_stderr(&errors).map_err(failed)?;
    Ok(control)
}

/// Joins the ranks and takes part when rank 0 gives bytes to all; `expected` are the rank and the
/// number of ranks by the environment.
fn exchange(
    medium: &str,
    expected: (u32, u32),
    bytes: &mut [u8; plugin::SHARE_BYTES_MAX],
) -> Result<(), Error> {
    let failed = |error: transport::Error| Error::Program(error.to_string());
    let ranks = plugin::ranks_of(medium).ok_or_else(|| {
        Error::Program(format!(
            "there is no medium {medium} whose processes are ranks"
        ))
    })?;
    let member = ranks.join().map_err(failed)?;
    if (member.rank, member.size) != expected {
        let plugin::MemberRank { rank, size } = member;
        return Err(Error::Program(format!(
            "the library of {medium} says that this is rank {rank} of {size}, and the command that \
             started it says rank {} of {}: build the library with the mpicc of the same MPI \
             (`thalweg medium build {medium} --mpicc COMMAND`)",
            expected.0, expected.1
        )));
    }
    ranks.share(bytes).map_err(failed)
}

/// Opens a connection to the launcher: on its host by a Unix socket, else by TCP.
fn open_socket(contact: &RankContact, handshake: RankHandshake) -> io::Result<OwnedFd> {
    let handshake = contact.encode_handshake(handshake);
    let name = SocketAddr::from_abstract_name(&contact.unix_name)?;
    let mut last = match UnixStream::connect_addr(&name) {
        Ok(socket) => {
            socket.set_read_timeout(Some(CONNECT_TIMEOUT))?;
            exchange_handshake(&socket, &handshake, contact)?;
            socket.set_read_timeout(None)?;
            return Ok(socket.into());
        }
        Err(error) => error,
    };
    for address in &contact.addresses {
        match TcpStream::connect_timeout(address, CONNECT_TIMEOUT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(CONNECT_TIMEOUT))?;
                exchange_handshake(&socket, &handshake, contact)?;
                socket.set_read_timeout(None)?;
                return Ok(socket.into());
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Sends a handshake, and checks that the launcher answers: nobody else may give this process a
/// program.
fn exchange_handshake<S>(
    mut socket: S,
    handshake: &[u8; HANDSHAKE_BYTES],
    contact: &RankContact,
) -> io::Result<()>
where
    S: Read + Write,
{
    let mut answer = [0; ANSWER_BYTES];
    socket.write_all(handshake)?;
    socket.read_exact(&mut answer)?;
    match answer == contact.answer {
        true => Ok(()),
        false => Err(io::Error::other("another program answers there")),
    }
}
