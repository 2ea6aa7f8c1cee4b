//! Keeping a spec's files inside its folder.

use super::StoreError;
use std::path::{Path, PathBuf};

/// Where `named`, as a spec in `folder` writes it, really is, once every link is resolved.
///
/// # Errors
/// Where it is not at or below `folder` or one of the folders in `allowed`, or does not exist.
pub fn confine(folder: &Path, named: &Path, allowed: &[PathBuf]) -> Result<PathBuf, StoreError> {
    let outside = || StoreError::Outside { path: named.to_owned() };
    let resolve = |path: &Path| path.canonicalize().map_err(|source| StoreError::Read { path: named.to_owned(), source });
    let roots: Vec<PathBuf> =
        std::iter::once(folder).chain(allowed.iter().map(PathBuf::as_path)).filter_map(|root| root.canonicalize().ok()).collect();
    // A path that climbs out is refused before it is looked at: whether a file exists elsewhere is no spec's business.
    let lexically_inside = named.is_relative() && !named.components().any(|part| part == std::path::Component::ParentDir);
    if !lexically_inside && allowed.is_empty() {
        return Err(outside());
    }
    let real = resolve(&folder.join(named));
    match real {
        Ok(real) if roots.iter().any(|root| real.starts_with(root)) => Ok(real),
        Ok(_) => Err(outside()),
        Err(_) if !lexically_inside => Err(outside()),
        Err(error) => Err(error),
    }
}
