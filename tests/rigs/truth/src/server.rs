//! The event loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd as _, RawFd};

use crate::http;

/// How long before a deadline the loop stops sleeping and spins, in nanoseconds. epoll sleeps in whole milliseconds.
const SPIN: u64 = 1_150_000;
/// Tokens a stream writes in its turn when there is no schedule.
const QUANTUM: usize = 16;
const WORDS: [&str; 8] = [" the", " cat", " sat", " on", " a", " mat", " and", " ran"];

/// CLOCK_MONOTONIC, nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// When tokens are due.
#[derive(Clone, Copy)]
struct Schedule {
    ttft: u64,
    tpot: u64,
    tokens: usize,
    /// Without a schedule: tokens a write.
    batch: usize,
}

/// What is logged of a request: instants of `now`.
struct Record {
    id: u64,
    received: u64,
    sends: Vec<u64>,
    tokens: usize,
    input: usize,
    usage: bool,
    aborted: bool,
}

struct Connection {
    socket: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
    waits_for_space: bool,
    answering: Option<Record>,
}

/// The server.
pub struct Server {
    listener: TcpListener,
    epoll: RawFd,
    schedule: Schedule,
    connections: HashMap<u64, Connection>,
    /// (deadline, connection, request): one entry a stream, for its next token.
    due: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// Streams without a schedule.
    unpaced: Vec<u64>,
    log: Vec<Record>,
    next_id: u64,
}

