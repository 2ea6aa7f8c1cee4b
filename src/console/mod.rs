//! The user's terminal: colour, progress, diagnostics on stderr, the result on stdout. The only room that prints.

mod color;
mod output;
mod progress;

pub use color::{ColorChoice, color_wanted};
pub use output::Console;
pub use progress::{Progress, ProgressUpdate};
