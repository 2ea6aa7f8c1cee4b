//! What the caller allows a spec to reach. A spec may come from a pull request and is not trusted; the command line is.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;
use url::{Host, Url};

/// What the command line gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permissions {
    /// `--endpoint`: replaces `target.url`, and names its host.
    pub endpoint: Option<String>,
    /// `--against`, while the baseline's side is read: takes the place of `target.url`, but names its host for nothing secret.
    pub against: Option<String>,
    /// `--allow-host`: `http://host:port`, or `host`, `host:port` for either scheme.
    pub allow_hosts: Vec<String>,
    /// `--allow-env`: names of variables that the caller released.
    pub allow_env: Vec<String>,
    /// Values of the environment: at least those named GOODPUT_VAR_… and those released.
    pub env: BTreeMap<String, String>,
    /// Whether this is a GitHub Actions job.
    pub github_actions: bool,
    /// Whether the command sends nothing (`validate`, `plan`, `judge`): hosts are then not refused.
    pub sends_nothing: bool,
    /// Values that flags put in the place of the spec's.
    pub overrides: Overrides,
}

/// Flags that replace values of the spec.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// `--model`
    pub model: Option<String>,
    /// `--api`
    pub api: Option<String>,
    /// `--concurrency`; takes the place of a rate, too.
    pub concurrency: Option<u64>,
    /// `--rate`, with its unit; takes the place of a concurrency, too.
    pub rate: Option<String>,
    /// `--rounds`
    pub rounds: Option<String>,
    /// `--seed`
    pub seed: Option<u64>,
    /// `--set KEY=VALUE`: a dotted key of the spec and a value in YAML.
    pub set: Vec<(String, String)>,
}

impl Permissions {
    /// Whether the caller named exactly this scheme, host and port, by `--endpoint` or a full `--allow-host`: the only places
    /// that a key or a released value may go to. An `--allow-host` without a scheme stands for https.
    #[must_use]
    pub fn may_receive_secrets(&self, url: &Url) -> bool {
        let endpoint = self.endpoint.as_deref().and_then(|text| Url::parse(text).ok());
        endpoint.iter().any(|named| same_origin(named, url))
            || self.allow_hosts.iter().any(|entry| {
                let named = if entry.contains("://") { Url::parse(entry) } else { Url::parse(&format!("https://{entry}")) };
                named.is_ok_and(|named| same_origin(&named, url))
            })
    }

    /// Whether the caller named this host by `--allow-host`; without a scheme in the flag either scheme is meant.
    #[must_use]
    pub fn allows_host(&self, url: &Url) -> bool {
        self.allow_hosts.iter().any(|entry| {
            let named = if entry.contains("://") { Url::parse(entry) } else { Url::parse(&format!("{}://{entry}", url.scheme())) };
            named.is_ok_and(|named| same_origin(&named, url))
        })
    }

    /// Whether the caller named this host at all.
    pub(super) fn names(&self, url: &Url) -> bool {
        self.allows_host(url) || self.may_receive_secrets(url)
    }
}

fn same_origin(a: &Url, b: &Url) -> bool {
    let port = |url: &Url| url.port_or_known_default();
    a.scheme() == b.scheme() && a.host().is_some() && a.host() == b.host() && port(a) == port(b)
}

/// `scheme://host:port`, the way `--allow-host` takes it.
pub(super) fn origin(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or(""))
}

/// Whether the host is this machine.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(host) => address(&host).is_some_and(|address| address.is_loopback()),
        None => false,
    }
}

/// Whether the host is a link-local address, where cloud machines keep their credentials.
#[must_use]
pub fn is_link_local(url: &Url) -> bool {
    url.host().and_then(|host| address(&host)).is_some_and(link_local)
}

/// Whether an address is link-local: 169.254.0.0/16, fe80::/10, also in the IPv6 spellings of IPv4.
#[must_use]
pub fn link_local(address: IpAddr) -> bool {
    match unmapped(address) {
        IpAddr::V4(v4) => v4.is_link_local(),
        // fd00:ec2::254 is a cloud's metadata service at a fixed unique-local address.
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    }
}

fn address(host: &Host<&str>) -> Option<IpAddr> {
    match host {
        Host::Ipv4(v4) => Some(IpAddr::V4(*v4)),
        Host::Ipv6(v6) => Some(unmapped(IpAddr::V6(*v6))),
        Host::Domain(_) => None,
    }
}

/// An IPv4 address out of its IPv6 spellings: mapped (::ffff:a.b.c.d), compatible (::a.b.c.d) and NAT64 (64:ff9b::a.b.c.d).
fn unmapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let segments = v6.segments();
    if segments[0] == 0x2002 {
        // 6to4 carries the IPv4 address behind its prefix.
        let [_, _, a, b, c, d, ..] = v6.octets();
        return IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    }
    let nat64 = segments[..2] == [0x64, 0xff9b] && (segments[2] == 1 || segments[2..6] == [0; 4]);
    let translated = segments[..6] == [0, 0, 0, 0, 0xffff, 0];
    let compatible = segments[..6] == [0; 6] && segments[6] != 0;
    if nat64 || translated || compatible {
        let [.., a, b, c, d] = v6.octets();
        return IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    }
    v6.to_ipv4_mapped().map_or(address, IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn link_local_is_seen_in_every_spelling() {
        for text in [
            "http://169.254.169.254/latest",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::169.254.169.254]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[2002:a9fe:a9fe::]/",
            "http://[::ffff:0:169.254.169.254]/",
            "http://[64:ff9b:1::a9fe:a9fe]/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
        ] {
            assert!(is_link_local(&url(text)), "{text}");
        }
        for text in ["http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/", "http://gpu-box:8000/", "https://169.254.example.com/"] {
            assert!(!is_link_local(&url(text)), "{text}");
        }
    }

    #[test]
    fn loopback_is_this_machine_only() {
        for text in [
            "http://127.0.0.1:8000/v1",
            "http://127.8.8.8/",
            "http://[::1]/",
            "http://localhost/",
            "http://[::ffff:127.0.0.1]/",
            "http://a.localhost./",
        ] {
            assert!(is_loopback(&url(text)), "{text}");
        }
        for text in ["http://localhost.example.com/", "http://127.0.0.1.nip.example/", "http://128.0.0.1/", "http://notlocalhost/"] {
            assert!(!is_loopback(&url(text)), "{text}");
        }
    }

    #[test]
    fn secrets_go_only_to_the_exact_scheme_host_and_port_that_was_named() {
        let named = Permissions {
            endpoint: Some("https://a.example/v1".into()),
            against: Some("https://b.example/v1".into()),
            allow_hosts: vec!["http://b.example:8000".into(), "c.example".into()],
            ..Permissions::default()
        };
        for text in ["https://a.example/other", "https://a.example:443/", "http://b.example:8000/v1", "https://c.example/"] {
            assert!(named.may_receive_secrets(&url(text)), "{text}");
        }
        for text in [
            "http://a.example/v1",
            "https://a.example:8443/",
            "https://a.example.evil/",
            "https://b.example/v1",
            "https://b.example:8000/",
            "http://b.example/",
            "http://c.example/",
            "https://sub.c.example/",
            "sim://steady",
        ] {
            assert!(!named.may_receive_secrets(&url(text)), "{text}");
        }
        assert!(named.allows_host(&url("http://c.example/")), "a host without a scheme is allowed over either");
        assert!(!named.allows_host(&url("http://c.example:8000/")));
        assert!(!Permissions::default().may_receive_secrets(&url("http://127.0.0.1/")));
    }
}
