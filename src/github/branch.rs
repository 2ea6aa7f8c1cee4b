//! A branch of the repository as a place of files, written through the Git data API: no clone, and never forced.

use super::api::{Api, Wish};
use super::{Context, GithubError};
use crate::store::{Place, StoreError};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

const READ: Wish = Wish { what: "read the branch of baselines", scope: "contents: read" };
const WRITE: Wish = Wish { what: "write the branch of baselines", scope: "contents: write" };
/// Others push to the branch, too: a push that lost the race starts again from their tip.
const RACES: usize = 5;

/// A folder on a branch.
#[derive(Debug)]
pub struct DataBranch {
    api: Api,
    branch: String,
    folder: String,
    label: String,
    read: RefCell<Option<Snapshot>>,
}

/// The branch at one commit.
#[derive(Debug, Clone, Default)]
struct Snapshot {
    /// Commit and tree; `None` where the branch is not there yet.
    tip: Option<(String, String)>,
    /// Blobs of the folder by their names.
    blobs: BTreeMap<String, Blob>,
}

#[derive(Debug, Clone)]
struct Blob {
    sha: String,
    size: u64,
}

impl DataBranch {
    /// The folder `folder` on `branch`, which need not exist.
    ///
    /// # Errors
    /// Where the environment lacks the token or the repository, or the branch's name is none.
    pub fn open(context: &Context, branch: &str, folder: String) -> Result<Self, GithubError> {
        if !is_branch_name(branch) {
            return Err(GithubError::Branch);
        }
        let label = format!("{folder} on branch {branch} of {}", context.repository()?);
        Ok(Self { api: Api::open(context)?, branch: branch.to_owned(), folder, label, read: RefCell::new(None) })
    }

    /// The API that it uses.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.api
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn snapshot(&self) -> Result<Snapshot, GithubError> {
        if let Some(known) = self.read.borrow().as_ref() {
            return Ok(known.clone());
        }
        let snapshot = self.fetch()?;
        *self.read.borrow_mut() = Some(snapshot.clone());
        Ok(snapshot)
    }

    fn fetch(&self) -> Result<Snapshot, GithubError> {
        let reference = match self.api.get(&self.api.route(&format!("/git/ref/heads/{}", self.branch)), READ) {
            Err(GithubError::Forbidden { status: 404, .. }) => return Ok(Snapshot::default()),
            other => other?,
        };
        let commit = text(&reference.body, "/object/sha")?;
        let answer = self.api.get(&self.api.route(&format!("/git/commits/{commit}")), READ)?;
        let tree = text(&answer.body, "/tree/sha")?;
        let answer = self.api.get(&self.api.route(&format!("/git/trees/{tree}?recursive=1")), READ)?;
        if answer.body["truncated"] == true {
            return Err(GithubError::Answer { what: READ.what, field: "whole tree: it has too many files" });
        }
        let mut blobs = BTreeMap::new();
        for entry in answer.body["tree"].as_array().into_iter().flatten().filter(|entry| entry["type"] == "blob") {
            let name = entry["path"].as_str().and_then(|path| path.strip_prefix(&self.folder)?.strip_prefix('/'));
            if let (Some(name), Some(sha)) = (name.filter(|name| !name.contains('/')), entry["sha"].as_str()) {
                blobs.insert(name.to_owned(), Blob { sha: sha.to_owned(), size: entry["size"].as_u64().unwrap_or(0) });
            }
        }
        Ok(Snapshot { tip: Some((commit, tree)), blobs })
    }

    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, GithubError> {
        let snapshot = self.snapshot()?;
        let Some(blob) = snapshot.blobs.get(name).filter(|blob| blob.size <= limit) else { return Ok(None) };
        let answer = self.api.get(&self.api.route(&format!("/git/blobs/{}", blob.sha)), READ)?;
        let coded: String = text(&answer.body, "/content")?.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let bytes = BASE64_STANDARD.decode(coded).map_err(|_| GithubError::Answer { what: READ.what, field: "content in base 64" })?;
        Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= limit))
    }

    /// Makes the branch's next commit with `entry` of its tree changed. `done` says, of the branch as it is now, that nothing is left to
    /// do: so a push whose reply was lost is not made twice.
    fn commit(&self, message: &str, entry: &Value, done: impl Fn(&Snapshot) -> Option<bool>) -> Result<bool, GithubError> {
        for _ in 0..RACES {
            let now = self.fetch()?;
            let outcome = done(&now);
            *self.read.borrow_mut() = Some(now.clone());
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            let mut tree = json!({ "tree": [entry] });
            if let Some((_, base)) = &now.tip {
                tree["base_tree"] = json!(base);
            }
            let tree = text(&self.post("/git/trees", &tree)?, "/sha")?;
            let parents: Vec<&String> = now.tip.iter().map(|(commit, _)| commit).collect();
            let commit = json!({ "message": message, "tree": tree, "parents": parents });
            let commit = text(&self.post("/git/commits", &commit)?, "/sha")?;
            match self.advance(&now, &commit) {
                // Somebody else was faster, or the reply to a push of ours was lost: look again.
                Err(GithubError::Refused { status: 409 | 422, .. }) => {}
                Err(error) if error.leaves_doubt() => {}
                other => {
                    *self.read.borrow_mut() = None;
                    return other.map(|()| true);
                }
            }
        }
        Err(GithubError::Race)
    }

    fn advance(&self, from: &Snapshot, commit: &str) -> Result<(), GithubError> {
        if from.tip.is_some() {
            let route = self.api.route(&format!("/git/refs/heads/{}", self.branch));
            return self.api.patch(&route, &json!({ "sha": commit, "force": false }), WRITE).map(|_| ());
        }
        let body = json!({ "ref": format!("refs/heads/{}", self.branch), "sha": commit });
        self.api.post(&self.api.route("/git/refs"), &body, WRITE).map(|_| ())
    }

    /// Objects are named by what they hold, and one that nothing refers to is swept away: making one twice harms nobody.
    fn post(&self, rest: &str, body: &Value) -> Result<Value, GithubError> {
        Ok(self.api.post_repeatable(&self.api.route(rest), body, WRITE)?.body)
    }

    fn wrap(&self, error: &GithubError) -> StoreError {
        let right = error.missing_scope().map(|scope| format!("; the job needs `permissions: {scope}`")).unwrap_or_default();
        StoreError::Remote { place: self.label.clone(), why: format!("{error}{right}") }
    }
}

