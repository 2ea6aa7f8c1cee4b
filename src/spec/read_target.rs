//! Reading of `target`.

use super::expand::{Expanded, expand};
use super::issue::Issue;
use super::permissions::{Permissions, is_link_local, is_loopback, origin};
use super::place::Place;
use super::quantity::{Bad, bandwidth, bytes, duration, per_hour};
use super::raw::{Fields, Sink, choice, text};
use super::yaml::{Kind, Node, Value};
use super::{ApiChoice, Hardware, MetricsChoice, Target, TargetUrl, Timeouts};
use crate::wire::{Api, OWNED_KEYS};
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// Credentials, and what frames a message.
const FORBIDDEN: &[&str] = &["authorization", "x-api-key", "api-key", "cookie", "host", "content-length", "transfer-encoding"];

/// What `target` is read with.
pub(super) struct Reading<'a> {
    pub(super) permissions: &'a Permissions,
    pub(super) sink: &'a mut Sink,
    /// Hosts that the caller did not allow: not problems of the text, and so kept apart.
    pub(super) refused: Vec<Issue>,
    /// Where values that the caller released are used.
    released: Vec<Place>,
    /// Whether such a value is in the URL, whose host is then not for messages.
    url_released: bool,
}

impl<'a> Reading<'a> {
    pub(super) fn new(permissions: &'a Permissions, sink: &'a mut Sink) -> Self {
        Self { permissions, sink, refused: Vec::new(), released: Vec::new(), url_released: false }
    }

    fn expand(&mut self, node: &Node, text: &str) -> Option<String> {
        let Expanded { text, released } = expand(node, text, self.permissions, self.sink)?;
        if released {
            self.released.push(node.span.clone());
        }
        Some(text)
    }
}

/// Reads `target`.
pub(super) fn target(fields: Fields<'_>, reading: &mut Reading<'_>) -> Target {
    let url = url(fields, reading);
    let model = fields.text("model", reading.sink).and_then(|(node, text)| {
        let expanded = reading.expand(node, text)?;
        (expanded != "auto").then_some(expanded)
    });
    let headers = headers(fields, reading);
    let metrics = metrics(fields, url.as_ref(), reading);
    let sink = &mut *reading.sink;
    if let Some(node) = fields.get("tokenizer", sink) {
        let help = "leave it out: token counts come from the server's usage; or build with --features tokenizer";
        sink.push(
            Issue::error("no-tokenizer", "`target.tokenizer` works only in builds with the feature `tokenizer`, and this is none")
                .help(help)
                .at(node.span.clone()),
        );
    }
    let target = Target {
        alias: fields.text("alias", sink).map(|(_, text)| text.to_owned()),
        api: fields.read("api", sink, api).unwrap_or(ApiChoice::Fixed(Api::Chat)),
        hardware: hardware(fields, sink),
        model_bytes: fields.read("model_bytes", sink, bytes),
        timeout: timeouts(fields.map("timeout", "target.timeout", sink), sink),
        body: body(fields, sink),
        url,
        model,
        metrics,
        headers,
    };
    secrets_stay(&target, reading);
    target
}

fn url(fields: Fields<'_>, reading: &mut Reading<'_>) -> Option<TargetUrl> {
    let permissions = reading.permissions;
    let by_flag = [("--against", &permissions.against), ("--endpoint", &permissions.endpoint)];
    if let Some((flag, named)) = by_flag.into_iter().find_map(|(flag, url)| Some((flag, url.as_deref()?))) {
        // What the spec says instead is still checked for variables that it may not name.
        if let Some((node, text)) = fields.text("url", reading.sink) {
            let mut ignored = Sink::default();
            expand(node, text, reading.permissions, &mut ignored);
            // A variable that is not set matters no more; one that may not be read still does.
            reading.sink.issues.extend(ignored.issues.into_iter().filter(|issue| issue.code != "variable-not-set"));
        }
        let place = Place::Flag(flag.to_owned());
        return match base_url(named) {
            Ok(url) => {
                refuse_link_local(&url, "", place, reading);
                Some(url)
            }
            Err(bad) => {
                reading.sink.push(Issue::error(bad.code, bad.message).help(bad.help).at(place));
                None
            }
        };
    }
    let (node, text) = fields.text("url", reading.sink)?;
    let expanded = reading.expand(node, text)?;
    reading.url_released = !reading.released.is_empty();
    let url = reading.sink.keep(node, base_url(&expanded))?;
    refuse_link_local(&url, "target.url: ", node.span.clone(), reading);
    if let TargetUrl::Http(http) = &url {
        let permissions = reading.permissions;
        if permissions.github_actions && !is_loopback(http) && !is_link_local(http) && !permissions.names(http) {
            let host = place(http, reading.url_released);
            reading.refused.push(
                Issue::error("host-not-allowed", format!("in GitHub Actions a spec may not choose the host {host}"))
                    .help(format!("the workflow must name it: --endpoint URL, or --allow-host {host}"))
                    .at(node.span.clone()),
            );
        }
    }
    Some(url)
}