impl Server {
    /// Listens on a loopback port.
    pub fn bind(port: u16) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        // SAFETY: no pointers; a negative result is checked.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(Error::last_os_error());
        }
        let schedule = Schedule { ttft: 200_000_000, tpot: 20_000_000, tokens: 100, batch: 1 };
        let server = Self {
            epoll,
            schedule,
            connections: HashMap::new(),
            due: BinaryHeap::new(),
            unpaced: vec![],
            log: vec![],
            next_id: 0,
            listener,
        };
        server.watch(server.listener.as_raw_fd(), 0, libc::EPOLL_CTL_ADD, false);
        Ok(server)
    }

    /// Serves until it is killed.
    pub fn serve(mut self) -> ! {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 256];
        loop {
            // SAFETY: `events` holds the 256 entries that the call may fill.
            let ready = unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), 256, self.sleep_ms()) };
            for event in &events[..usize::try_from(ready).unwrap_or(0)] {
                let (flags, key) = (event.events, event.u64);
                if key == 0 {
                    self.accept();
                    continue;
                }
                if flags & !(libc::EPOLLOUT as u32) != 0 {
                    self.read(key);
                }
                if flags & libc::EPOLLOUT as u32 != 0 {
                    self.flush(key);
                }
            }
            self.write_due();
            self.write_unpaced();
        }
    }

    fn sleep_ms(&self) -> i32 {
        if !self.unpaced.is_empty() {
            return 0;
        }
        let Some(Reverse((deadline, ..))) = self.due.peek() else { return 1000 };
        i32::try_from(deadline.saturating_sub(now()).saturating_sub(SPIN) / 1_000_000).unwrap_or(1000)
    }

    fn watch(&self, socket: RawFd, key: u64, operation: libc::c_int, space: bool) {
        let space = if space { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLRDHUP | space) as u32, u64: key };
        // SAFETY: `event` is valid for the call; both descriptors are open.
        unsafe { libc::epoll_ctl(self.epoll, operation, socket, &raw mut event) };
    }

    fn accept(&mut self) {
        while let Ok((socket, _)) = self.listener.accept() {
            let _ = socket.set_nonblocking(true);
            let _ = socket.set_nodelay(true);
            self.next_id += 1;
            self.watch(socket.as_raw_fd(), self.next_id, libc::EPOLL_CTL_ADD, false);
            let connection = Connection { socket, input: vec![], output: vec![], written: 0, waits_for_space: false, answering: None };
            self.connections.insert(self.next_id, connection);
        }
    }

    fn read(&mut self, key: u64) {
        let mut buffer = [0_u8; 65_536];
        while let Some(connection) = self.connections.get_mut(&key) {
            match connection.socket.read(&mut buffer) {
                Ok(0) => return self.close(key),
                Ok(read) => connection.input.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.close(key),
            }
        }
        self.take_request(key);
    }

    fn close(&mut self, key: u64) {
        // Dropping the socket closes it, and a closed descriptor leaves epoll by itself.
        if let Some(record) = self.connections.remove(&key).and_then(|connection| connection.answering) {
            self.log.push(Record { aborted: true, ..record });
        }
    }

    fn take_request(&mut self, key: u64) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if connection.answering.is_some() {
            return;
        }
        let Some((request, used)) = http::request(&connection.input) else { return };
        connection.input.drain(..used);
        let received = now();
        if request.method == "POST" && request.path.ends_with("/chat/completions") && request.is_true("stream") {
            return self.begin(key, &request, received);
        }
        let (status, body) = self.control(&request);
        if let Some(connection) = self.connections.get_mut(&key) {
            http::answer(&mut connection.output, status, &body);
        }
        self.flush(key);
        self.take_request(key);
    }

    fn begin(&mut self, key: u64, request: &http::Request, received: u64) {
        let asked = request.integer("max_completion_tokens").or_else(|| request.integer("max_tokens"));
        self.next_id += 1;
        let record = Record {
            id: self.next_id,
            received,
            sends: Vec::with_capacity(self.schedule.tokens),
            tokens: asked.unwrap_or(self.schedule.tokens).max(1),
            // Words in the body stand for tokens: nobody judges lengths here.
            input: request.body.split(' ').count(),
            usage: request.is_true("include_usage"),
            aborted: false,
        };
        let Some(connection) = self.connections.get_mut(&key) else { return };
        http::stream_head(&mut connection.output);
        // The role event goes out at once, as real servers send it: a client that takes it for the first token is caught.
        http::event(&mut connection.output, &http::delta(record.id, r#"{"role":"assistant","content":""}"#, "null"));
        let id = record.id;
        connection.answering = Some(record);
        if self.schedule.ttft == 0 && self.schedule.tpot == 0 {
            self.unpaced.push(key);
        } else {
            self.due.push(Reverse((received + self.schedule.ttft, key, id)));
        }
        self.flush(key);
    }

    fn control(&mut self, request: &http::Request) -> (&'static str, String) {
        let number = |key, default| request.query(key).and_then(|text| text.parse().ok()).unwrap_or(default);
        if request.path.starts_with("/_truth/reset") {
            let Schedule { ttft, tpot, tokens, batch } = self.schedule;
            self.schedule = Schedule {
                ttft: number("ttft_us", ttft / 1000) * 1000,
                tpot: number("tpot_us", tpot / 1000) * 1000,
                tokens: usize::try_from(number("tokens", tokens as u64)).unwrap_or(tokens),
                batch: usize::try_from(number("batch", batch as u64)).unwrap_or(batch).max(1),
            };
            self.log.clear();
        } else if request.path.starts_with("/_truth/dump") {
            let written = request.query("path").map(|path| std::fs::write(path, self.dump()));
            if !matches!(written, Some(Ok(()))) {
                return ("500 Internal Server Error", r#"{"error":"the log could not be written"}"#.to_owned());
            }
        } else if request.path.ends_with("/models") {
            return ("200 OK", r#"{"object":"list","data":[{"id":"truth","object":"model","max_model_len":1000000}]}"#.to_owned());
        } else {
            return ("404 Not Found", r#"{"error":{"message":"not found","type":"not_found","code":404}}"#.to_owned());
        }
        ("200 OK", "{}".to_owned())
    }

    fn dump(&self) -> String {
        let mut text = String::new();
        for record in &self.log {
            let sends: Vec<String> = record.sends.iter().map(|at| (at - record.received).to_string()).collect();
            let _ = writeln!(
                text,
                "{{\"id\":{},\"received\":{},\"aborted\":{},\"sends\":[{}]}}",
                record.id,
                record.received,
                record.aborted,
                sends.join(",")
            );
        }
        text
    }

    fn write_due(&mut self) {
        while let Some(&Reverse((deadline, key, id))) = self.due.peek() {
            if deadline > now() {
                return;
            }
            self.due.pop();
            if self.write_token(key, Some(id)) {
                self.due.push(Reverse((deadline + self.schedule.tpot, key, id)));
            }
        }
    }

    fn write_unpaced(&mut self) {
        for key in std::mem::take(&mut self.unpaced) {
            let goes_on = (0..QUANTUM).all(|_| self.can_write(key) && self.write_token(key, None));
            let answering = self.connections.get(&key).is_some_and(|connection| connection.answering.is_some());
            if (goes_on || answering) && !self.unpaced.contains(&key) {
                self.unpaced.push(key);
            }
        }
    }

    fn can_write(&self, key: u64) -> bool {
        self.connections.get(&key).is_some_and(|connection| !connection.waits_for_space)
    }

    /// Writes a stream's next token, and its end after the last; true while it goes on. `id` guards against a deadline left by a
    /// request that was given up.
    fn write_token(&mut self, key: u64, id: Option<u64>) -> bool {
        let Some(connection) = self.connections.get_mut(&key) else { return false };
        let Some(record) = connection.answering.as_mut() else { return false };
        if id.is_some_and(|id| id != record.id) {
            return false;
        }
        let word = WORDS[record.sends.len() % WORDS.len()];
        http::event(&mut connection.output, &http::delta(record.id, &format!(r#"{{"content":"{word}"}}"#), "null"));
        record.sends.push(now());
        let more = record.sends.len() < record.tokens;
        // The last token goes out on its own before the tail, so that its instant is its own.
        if id.is_some() || !more || record.sends.len() % self.schedule.batch == 0 {
            self.flush(key);
        }
        if !more {
            self.finish(key);
        }
        more
    }

    fn finish(&mut self, key: u64) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Some(record) = connection.answering.take() else { return };
        http::event(&mut connection.output, &http::delta(record.id, "{}", r#""length""#));
        if record.usage {
            http::event(&mut connection.output, &http::usage(record.id, record.input, record.tokens));
        }
        http::event(&mut connection.output, "[DONE]");
        http::stream_end(&mut connection.output);
        self.log.push(record);
        self.flush(key);
        self.take_request(key);
    }

    /// Writes what stands in the connection's buffer as far as the socket takes it.
    fn flush(&mut self, key: u64) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        while connection.written < connection.output.len() {
            match connection.socket.write(&connection.output[connection.written..]) {
                Ok(0) => return self.close(key),
                Ok(written) => connection.written += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return self.close(key),
            }
        }
        let blocked = connection.written < connection.output.len();
        if !blocked {
            connection.output.clear();
            connection.written = 0;
        }
        if blocked != connection.waits_for_space {
            connection.waits_for_space = blocked;
            let socket = connection.socket.as_raw_fd();
            self.watch(socket, key, libc::EPOLL_CTL_MOD, blocked);
        }
    }
}
