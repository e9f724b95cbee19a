//! Status numbers of the header's `enum thalweg_status`, and errors with their sentences.

use topic::Error;

/// Status that a call returns, as in `enum thalweg_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum ApiStatus {
    Ok = 0,
    WouldBlock = 1,
    Argument = -1,
    Config = -2,
    Published = -3,
    Refused = -4,
    Full = -5,
    TooLong = -6,
    State = -7,
    System = -8,
    Busy = -9,
    Bug = -10,
}

/// A status with the sentence that `thalweg_error` returns.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: ApiStatus,
    pub(crate) message: String,
}

impl ApiError {
    pub(crate) fn argument(message: impl Into<String>) -> ApiError {
        let message = message.into();
        ApiError {
            status: ApiStatus::Argument,
            message,
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let status = match &error {
            Error::InvalidName(_) => ApiStatus::Argument,
            Error::Config(_) => ApiStatus::Config,
            Error::AlreadyPublished { .. } | Error::Unresponsive { .. } => ApiStatus::Published,
            Error::TooManyWaiting { .. } | Error::PublisherFull { .. } => ApiStatus::Full,
            Error::MessageTooLong { .. } => ApiStatus::TooLong,
            Error::NotAcquired { .. } => ApiStatus::State,
            Error::System { .. } => ApiStatus::System,
            Error::ForeignUser { .. }
            | Error::InvalidHandshake { .. }
            | Error::Join(_)
            | Error::RingBroken(_) => ApiStatus::Refused,
        };
        let message = error.to_string();
        ApiError { status, message }
    }
}
