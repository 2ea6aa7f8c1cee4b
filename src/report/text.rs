//! Text of others (spec, server, file names), made harmless before it is shown.

/// Longer texts are cut here: a report shows lines, not documents.
const LONGEST: usize = 2_000;

/// `text` on one line, with everything made visible that a terminal, a CI log or a reader's eye could be fooled by.
///
/// Line breaks and tabs become spaces. Control characters, escape sequences, bidirectional and invisible marks become `\u{…}`.
/// A `::` at the start of a word and `##[` are broken, because GitHub's runner takes them for commands. Cut at 2,000 characters.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars();
    for c in rest.by_ref().take(LONGEST) {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            ':' if before == ':' && starts_command(&out) => out.push_str("\\u{3a}"),
            '[' if out.ends_with("##") => out.push_str("\\u{5b}"),
            c if is_deceptive(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
        before = c;
    }
    if rest.next().is_some() {
        out.push_str(" [cut]");
    }
    out
}

/// Whether `c` is not what a reader sees: a control character, a mark that turns or hides text, a separator that breaks
/// lines, or no character at all.
pub(crate) fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether the colon just written stands at the start of a word.
fn starts_command(out: &str) -> bool {
    let head = out.strip_suffix(':').unwrap_or(out);
    head.chars().next_back().is_none_or(char::is_whitespace)
}

/// Greedy wrap of one line to `width` columns, each line after the first indented by `indent`. A number is never parted from its
/// unit or its comparison sign; a word longer than a line stands alone.
pub(crate) fn wrap(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut out = String::new();
    let mut column = 0;
    for piece in pieces(text) {
        let size = piece.chars().count();
        if column > 0 && column + 1 + size > room {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&piece);
        column += size;
    }
    out
}

/// Words, with figures kept whole: `<= 512 ms` is one piece.
fn pieces(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match out.last_mut() {
            Some(last) if ends_in_number(last) && is_unit(word) || is_comparison(last) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    out
}

fn ends_in_number(piece: &str) -> bool {
    let word = piece.rsplit(' ').next().unwrap_or(piece);
    word.trim_start_matches(['(', '+', '-', '<', '>', '=']).chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
        && word.ends_with(|c: char| c.is_ascii_digit())
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', '.', ')', ':']);
    matches!(word, "ms" | "s" | "%" | "pp" | "/s" | "tok/s" | "req/s" | "tokens" | "x")
}

/// Whether the next word belongs to this one: a comparison sign, or the name of a percentile.
fn is_comparison(piece: &str) -> bool {
    let word = piece.rsplit(' ').next().unwrap_or(piece);
    let percentile =
        word.strip_prefix(['P', 'p']).is_some_and(|rank| !rank.is_empty() && rank.chars().all(|c| c.is_ascii_digit() || c == '.'));
    percentile || matches!(word, "<" | "<=" | ">" | ">=")
}

/// Base 64 (RFC 4648), for the digest in a page's content security policy.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let index = (word >> (18 - 6 * place)) & 63;
            out.push(if place > chunk.len() { '=' } else { ALPHABET.get(index as usize).copied().unwrap_or(b'=').into() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_fool_a_terminal_is_made_visible() {
        assert_eq!(visible("a\x1b[31mred\x07\u{9b}"), "a\\u{1b}[31mred\\u{7}\\u{9b}");
        assert_eq!(visible("one\r\ntwo\tthree\0"), "one  two three\\u{0}");
        assert_eq!(visible("admin\u{202e}nimda\u{200b}"), "admin\\u{202e}nimda\\u{200b}");
        assert_eq!(visible("größe 1–8 日本"), "größe 1–8 日本");
    }

    #[test]
    fn a_runner_command_is_broken_and_an_address_is_not() {
        assert_eq!(visible("::error::boo"), ":\\u{3a}error::boo");
        assert_eq!(visible("x\n::add-mask::y"), "x :\\u{3a}add-mask::y");
        assert_eq!(visible("##[error]x"), "##\\u{5b}error]x");
        assert_eq!(visible("http://[::1]:8000"), "http://[::1]:8000");
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let cut = visible(&"x".repeat(1_000_000));
        assert_eq!(cut.len(), LONGEST + " [cut]".len());
    }

    #[test]
    fn wrapping_never_parts_a_figure_from_its_unit() {
        let text = "observed 512 ms with 480 ms to 561 ms, which keeps <= 800 ms at 97.3 % of them";
        for width in 20..90 {
            let wrapped = wrap(text, width, 2);
            assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
            for figure in ["512 ms", "480 ms", "561 ms", "<= 800 ms", "97.3 %"] {
                assert!(wrapped.contains(figure), "{width}: {wrapped}");
            }
        }
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
