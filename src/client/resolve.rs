//! Looking names up, without the addresses that no name should lead to.

use crate::spec::link_local;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::SocketAddr;

/// Resolves names as the system does, and drops link-local addresses, where cloud machines keep their credentials: a name in a
/// spec must not lead to what its address may not.
#[derive(Debug)]
pub(super) struct NoLinkLocal;

impl Resolve for NoLinkLocal {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let kept = without_link_local(found)?;
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

fn without_link_local(found: impl Iterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, LinkLocalOnly> {
    let kept: Vec<SocketAddr> = found.filter(|address| !link_local(address.ip())).collect();
    if kept.is_empty() { Err(LinkLocalOnly) } else { Ok(kept) }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the name leads to a link-local address only; the caller allows it with --allow-host")]
struct LinkLocalOnly;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_name_that_leads_to_a_link_local_address_leads_nowhere() {
        for texts in [&["169.254.169.254:0"][..], &["[fe80::1]:0", "[::ffff:169.254.169.254]:0"], &[]] {
            assert_eq!(without_link_local(all(texts).into_iter()), Err(LinkLocalOnly), "{texts:?}");
        }
        let mixed = all(&["169.254.169.254:0", "10.0.0.1:0"]);
        assert_eq!(without_link_local(mixed.into_iter()), Ok(all(&["10.0.0.1:0"])));
    }
}