fn refuse_link_local(url: &TargetUrl, what: &str, span: Place, reading: &mut Reading<'_>) {
    if let TargetUrl::Http(http) = url
        && is_link_local(http)
        && !reading.permissions.allows_host(http)
    {
        let host = place(http, reading.url_released);
        reading.refused.push(
            Issue::error("host-not-allowed", format!("{what}{host} is a link-local address, where machines keep their credentials"))
                .help(format!("if it is meant, say so by --allow-host {host}"))
                .at(span),
        );
    }
}

/// A base URL; messages do not quote it, because released values may be in it.
fn base_url(text: &str) -> Result<TargetUrl, Bad> {
    let help = "write http://host:port/v1, https://host/v1 or sim://…";
    let url = Url::parse(text).map_err(|error| Bad::new("not-a-url", format!("not a URL: {error}"), help))?;
    if url.scheme() == "sim" {
        return Ok(TargetUrl::Sim(text.to_owned()));
    }
    http_url(url, help).map(TargetUrl::Http)
}

fn http_url(url: Url, help: &str) -> Result<Url, Bad> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Bad::new("unknown-scheme", format!("`{}` is no protocol that load is sent by", url.scheme()), help));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(Bad::new("not-a-url", "the URL has no host", help));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Bad::new(
            "secret-in-url",
            "the URL holds a user or a password",
            "a spec holds no secret: use GOODPUT_API_KEY or --header",
        ));
    }
    Ok(url)
}

fn metrics(fields: Fields<'_>, target: Option<&TargetUrl>, reading: &mut Reading<'_>) -> MetricsChoice {
    let Some((node, text)) = fields.text("metrics", reading.sink) else { return MetricsChoice::Beside };
    // A page that is named is the target's, not the baseline's.
    if text == "none" || reading.permissions.against.is_some() {
        return MetricsChoice::Off;
    }
    let Some(Expanded { text: expanded, released }) = expand(node, text, reading.permissions, reading.sink) else {
        return MetricsChoice::Off;
    };
    let help = "write http://host:port/metrics, or none";
    let parsed = Url::parse(&expanded).map_err(|error| Bad::new("not-a-url", format!("not a URL: {error}"), help));
    let Some(url) = reading.sink.keep(node, parsed.and_then(|url| http_url(url, help))) else { return MetricsChoice::Off };
    let beside = matches!(target, Some(TargetUrl::Http(target)) if target.host() == url.host() && target.scheme() == url.scheme());
    let allowed = reading.permissions.allows_host(&url) || (beside && !is_link_local(&url));
    if !allowed && target.is_some() {
        let host = place(&url, released);
        reading.refused.push(
            Issue::error("host-not-allowed", format!("target.metrics: {host} is not the target's host"))
                .help(format!("let the caller allow it: --allow-host {host}"))
                .at(node.span.clone()),
        );
    }
    if released && !reading.permissions.may_receive_secrets(&url) {
        reading.refused.push(secret_to(&url, true, node.span.clone()));
    }
    MetricsChoice::At(url)
}

/// Released values go only where the caller said.
fn secrets_stay(target: &Target, reading: &mut Reading<'_>) {
    let Some(TargetUrl::Http(url)) = &target.url else { return };
    if reading.permissions.may_receive_secrets(url) {
        return;
    }
    for span in std::mem::take(&mut reading.released) {
        reading.refused.push(secret_to(url, reading.url_released, span));
    }
}

/// A host as messages name it: not where a released value is in it.
fn place(url: &Url, released: bool) -> String {
    if released { "SCHEME://HOST:PORT (a released variable is in it)".to_owned() } else { origin(url) }
}

fn secret_to(url: &Url, released: bool, span: Place) -> Issue {
    let host = place(url, released);
    Issue::error("secret-to-unnamed-host", format!("a variable that was released by --allow-env would go to {host}"))
        .help(format!("released values go only to a host that the caller names: --endpoint URL, or --allow-host {host}"))
        .at(span)
}

