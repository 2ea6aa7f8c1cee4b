//! Content encodings, undone as the bytes come: a gate asks for `identity`, but gateways compress event streams all the same.

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// Bytes that one slice of input (at most [`SLICE`] bytes) may decode to, and so the memory a decoder needs beside its window. A
/// deflate bomb reaches 4 MiB; more is brotli's worst case and no answer.
const MAX_OUTPUT: usize = 16 << 20;

/// Input is decoded in slices of this many bytes, so that the output between two slices stays small.
const SLICE: usize = 4 << 10;

/// Why a body could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// An encoding this build does not know.
    #[error("content-encoding {0} is not supported; ask the server or its proxy for identity")]
    Unknown(String),
    /// The bytes are not in that encoding.
    #[error("the body is not valid {encoding}: {why}")]
    Corrupt {
        /// The encoding.
        encoding: &'static str,
        /// The decoder's words.
        why: String,
    },
    /// Far more comes out than any answer has.
    #[error("a few KiB of {0} decode to more than {mib} MiB", mib = MAX_OUTPUT >> 20)]
    Bomb(&'static str),
    /// The body ended inside the encoding.
    #[error("the body ends in the middle of its {0} encoding")]
    Truncated(&'static str),
}

/// A push decoder for one body.
pub struct Decoder {
    kind: Kind,
    /// Whether any byte came: an empty body is a whole one in every encoding.
    any: bool,
}

enum Kind {
    Identity,
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// `deflate` is zlib by RFC 9110, 8.4.1.2, and raw deflate by many servers. The first two bytes tell.
    Undecided(Vec<u8>),
    Zlib(Box<ZlibDecoder<Sink>>),
    Raw(Box<DeflateDecoder<Sink>>),
    Brotli(Box<brotli::DecompressorWriter<Sink>>),
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("encoding", &self.name()).finish_non_exhaustive()
    }
}

impl Decoder {
    /// The decoder for a `content-encoding`; none at all is `identity`.
    ///
    /// # Errors
    /// [`EncodingError::Unknown`], also for several encodings on top of each other.
    pub fn new(encoding: Option<&str>) -> Result<Self, EncodingError> {
        let name = encoding.unwrap_or_default().trim().to_ascii_lowercase();
        let kind = match name.as_str() {
            "" | "identity" => Kind::Identity,
            "gzip" | "x-gzip" => Kind::Gzip(Box::new(MultiGzDecoder::new(Sink::default()))),
            "deflate" => Kind::Undecided(Vec::new()),
            "br" => Kind::Brotli(Box::new(brotli::DecompressorWriter::new(Sink::default(), SLICE))),
            _ => return Err(EncodingError::Unknown(name.chars().filter(|c| !c.is_control()).take(40).collect())),
        };
        Ok(Self { kind, any: false })
    }

