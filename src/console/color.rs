//! Whether to colour.

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorChoice {
    /// Where a person looks at a terminal that can.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Whether to colour a stream: the flag decides; else NO_COLOR, CLICOLOR_FORCE, TERM, and whether the stream is a terminal.
#[must_use]
pub fn color_wanted(choice: ColorChoice, is_terminal: bool, env: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR").is_some() => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorChoice::Auto => {
            is_terminal && set("TERM").is_none_or(|term| term != "dumb") && set("CLICOLOR").is_none_or(|value| value != "0")
        }
    }
}