fn headers(fields: Fields<'_>, reading: &mut Reading<'_>) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    let Some(node) = fields.get("headers", reading.sink) else { return headers };
    let Kind::Map(entries) = &node.kind else {
        Fields::open(node, "target.headers", reading.sink);
        return headers;
    };
    for entry in entries {
        let name = entry.key.to_lowercase();
        let token = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
        let issue = if !token {
            Some(Issue::error("not-a-header", format!("`{}` is no name of a header", entry.key)).help("letters, digits and `-`"))
        } else if FORBIDDEN.contains(&name.as_str()) || name.starts_with("proxy-") {
            Some(Issue::error("forbidden-header", format!("a spec may not set the header `{name}`")).help(
                "the key comes from GOODPUT_API_KEY or --api-key-env, other secrets by --header; the client frames its messages itself",
            ))
        } else if headers.contains_key(&name) {
            Some(Issue::error("duplicate-key", format!("the header `{name}` is written twice")).help("keep one of them"))
        } else {
            None
        };
        if let Some(issue) = issue {
            reading.sink.push(issue.at(entry.key_span.clone()));
            continue;
        }
        let Some(text) = text(&entry.value, &entry.key, reading.sink) else { continue };
        let Some(value) = reading.expand(&entry.value, text) else { continue };
        if value.bytes().any(|b| b < 0x20 || b == 0x7f) {
            let issue = Issue::error("not-a-header", format!("the value of `{name}` holds control characters"));
            reading.sink.push(issue.help("a header is one line").at(entry.value.span.clone()));
            continue;
        }
        headers.insert(name, value);
    }
    headers
}

fn api(text: &str) -> Result<ApiChoice, Bad> {
    if matches!(text, "responses" | "messages" | "tgi" | "ollama") {
        return Err(Bad::new(
            "not-supported-yet",
            format!("`{text}` is not in this build yet"),
            "this version speaks chat, completions and auto",
        ));
    }
    let choices = [("chat", ApiChoice::Fixed(Api::Chat)), ("completions", ApiChoice::Fixed(Api::Completions)), ("auto", ApiChoice::Auto)];
    choice(text, &choices)
}

fn hardware(fields: Fields<'_>, sink: &mut Sink) -> Option<Hardware> {
    let node = fields.get("hardware", sink)?;
    if let Kind::Scalar { text, .. } = &node.kind {
        return Some(Hardware { name: text.clone(), bandwidth: None, price_per_hour: None });
    }
    let map = Fields::open(node, "target.hardware", sink);
    let name = map.text("name", sink).map(|(_, text)| text.to_owned());
    if name.is_none() && map.node().is_some() {
        sink.push(
            Issue::error("missing-key", "`target.hardware` has no `name`")
                .help("runs on different hardware are not compared: name it, as 1x H100-SXM")
                .at(node.span.clone()),
        );
    }
    Some(Hardware { bandwidth: map.read("bandwidth", sink, bandwidth), price_per_hour: map.read("price", sink, per_hour), name: name? })
}

fn timeouts(fields: Fields<'_>, sink: &mut Sink) -> Timeouts {
    let default = Timeouts::default();
    let mut read = |key: &str, default: Duration| {
        let positive = |text: &str| match duration(text)? {
            Duration::ZERO => Err(Bad::new("out-of-range", "a timeout of nothing fails every request", "write a time above 0, as `30s`")),
            time => Ok(time),
        };
        fields.read(key, sink, positive).unwrap_or(default)
    };
    Timeouts {
        connect: read("connect", default.connect),
        first_token: read("first_token", default.first_token),
        between_tokens: read("between_tokens", default.between_tokens),
        total: read("total", default.total),
    }
}

fn body(fields: Fields<'_>, sink: &mut Sink) -> serde_json::Map<String, serde_json::Value> {
    let Some(node) = fields.get("body", sink) else { return serde_json::Map::new() };
    let Kind::Map(entries) = &node.kind else {
        Fields::open(node, "target.body", sink);
        return serde_json::Map::new();
    };
    for entry in entries {
        if OWNED_KEYS.contains(&entry.key.as_str()) {
            sink.push(
                Issue::error("owned-by-the-gate", format!("`body` may not hold `{}`: the gate sets it", entry.key))
                    .help("the workload says what is sent and how long answers are; target.model names the model")
                    .at(entry.key_span.clone()),
            );
        }
    }
    match json(node, sink) {
        Some(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    }
}

fn json(node: &Node, sink: &mut Sink) -> Option<serde_json::Value> {
    use serde_json::Value as Json;
    Some(match &node.kind {
        Kind::Scalar { text, value } => match *value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(value),
            Value::Unsigned(value) => Json::from(value),
            Value::Signed(value) => Json::from(value),
            Value::Float(value) if value.is_finite() => Json::from(value),
            Value::Float(_) => {
                let issue = Issue::error("not-finite", format!("`{text}` is not a finite number"));
                sink.push(issue.help("JSON has no such number").at(node.span.clone()));
                return None;
            }
            Value::Text => Json::String(text.clone()),
        },
        Kind::Seq(items) => Json::Array(items.iter().filter_map(|item| json(item, sink)).collect()),
        Kind::Map(entries) => {
            let mut map = serde_json::Map::new();
            for entry in entries {
                if map.contains_key(&entry.key) {
                    let issue = Issue::error("duplicate-key", format!("`{}` is written twice", entry.key));
                    sink.push(issue.help("keep one of them").at(entry.key_span.clone()));
                }
                map.insert(entry.key.clone(), json(&entry.value, sink)?);
            }
            Json::Object(map)
        }
    })
}
