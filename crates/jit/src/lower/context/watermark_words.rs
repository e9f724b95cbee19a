//! The words of an operator's watermark, by address.

use eval::OperatorEventTime;

/// The words of an operator's watermark, by address: see [`eval::OperatorWatermark`].
#[derive(Clone, Copy, Debug)]
pub struct WatermarkWords {
    /// Address of the latest event time that has passed.
    pub latest: i64,
    /// Address of the least event time whose watermark is sent.
    pub next_sent: i64,
}

impl WatermarkWords {
    /// The words of an operator.
    pub fn from_event_time(event_time: &OperatorEventTime) -> WatermarkWords {
        let watermark = event_time.generated_watermark();
        WatermarkWords {
            latest: watermark.latest_address().expose_provenance() as i64,
            next_sent: watermark.next_sent_address().expose_provenance() as i64,
        }
    }
}
