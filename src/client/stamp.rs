//! When bytes came: one stamp a read of the socket.

use crate::units::Nanos;

/// A piece that is there this soon after it was asked for had been read already.
const AT_ONCE: Nanos = Nanos(100_000);
/// Two pieces further apart than this are of two reads all the same.
const APART: Nanos = Nanos(1_000_000);

/// Gives the pieces of one read one stamp.
///
/// The HTTP layer reads the socket in a task of its own and hands out one piece for each HTTP chunk or frame. When a proxy lets go
/// of a whole answer at once, these would get stamps some microseconds apart, and look like a very fast decode.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// The stamp given last, and when that piece was handed out.
    last: Option<(Nanos, Nanos)>,
}

impl Stamps {
    /// The stamp of a piece that was asked for at `asked` and handed out at `now`.
    pub(super) fn stamp(&mut self, asked: Nanos, now: Nanos) -> Nanos {
        let at = match self.last {
            Some((at, before)) if now.since(asked) < AT_ONCE && now.since(before) < APART => at,
            _ => now,
        };
        self.last = Some((at, now));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Nanos {
        Nanos(micros * 1_000)
    }

    #[test]
    fn pieces_that_were_there_already_share_a_stamp() {
        let mut stamps = Stamps::default();
        assert_eq!(stamps.stamp(micros(0), micros(500)), micros(500));
        assert_eq!(stamps.stamp(micros(510), micros(530)), micros(500));
        assert_eq!(stamps.stamp(micros(600), micros(650)), micros(500));
    }

    #[test]
    fn a_piece_that_was_waited_for_has_its_own() {
        let mut stamps = Stamps::default();
        assert_eq!(stamps.stamp(micros(0), micros(500)), micros(500));
        assert_eq!(stamps.stamp(micros(510), micros(830)), micros(830), "a server with 3,000 tokens/s");
    }

    #[test]
    fn a_long_look_into_a_piece_does_not_backdate_the_next() {
        let mut stamps = Stamps::default();
        assert_eq!(stamps.stamp(micros(0), micros(500)), micros(500));
        assert_eq!(stamps.stamp(micros(9_000), micros(9_010)), micros(9_010));
    }
}
