//! The numbers of `enum thalweg_status`.

use topic::Error;

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Status {
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

/// A number with its sentence.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure {
            status: Status::Argument,
            message,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            Error::Name(_) => Status::Argument,
            Error::Config(_) => Status::Config,
            Error::Published { .. } | Error::Silent { .. } => Status::Published,
            Error::Crowded { .. } | Error::NoPlace { .. } => Status::Full,
            Error::TooLong { .. } => Status::TooLong,
            Error::NotAcquired { .. } => Status::State,
            Error::System { .. } => Status::System,
            Error::Foreign { .. } | Error::Stranger { .. } | Error::Join(_) | Error::Broken(_) => {
                Status::Refused
            }
        };
        let message = error.to_string();
        Failure { status, message }
    }
}
