//! The real binary through a builder that scrubs its environment, runs it in a folder of its own, and compares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A scratch folder and the specs in it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary, to be run here.
    pub(crate) fn gate(&self) -> Gate {
        Gate { folder: self.path().to_owned(), args: Vec::new(), env: BTreeMap::new() }
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The lines of a run file.
    pub(crate) fn run_lines(&self, name: &str) -> Vec<serde_json::Value> {
        let bytes = zstd::stream::decode_all(std::fs::File::open(self.path().join(name)).unwrap()).unwrap();
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// One call of the binary.
pub(crate) struct Gate {
    folder: PathBuf,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Gate {
    pub(crate) fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The command itself, for tests that signal it or keep it running.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_goodput-gate"));
        let scrubbed = ["PATH", "HOME", "TMPDIR", "SYSTEMROOT"];
        command.env_clear();
        for name in scrubbed {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&self.env).args(&self.args).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(self) -> Done {
        let output = self.command().output().unwrap();
        Done::from(output)
    }

    /// Runs it and checks the exit code, showing everything where it differs.
    pub(crate) fn expect(self, code: i32) -> Done {
        let shown = self.args.join(" ");
        let done = self.run();
        assert_eq!(done.code, code, "goodput-gate {shown}\n--- stdout\n{}\n--- stderr\n{}", done.stdout, done.stderr);
        done
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
