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

/// Whether to colour a stream: the flag decides; else `NO_COLOR` (<https://no-color.org>), `CLICOLOR_FORCE`
/// and `CLICOLOR` (<https://bixense.com/clicolors>), `TERM=dumb`, and whether the stream is a terminal. `env` reads one variable.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(ColorChoice::Auto, true, "", true)]
    #[case(ColorChoice::Auto, false, "", false)]
    #[case(ColorChoice::Auto, true, "NO_COLOR=1", false)]
    #[case(ColorChoice::Auto, true, "NO_COLOR=", true)]
    #[case(ColorChoice::Auto, true, "NO_COLOR=1 CLICOLOR_FORCE=1", false)]
    #[case(ColorChoice::Auto, false, "CLICOLOR_FORCE=1", true)]
    #[case(ColorChoice::Auto, false, "CLICOLOR_FORCE=0", false)]
    #[case(ColorChoice::Auto, true, "CLICOLOR=0", false)]
    #[case(ColorChoice::Auto, true, "TERM=dumb", false)]
    #[case(ColorChoice::Auto, true, "TERM=xterm-256color", true)]
    #[case(ColorChoice::Always, false, "NO_COLOR=1 TERM=dumb", true)]
    #[case(ColorChoice::Never, true, "CLICOLOR_FORCE=1", false)]
    fn the_flag_decides_then_the_environment_then_the_stream(
        #[case] choice: ColorChoice,
        #[case] is_terminal: bool,
        #[case] env: &str,
        #[case] colored: bool,
    ) {
        let env =
            |name: &str| env.split(' ').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, v)| v.to_owned()));
        assert_eq!(color_wanted(choice, is_terminal, env), colored);
    }
}
