//! What is wrong with a `sim://` address.

/// What is wrong with a `sim://` address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// Not `sim://KIND?…`.
    #[error("`{text}` is no address of a simulated server")]
    Address {
        /// As given.
        text: String,
    },
    /// A kind that this build does not have.
    #[error("there is no simulated server `{kind}`")]
    Kind {
        /// As given.
        kind: String,
    },
    /// An option that this kind does not have.
    #[error("`{kind}` has no option `{option}`")]
    Option {
        /// The kind.
        kind: &'static str,
        /// As given.
        option: String,
        /// The option that was probably meant.
        near: Option<&'static str>,
    },
    /// An option that stands twice.
    #[error("the option `{option}` stands twice")]
    Twice {
        /// Its name.
        option: String,
    },
    /// A value that its option cannot have.
    #[error("`{option}={value}` is not {wanted}")]
    Value {
        /// The option.
        option: &'static str,
        /// As given.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
}

impl SimError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Address { .. } | Self::Kind { .. } => {
                "use sim://steady?ttft=200ms&tpot=20ms or sim://queue?slots=8&prefill=100ms&tpot=10ms".to_owned()
            }
            Self::Option { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::Option { kind, near: None, .. } => format!("options of `{kind}`: {}", super::profile::options(kind).join(", ")),
            Self::Twice { .. } => "keep one of them".to_owned(),
            Self::Value { option, .. } => format!("write it as in `{}`", super::profile::example(option)),
        }
    }
}
