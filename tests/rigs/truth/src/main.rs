//! A streaming chat server whose truth is known: token k of every request is written at TTFT + k × TPOT after the request's last
//! byte, and the ACTUAL instant of each write is logged.
//!
//! One thread, epoll, a heap of absolute deadlines, and a spin for the last stretch: an async runtime's timers are 1 ms grained,
//! which is what this server exists to measure. With both times 0 it writes as fast as its clients read.
//!
//! `truth-server PORT`, then
//! - `GET /_truth/reset?ttft_us=&tpot_us=&tokens=&batch=` sets the schedule and empties the log;
//! - `GET /_truth/dump?path=FILE` writes the log, one JSON object a request, times in nanoseconds after the request's last byte.

mod http;
mod server;

fn main() {
    let port = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("usage: truth-server PORT");
    server::Server::bind(port).expect("the port can be bound").serve();
}
