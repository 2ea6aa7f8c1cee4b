//! Serves a stream case over a real socket, with the case's own schedule: every byte as the file says, nothing added but framing.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic as it may")]

use crate::cases::{Case, Step, Stream};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How long a hanging connection is held where its client does not close it.
const HANG: Duration = Duration::from_secs(30);

/// A server that plays one case. Stops accepting when dropped.
pub(crate) struct Player {
    /// The base URL to send a request to, ending in `/v1`.
    pub(crate) url: String,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    certificate: Option<NamedTempFile>,
}

/// What all connections share.
struct Script {
    first: Stream,
    second: Option<Stream>,
    /// Requests answered so far, over all connections.
    requests: AtomicUsize,
}

impl Script {
    fn next(&self) -> &Stream {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        self.second.as_ref().filter(|_| number > 0).unwrap_or(&self.first)
    }
}

impl Player {
    /// Starts playing `case` on a free port of the loopback.
    pub(crate) fn start(case: &Case) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Script { first: case.stream.clone(), second: case.second.clone(), requests: AtomicUsize::new(0) });
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let mut player = Self { url: format!("http://{address}/v1"), address, stop, certificate: None };
        if case.stream.h2 {
            let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
            let mut file = NamedTempFile::new().unwrap();
            file.write_all(cert.pem().as_bytes()).unwrap();
            player.certificate = Some(file);
            player.url = format!("https://{address}/v1");
            let tls = super::player_h2::acceptor(cert.der().clone(), &signing_key);
            thread::spawn(move || super::player_h2::serve(listener, &tls, || script.next().clone()));
        } else {
            thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok).take_while(|_| !stopped.load(Ordering::SeqCst)) {
                    let script = Arc::clone(&script);
                    // A client that has gone is no fault of the player's.
                    thread::spawn(move || drop(connection(stream, &script)));
                }
            });
        }
        player
    }

    /// The PEM file to trust, where the case needs TLS: what `SSL_CERT_FILE` is set to.
    pub(crate) fn certificate(&self) -> Option<&Path> {
        self.certificate.as_ref().map(NamedTempFile::path)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Plays over one HTTP/1.1 connection until its script closes it, or its client does.
fn connection(mut stream: TcpStream, script: &Script) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(is_post) = request(&mut stream)? {
        if !is_post {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        let received = Instant::now();
        let answer = script.next();
        if !play(&mut stream, answer, received)? {
            return end(stream, answer);
        }
        if script.second.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

/// Plays one answer; whether it came to a proper end.
fn play(stream: &mut TcpStream, answer: &Stream, received: Instant) -> io::Result<bool> {
    let Some(status) = answer.status else { return Ok(false) };
    let chunked = !answer.raw && answer.header("transfer-encoding") == Some("chunked");
    let mut head = Some(head(status, answer));
    for step in &answer.steps {
        match step {
            Step::Write(at, bytes) => {
                wait(received, *at);
                let mut out = head.take().unwrap_or_default();
                match (chunked, bytes.is_empty()) {
                    (_, true) => {}
                    (true, false) => {
                        out.extend(format!("{:x}\r\n", bytes.len()).as_bytes());
                        out.extend(bytes);
                        out.extend(b"\r\n");
                    }
                    (false, false) => out.extend(bytes),
                }
                stream.write_all(&out)?;
            }
            Step::Close(at) => {
                wait(received, *at);
                stream.write_all(&head.take().unwrap_or_default())?;
                if chunked {
                    stream.write_all(b"0\r\n\r\n")?;
                }
                return Ok(true);
            }
            Step::Reset(at) => {
                wait(received, *at);
                return Ok(false);
            }
            Step::Hang => return Ok(false),
        }
    }
    Ok(true)
}

fn head(status: u16, answer: &Stream) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Played\r\n");
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// The improper ends: an RST, or silence until the client leaves.
fn end(mut stream: TcpStream, answer: &Stream) -> io::Result<()> {
    if matches!(answer.steps.last(), Some(Step::Reset(_))) {
        // The standard library cannot set SO_LINGER yet; tokio can.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _inside = runtime.enter();
        stream.set_nonblocking(true)?;
        return tokio::net::TcpStream::from_std(stream)?.set_zero_linger();
    }
    stream.set_read_timeout(Some(HANG))?;
    let _ = stream.read(&mut [0]);
    Ok(())
}

/// Waits until `at` milliseconds after `received`.
fn wait(received: Instant, at: u64) {
    thread::sleep((received + Duration::from_millis(at)).saturating_duration_since(Instant::now()));
}

/// Reads a whole request; whether it is a POST. `None` at the connection's end.
fn request(stream: &mut TcpStream) -> io::Result<Option<bool>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(Some(head.starts_with("POST ")));
            }
        }
        match stream.read(&mut buffer)? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}
