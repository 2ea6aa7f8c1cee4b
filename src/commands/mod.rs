//! One file a command; the stages in order on one page; error → exit code and help.

mod exit;

pub use exit::{EXITS, Exit};
