//! From SPEC on the command line to a checked spec and the files it names.

use super::{Error, SpecOptions};
use crate::console::Console;
use crate::plan::Inputs;
use crate::spec::{self, Checked, Issue, Problems, Source, Spec, SpecError};
use crate::store::{self, StoreError};
use std::path::{Path, PathBuf};

/// A checked spec, and where its files are looked for.
#[derive(Debug)]
pub(super) struct Loaded {
    pub source: Source,
    pub checked: Checked,
    folder: PathBuf,
}

impl Loaded {
    pub(super) fn spec(&self) -> &Spec {
        &self.checked.spec
    }

    /// Stops where a command needs more of the spec than it holds.
    pub(super) fn need(&self, issues: impl IntoIterator<Item = Issue>) -> Result<(), Error> {
        let issues: Vec<Issue> = issues.into_iter().collect();
        if issues.is_empty() {
            return Ok(());
        }
        Err(SpecError::Problems(Problems::new(&self.source, issues)).into())
    }

    /// The text of every file that the spec names.
    pub(super) fn inputs(&self, options: &SpecOptions) -> Result<Inputs, Error> {
        let mut inputs = Inputs::default();
        for named in spec::files(self.spec()) {
            let real = store::confine(&self.folder, &named, &options.allow_paths).map_err(Error::Input)?;
            let bytes = store::read(&real, store::DATA_LIMIT).map_err(Error::Input)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| Error::usage(format!("{} is not UTF-8 text", named.display()), "save it as UTF-8: CSV or JSON lines"))?;
            inputs.files.insert(named, text);
        }
        Ok(inputs)
    }
}

/// Reads and checks the spec, and shows its warnings.
pub(super) fn load(options: &SpecOptions, console: &Console) -> Result<Loaded, Error> {
    let (source, folder) = read(&options.spec)?;
    let checked = spec::parse(&source, &options.permissions)?;
    if !checked.warnings.is_empty() {
        console.rendered(&Problems::new(&source, checked.warnings.clone()).render(console.colors_errors()));
    }
    Ok(Loaded { source, checked, folder })
}

/// A spec's text: a file, standard input, or a preset; a file wins.
pub(super) fn read(spec: &str) -> Result<(Source, PathBuf), Error> {
    let here = PathBuf::from(".");
    let path = Path::new(spec);
    let (bytes, folder) = if spec == "-" {
        (store::read_stdin(store::SPEC_LIMIT).map_err(Error::Input)?, here)
    } else if let (false, Some(text)) = (path.exists(), store::preset(spec)) {
        (text.as_bytes().to_vec(), here)
    } else {
        let bytes = store::read(path, store::SPEC_LIMIT).map_err(|error| no_spec(spec, error))?;
        (bytes, path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(here, Path::to_path_buf))
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::usage(format!("{spec} is not UTF-8: line {line}"), "save the spec as UTF-8 text")
    })?;
    Ok((Source { name: spec.to_owned(), text }, folder))
}

fn no_spec(spec: &str, error: StoreError) -> Error {
    let missing = matches!(&error, StoreError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
    if missing && !spec.contains(['/', '\\', '.']) {
        let names: Vec<&str> = store::PRESETS.iter().map(|(name, _)| *name).collect();
        return Error::usage(format!("there is neither a file nor a preset named `{spec}`"), format!("presets: {}", names.join(", ")));
    }
    Error::Input(error)
}
