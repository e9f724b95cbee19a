//! A medium that has one receiver an edge and no more: what the suite asks of media like it.

use transport::{EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd, media};

/// Another one, but for its receivers.
pub struct Single;

fn inner() -> &'static dyn Medium {
    media::find("tcp").expect("tcp is registered")
}

impl Medium for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            is_one_to_many: false,
            receivers_max: 1,
            ..inner().caps()
        }
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        if spec.receiver_count != 1 {
            let why = format!("{}: one receiver, not {}", spec.name, spec.receiver_count);
            return Err(Error::Refused(why));
        }
        inner().open(spec)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        inner().accept(spec, ticket)
    }
}
