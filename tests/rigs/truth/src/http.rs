//! Just enough HTTP and JSON: heads, bodies with a length, chunks out.

use std::io::Write as _;

/// A whole request at the front of `bytes`, and how many bytes it took; `None` until all of it is there.
pub fn request(bytes: &[u8]) -> Option<(Request, usize)> {
    let head_end = memchr::memmem::find(bytes, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.trim().parse::<usize>().unwrap_or(0));
    let used = head_end + 4 + length;
    let body = String::from_utf8_lossy(bytes.get(head_end + 4..used)?).into_owned();
    let mut words = head.split(' ');
    Some((Request { method: words.next()?.to_owned(), path: words.next()?.to_owned(), body }, used))
}

/// One request.
pub struct Request {
    pub method: String,
    pub path: String,
    pub body: String,
}

impl Request {
    /// A query parameter.
    pub fn query(&self, key: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The first integer after `"key":` in the body: good enough for what load generators send.
    pub fn integer(&self, key: &str) -> Option<usize> {
        let text = self.after(key)?;
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse().ok()
    }

    /// Whether the body says `"key": true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.after(key).is_some_and(|text| text.starts_with("true"))
    }

    fn after(&self, key: &str) -> Option<&str> {
        let key = format!("\"{key}\"");
        let at = self.body.find(&key)? + key.len();
        self.body[at..].trim_start().strip_prefix(':').map(str::trim_start)
    }
}

/// The head of an event stream.
pub fn stream_head(out: &mut Vec<u8>) {
    out.extend_from_slice(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n",
    );
}

/// One chunk holding one event.
pub fn event(out: &mut Vec<u8>, data: &str) {
    let _ = write!(out, "{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8);
}

/// The chunk that ends a stream.
pub fn stream_end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

/// A whole JSON answer.
pub fn answer(out: &mut Vec<u8>, status: &str, body: &str) {
    let _ = write!(out, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
}

/// A chat chunk with this delta.
pub fn delta(id: u64, delta: &str, finish: &str) -> String {
    format!(
        "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"truth\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}"
    )
}

/// The chunk with usage.
pub fn usage(id: u64, input: usize, output: usize) -> String {
    format!(
        "{{\"id\":\"chatcmpl-{id}\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"truth\",\"choices\":[],\
         \"usage\":{{\"prompt_tokens\":{input},\"total_tokens\":{},\"completion_tokens\":{output}}}}}",
        input + output
    )
}
