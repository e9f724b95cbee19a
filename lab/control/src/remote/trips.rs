//! Bare remote memory as the ends of a round trip.

use std::os::fd::BorrowedFd;

use transport::Waitable;

use super::{RemoteReceiver, RemoteSender};
use crate::Error;
use crate::round_trip::trip_stages::{SendMessage, TakeMessage};

/// The sending end of a round trip.
pub struct TripSender<S>(pub S);

/// The receiving end of a round trip.
pub struct TripReceiver<R>(pub R);

impl<S: RemoteSender> SendMessage for TripSender<S> {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.0.send(|room| room.copy_from_slice(message))
    }
}

impl<R: RemoteReceiver> TakeMessage for TripReceiver<R> {
    fn try_take(&mut self, message: &mut [u8]) -> Result<bool, Error> {
        self.0.try_take(|come| message.copy_from_slice(come))
    }
}

impl<R: RemoteReceiver> Waitable for TripReceiver<R> {
    fn arm(&mut self) -> Result<bool, transport::Error> {
        let may_sleep = self.0.node().may_sleep();
        may_sleep.map_err(|error| transport::Error::Refused(error.to_string()))
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(&'a self, readable: &mut Vec<BorrowedFd<'a>>, _: &mut Vec<BorrowedFd<'a>>) {
        // Without descriptors a thread sleeps until its time limit; the provider has them.
        if let Ok(fds) = self.0.node_ref().wait_fds() {
            readable.extend(fds);
        }
    }
}
