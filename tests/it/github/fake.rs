//! A GitHub that keeps what it is told, in this process, with the rules that its description leaves out.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// The token that it takes.
pub(crate) const TOKEN: &str = "ghs_secretsecretsecret";
pub(crate) const BOT: &str = "github-actions[bot]";
pub(crate) const REPO: &str = "/repos/acme/serve";

/// What happens to the next request whose method and path begin like this.
pub(crate) struct Fault {
    pub(crate) at: &'static str,
    pub(crate) how: How,
}

pub(crate) enum How {
    /// This answer in place of its own.
    Answer(u16, &'static [(&'static str, &'static str)]),
    /// The thing is done, and then the answer is 502.
    LoseReply,
    /// This happens before it is looked at.
    Before(fn(&mut World)),
}

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) authorized: bool,
    pub(crate) body: Value,
}

/// What it keeps.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) prefix: &'static str,
    pub(crate) comments: Vec<Value>,
    pub(crate) head: String,
    pub(crate) pulls: Vec<Value>,
    pub(crate) statuses: Vec<Value>,
    pub(crate) asked: Vec<Asked>,
    pub(crate) faults: VecDeque<Fault>,
    /// A token of a fork: nothing may be written.
    pub(crate) read_only: bool,
    /// Where every request of the API is sent on to.
    pub(crate) moved_to: Option<String>,
    pub(crate) data: super::data::Data,
}

pub(crate) struct Github {
    pub(crate) url: String,
    world: Arc<Mutex<World>>,
}

impl Github {
    pub(crate) fn start() -> Self {
        let world = Arc::new(Mutex::new(World { head: sha('a'), ..World::default() }));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = axum::Router::new().fallback(answer).with_state(Arc::clone(&world));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, app).await.unwrap();
            });
        });
        Self { url, world }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// `others` comments of people, so that ours stands on a later page.
    pub(crate) fn crowd(&self, others: usize) {
        let mut world = self.world();
        for _ in 0..others {
            world.add_comment("somebody", "a comment about <!-- goodput-gate --> things");
        }
    }

    /// Bodies of the comments that the gate wrote.
    pub(crate) fn ours(&self) -> Vec<String> {
        let world = self.world();
        let ours = world.comments.iter().filter(|comment| comment["user"]["login"] == BOT);
        ours.map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }

    /// How many requests had this method and path, whatever their query.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.world().asked.iter().filter(|asked| asked.line.split('?').next() == Some(line)).count()
    }
}

/// A commit hash of one digit.
pub(crate) fn sha(digit: char) -> String {
    digit.to_string().repeat(40)
}

impl World {
    pub(crate) fn add_comment(&mut self, login: &str, body: &str) -> Value {
        let id = self.comments.len() as u64 + 1;
        let url = format!("https://github.example/acme/serve/pull/7#issuecomment-{id}");
        let comment = json!({ "id": id, "html_url": url, "user": { "login": login }, "body": body });
        self.comments.push(comment.clone());
        comment
    }

    fn handle(&mut self, method: &str, path: &str, query: &str, body: &Value) -> (u16, Value) {
        let Some(path) = path.strip_prefix(self.prefix) else { return missing() };
        let Some(path) = path.strip_prefix(REPO) else { return missing() };
        if self.read_only && method != "GET" {
            return (403, json!({ "message": "Resource not accessible by integration" }));
        }
        let text = body["body"].as_str().unwrap_or_default();
        if text.chars().count() > 65_536 {
            return (422, json!({ "message": "body is too long (maximum is 65536 characters)" }));
        }
        match (method, path) {
            ("GET", "/issues/7/comments") => (200, page(&self.comments, query)),
            ("POST", "/issues/7/comments") => (201, self.add_comment(BOT, text)),
            ("PATCH", _) if path.starts_with("/issues/comments/") => {
                let id: Value = path.rsplit('/').next().unwrap().parse::<u64>().unwrap().into();
                match self.comments.iter_mut().find(|comment| comment["id"] == id) {
                    Some(comment) => {
                        comment["body"] = text.into();
                        (200, comment.clone())
                    }
                    None => missing(),
                }
            }
            ("GET", "/pulls/7") => (200, json!({ "number": 7, "head": { "sha": self.head } })),
            ("GET", "/pulls") => (200, page(&self.pulls, query)),
            ("POST", _) if path.starts_with("/statuses/") => {
                if body["description"].as_str().unwrap_or_default().chars().count() > 140 {
                    return (422, json!({ "message": "description is too long (maximum is 140 characters)" }));
                }
                let mut status = body.clone();
                status["sha"] = path.rsplit('/').next().into();
                self.statuses.push(status.clone());
                (201, status)
            }
            _ => self.data.handle(method, path, query, body).unwrap_or_else(missing),
        }
    }
}

fn missing() -> (u16, Value) {
    (404, json!({ "message": "Not Found" }))
}

fn parameter(query: &str, name: &str) -> Option<usize> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// One page; GitHub gives 30 entries unless told, and never more than 100.
pub(crate) fn page(all: &[Value], query: &str) -> Value {
    let size = parameter(query, "per_page").unwrap_or(30).min(100);
    let page = parameter(query, "page").unwrap_or(1);
    all.iter().skip((page - 1) * size).take(size).cloned().collect()
}

async fn answer(State(world): State<Arc<Mutex<World>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 64 << 20).await.unwrap();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let (path, query) = (parts.uri.path().to_owned(), parts.uri.query().unwrap_or_default().to_owned());
    let method = parts.method.as_str();
    let line = format!("{method} {}", parts.uri);
    let authorized = parts.headers.get("authorization").is_some_and(|value| value == &format!("Bearer {TOKEN}"));
    let mut world = world.lock().unwrap();
    world.asked.push(Asked { line: line.clone(), authorized, body: body.clone() });
    if let Some(place) = &world.moved_to {
        return reply(307, &[("location", &format!("{place}{}", parts.uri))], &Value::Null);
    }
    if !authorized {
        return reply(401, &[], &json!({ "message": "Bad credentials" }));
    }
    let hit = world.faults.iter().position(|fault| line.starts_with(fault.at));
    match hit.and_then(|at| world.faults.remove(at)).map(|fault| fault.how) {
        Some(How::Answer(status, headers)) => return reply(status, headers, &json!({ "message": "made up" })),
        Some(How::LoseReply) => {
            world.handle(method, &path, &query, &body);
            return reply(502, &[("retry-after", "0")], &Value::Null);
        }
        Some(How::Before(change)) => change(&mut world),
        None => {}
    }
    let (status, body) = world.handle(method, &path, &query, &body);
    reply(status, &[], &body)
}

fn reply(status: u16, headers: &[(&str, &str)], body: &Value) -> Response {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    *response.headers_mut() = map;
    response
}