impl Place for DataBranch {
    fn list(&self, suffix: &str) -> Result<Vec<String>, StoreError> {
        let snapshot = self.snapshot().map_err(|error| self.wrap(&error))?;
        Ok(snapshot.blobs.into_keys().filter(|name| name.ends_with(suffix)).collect())
    }

    fn get(&self, name: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
        let missing = || StoreError::Remote { place: self.label.clone(), why: format!("{name} is not there, or too long") };
        self.read(name, limit).map_err(|error| self.wrap(&error))?.ok_or_else(missing)
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<String, StoreError> {
        let put = || {
            let blob = json!({ "content": BASE64_STANDARD.encode(bytes), "encoding": "base64" });
            let sha = text(&self.post("/git/blobs", &blob)?, "/sha")?;
            let entry = json!({ "path": self.path(name), "mode": "100644", "type": "blob", "sha": sha });
            self.commit(&format!("Keep {name}"), &entry, |now| now.blobs.get(name).map(|there| there.sha == sha))
        };
        match put() {
            Ok(true) => Ok(format!("{}: {name}", self.label)),
            Ok(false) => Err(StoreError::Exists { path: PathBuf::from(self.path(name)) }),
            Err(error) => Err(self.wrap(&error)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let entry = json!({ "path": self.path(name), "mode": "100644", "type": "blob", "sha": null });
        let gone = |now: &Snapshot| (!now.blobs.contains_key(name)).then_some(true);
        self.commit(&format!("Let go of {name}"), &entry, gone).map(|_| ()).map_err(|error| self.wrap(&error))
    }

    fn label(&self) -> String {
        self.label.clone()
    }
}

fn text(body: &Value, pointer: &'static str) -> Result<String, GithubError> {
    body.pointer(pointer).and_then(Value::as_str).map(str::to_owned).ok_or(GithubError::Answer { what: READ.what, field: pointer })
}

/// A name that Git takes and that needs no escaping in a URL.
fn is_branch_name(name: &str) -> bool {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'));
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !part.ends_with(".lock");
    plain && name.len() <= 100 && !name.starts_with('-') && !name.contains("..") && name.split('/').all(part)
}