    /// Decodes on; `out` gets what these bytes complete, piece by piece, until it says false.
    ///
    /// # Errors
    /// [`EncodingError::Corrupt`] or [`EncodingError::Bomb`], after which the decoder must not be used again.
    pub fn push(&mut self, bytes: &[u8], mut out: impl FnMut(&[u8]) -> bool) -> Result<(), EncodingError> {
        self.any |= !bytes.is_empty();
        let held = self.decide(bytes);
        let bytes = held.as_deref().unwrap_or(bytes);
        if matches!(self.kind, Kind::Identity) {
            out(bytes);
            return Ok(());
        }
        let name = self.name();
        for slice in bytes.chunks(SLICE) {
            let Some((decoded, sink)) = self.kind.write(slice) else { return Ok(()) };
            let go_on = sink.bytes.is_empty() || out(&sink.bytes);
            sink.bytes.clear();
            if sink.overflowed {
                return Err(EncodingError::Bomb(name));
            }
            decoded.map_err(|error| EncodingError::Corrupt { encoding: name, why: error.to_string() })?;
            if !go_on {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The body ended properly: is its encoding whole?
    ///
    /// # Errors
    /// [`EncodingError::Truncated`] where it is not.
    pub fn finish(&mut self) -> Result<(), EncodingError> {
        let name = self.name();
        if !self.any {
            return Ok(());
        }
        let whole = match &mut self.kind {
            Kind::Identity => Ok(()),
            Kind::Undecided(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Kind::Gzip(decoder) => decoder.try_finish(),
            Kind::Zlib(decoder) => decoder.try_finish(),
            Kind::Raw(decoder) => decoder.try_finish(),
            Kind::Brotli(decoder) => decoder.close(),
        };
        whole.map_err(|_| EncodingError::Truncated(name))
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Identity => "identity",
            Kind::Gzip(_) => "gzip",
            Kind::Undecided(_) | Kind::Zlib(_) | Kind::Raw(_) => "deflate",
            Kind::Brotli(_) => "br",
        }
    }

    /// Chooses between zlib and raw deflate once two bytes are there, and then gives these bytes with the held ones before them.
    fn decide(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Kind::Undecided(held) = &mut self.kind else { return None };
        held.extend_from_slice(bytes);
        let [first, second, ..] = held[..] else { return Some(Vec::new()) };
        let held = std::mem::take(held);
        // RFC 1950, 2.2: method 8 in the low nibble, and the two bytes as a number are a multiple of 31.
        let zlib = first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
        self.kind = if zlib {
            Kind::Zlib(Box::new(ZlibDecoder::new(Sink::default())))
        } else {
            Kind::Raw(Box::new(DeflateDecoder::new(Sink::default())))
        };
        Some(held)
    }
}

impl Kind {
    /// Feeds the decoder; its result and what came out.
    fn write(&mut self, slice: &[u8]) -> Option<(io::Result<()>, &mut Sink)> {
        fn all(decoder: &mut impl Write, slice: &[u8]) -> io::Result<()> {
            decoder.write_all(slice)?;
            // The decoders keep what they decoded until the next write; an event must not wait for it.
            decoder.flush()
        }
        Some(match self {
            Self::Identity | Self::Undecided(_) => return None,
            Self::Gzip(decoder) => (all(decoder, slice), decoder.get_mut()),
            Self::Zlib(decoder) => (all(decoder, slice), decoder.get_mut()),
            Self::Raw(decoder) => (all(decoder, slice), decoder.get_mut()),
            Self::Brotli(decoder) => (all(decoder, slice), decoder.get_mut()),
        })
    }
}

/// Where the decoders write to: it refuses what is too much.
#[derive(Debug, Default)]
struct Sink {
    bytes: Vec<u8>,
    overflowed: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_OUTPUT {
            self.overflowed = true;
            return Err(io::Error::other("too much output"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    const EVENTS: [&[u8]; 3] = [b"data: {\"a\":1}\n\n", b"data: {\"a\":2}\n\n", b"data: [DONE]\n\n"];

    /// Each event as a flushed block of its encoding, and then the encoding's end, as streaming servers send them.
    fn blocks(encoding: &str) -> Vec<Vec<u8>> {
        fn all<W: Write>(mut encoder: W, output: impl Fn(&W) -> &Vec<u8>, end: impl FnOnce(W) -> Vec<u8>) -> Vec<Vec<u8>> {
            let mut cuts = vec![0];
            for event in EVENTS {
                encoder.write_all(event).unwrap();
                encoder.flush().unwrap();
                cuts.push(output(&encoder).len());
            }
            let whole = end(encoder);
            cuts.push(whole.len());
            cuts.windows(2).map(|cut| whole[cut[0]..cut[1]].to_vec()).collect()
        }
        match encoding {
            "gzip" => all(GzEncoder::new(Vec::new(), Compression::default()), GzEncoder::get_ref, |end| end.finish().unwrap()),
            "zlib" => all(ZlibEncoder::new(Vec::new(), Compression::default()), ZlibEncoder::get_ref, |end| end.finish().unwrap()),
            "raw" => all(DeflateEncoder::new(Vec::new(), Compression::default()), DeflateEncoder::get_ref, |end| end.finish().unwrap()),
            "br" => all(
                brotli::CompressorWriter::new(Vec::new(), 4096, 5, 18),
                brotli::CompressorWriter::get_ref,
                brotli::CompressorWriter::into_inner,
            ),
            other => panic!("{other}"),
        }
    }

    fn header(encoding: &'static str) -> &'static str {
        if matches!(encoding, "zlib" | "raw") { "deflate" } else { encoding }
    }

    fn decode(decoder: &mut Decoder, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        decoder
            .push(bytes, |piece| {
                out.extend_from_slice(piece);
                true
            })
            .unwrap();
        out
    }

    #[test]
    fn each_flushed_event_comes_out_with_the_bytes_that_complete_it() {
        for encoding in ["gzip", "zlib", "raw", "br"] {
            let mut decoder = Decoder::new(Some(header(encoding))).unwrap();
            let blocks = blocks(encoding);
            for (block, event) in blocks.iter().zip(EVENTS) {
                assert_eq!(decode(&mut decoder, block), event, "{encoding}");
            }
            assert_eq!(decode(&mut decoder, &blocks[EVENTS.len()]), b"", "{encoding}");
            assert_eq!(decoder.finish(), Ok(()), "{encoding}");
        }
    }

    #[test]
    fn bytes_may_come_one_by_one_and_a_missing_end_is_noticed() {
        for encoding in ["gzip", "zlib", "raw", "br"] {
            let whole = blocks(encoding).concat();
            for length in [whole.len(), whole.len() - 1, 1] {
                let mut decoder = Decoder::new(Some(header(encoding))).unwrap();
                let out: Vec<u8> = whole[..length].iter().flat_map(|byte| decode(&mut decoder, &[*byte])).collect();
                if length == whole.len() {
                    assert_eq!(out, EVENTS.concat(), "{encoding}");
                    assert_eq!(decoder.finish(), Ok(()), "{encoding}");
                } else {
                    assert_eq!(decoder.finish(), Err(EncodingError::Truncated(header(encoding))), "{encoding}");
                }
            }
        }
    }

    #[test]
    fn an_empty_body_is_whole_in_every_encoding() {
        for encoding in [None, Some(""), Some("identity"), Some("gzip"), Some("X-GZIP"), Some("deflate"), Some("br")] {
            assert_eq!(Decoder::new(encoding).unwrap().finish(), Ok(()), "{encoding:?}");
        }
    }

    #[test]
    fn what_is_not_in_its_encoding_is_an_error() {
        for encoding in ["gzip", "deflate", "br"] {
            let mut decoder = Decoder::new(Some(encoding)).unwrap();
            let result = decoder.push(b"\xff\xff\xffdata: {}\n\ndata: {}\n\n", |_| true);
            assert!(matches!(result, Err(EncodingError::Corrupt { .. })), "{encoding}: {result:?}");
        }
        assert!(matches!(Decoder::new(Some("zstd")), Err(EncodingError::Unknown(_))));
        assert!(matches!(Decoder::new(Some("gzip, br")), Err(EncodingError::Unknown(_))));
    }

    #[test]
    fn a_bomb_never_fills_the_memory() {
        let zeros = vec![0; 1 << 20];
        let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22);
        for _ in 0..64 {
            encoder.write_all(&zeros).unwrap();
        }
        let bomb = encoder.into_inner();
        assert!(bomb.len() < SLICE, "{}", bomb.len());
        let mut decoder = Decoder::new(Some("br")).unwrap();
        let mut most = 0;
        let result = decoder.push(&bomb, |piece| {
            most = most.max(piece.len());
            true
        });
        assert_eq!(result, Err(EncodingError::Bomb("br")));
        assert!(most <= MAX_OUTPUT);

        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..64 {
            encoder.write_all(&zeros).unwrap();
        }
        let mut pieces = Vec::new();
        Decoder::new(Some("gzip"))
            .unwrap()
            .push(&encoder.finish().unwrap(), |piece| {
                pieces.push(piece.len());
                pieces.len() < 3
            })
            .unwrap();
        assert_eq!(pieces.len(), 3, "decoding stops when it is told to");
        assert!(pieces.iter().all(|piece| *piece <= SLICE * 1100), "{pieces:?}");
    }
}
