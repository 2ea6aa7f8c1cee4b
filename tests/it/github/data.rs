//! The fake's Git data: blobs, trees, commits and refs, as far as a data branch needs them.

use super::fake::{page, sha};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Data {
    blobs: BTreeMap<String, Value>,
    trees: BTreeMap<String, BTreeMap<String, String>>,
    commits: BTreeMap<String, (String, Vec<String>)>,
    pub(crate) refs: BTreeMap<String, String>,
    /// Commits of the code, newest first.
    pub(crate) history: Vec<String>,
    /// What `compare` gives.
    pub(crate) merge_base: Option<String>,
    made: u64,
}

impl Data {
    fn name(&mut self) -> String {
        self.made += 1;
        format!("{:040x}", 0xd00d_0000_u64 + self.made)
    }

    /// Paths at the tip of a branch.
    pub(crate) fn paths(&self, branch: &str) -> Vec<String> {
        let Some(tip) = self.refs.get(branch) else { return Vec::new() };
        self.trees[&self.commits[tip].0].keys().cloned().collect()
    }

    /// Somebody else's commit on the branch, so that ours is no fast forward any more.
    pub(crate) fn push_other(&mut self, branch: &str) {
        let tip = self.refs[branch].clone();
        let tree = self.commits[&tip].0.clone();
        let commit = self.name();
        self.commits.insert(commit.clone(), (tree, vec![tip]));
        self.refs.insert(branch.to_owned(), commit);
    }

    pub(crate) fn handle(&mut self, method: &str, path: &str, query: &str, body: &Value) -> Option<(u16, Value)> {
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let last = path.rsplit('/').next().unwrap_or_default().to_owned();
        match method {
            "GET" if path.starts_with("/git/ref/heads/") => {
                self.refs.get(&last).map(|sha| (200, json!({ "ref": format!("refs/heads/{last}"), "object": { "sha": sha } })))
            }
            "GET" if path.starts_with("/git/commits/") => {
                self.commits.get(&last).map(|(tree, _)| (200, json!({ "sha": last, "tree": { "sha": tree } })))
            }
            "GET" if path.starts_with("/git/trees/") => {
                let of = self.commits.get(&last).map_or(&last, |(tree, _)| tree);
                let entries = self.trees.get(of)?.iter().map(|(path, sha)| json!({ "path": path, "type": "blob", "sha": sha }));
                Some((200, json!({ "sha": of, "truncated": false, "tree": entries.collect::<Vec<_>>() })))
            }
            "GET" if path.starts_with("/git/blobs/") => self.blobs.get(&last).map(|blob| (200, blob.clone())),
            "GET" if path.starts_with("/compare/") => {
                let base = self.merge_base.clone()?;
                Some((200, json!({ "merge_base_commit": { "sha": base } })))
            }
            "GET" if path == "/commits" => {
                let from = query.split('&').find_map(|pair| pair.strip_prefix("sha=")).unwrap_or_default();
                let at = self.history.iter().position(|sha| sha == from)?;
                let date = "2026-11-29T10:00:00Z";
                let commits: Vec<Value> =
                    self.history[at..].iter().map(|sha| json!({ "sha": sha, "commit": { "committer": { "date": date } } })).collect();
                Some((200, page(&commits, query)))
            }
            "POST" if path == "/git/blobs" => {
                let name = self.name();
                self.blobs.insert(name.clone(), body.clone());
                Some((201, json!({ "sha": name })))
            }
            "POST" if path == "/git/trees" => Some(self.tree(body)),
            "POST" if path == "/git/commits" => {
                let name = self.name();
                let parents = body["parents"].as_array()?.iter().map(|parent| parent.as_str().unwrap().to_owned()).collect();
                self.commits.insert(name.clone(), (text("tree"), parents));
                Some((201, json!({ "sha": name })))
            }
            "POST" if path == "/git/refs" => {
                let branch = text("ref").strip_prefix("refs/heads/")?.to_owned();
                if self.refs.contains_key(&branch) {
                    return Some((422, json!({ "message": "Reference already exists" })));
                }
                self.refs.insert(branch, text("sha"));
                Some((201, json!({ "object": { "sha": text("sha") } })))
            }
            "PATCH" if path.starts_with("/git/refs/heads/") => {
                assert_eq!(body["force"], false, "the data branch is never forced");
                let fast = self.commits[&text("sha")].1.contains(self.refs.get(&last)?);
                if !fast {
                    return Some((422, json!({ "message": "Update is not a fast forward" })));
                }
                self.refs.insert(last, text("sha"));
                Some((200, json!({ "object": { "sha": text("sha") } })))
            }
            _ => None,
        }
    }

    fn tree(&mut self, body: &Value) -> (u16, Value) {
        let mut tree = body["base_tree"].as_str().map(|base| self.trees[base].clone()).unwrap_or_default();
        for entry in body["tree"].as_array().unwrap() {
            let path = entry["path"].as_str().unwrap().to_owned();
            match entry["sha"].as_str() {
                Some(sha) => tree.insert(path, sha.to_owned()),
                None => tree.remove(&path),
            };
        }
        let name = self.name();
        self.trees.insert(name.clone(), tree);
        (201, json!({ "sha": name }))
    }
}

/// A line of commits, newest first: `e` is the tip, then `d`, `c`, `b`.
pub(crate) fn line() -> Vec<String> {
    ['e', 'd', 'c', 'b'].into_iter().map(sha).collect()
}
