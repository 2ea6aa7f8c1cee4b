//! What the simulated model makes of a request.

use crate::wire::{Api, Asked};

/// Tokens that a chat template adds to a prompt, and that a bare prompt gets for its beginning.
const CHAT_TEMPLATE: u64 = 10;
const BEGINNING: u64 = 1;
/// Tokens generated where a request sets no limit.
const DEFAULT_OUTPUT: u64 = 128;

/// Tokens of a request's prompt: a word is a token.
pub(super) fn prompt_tokens(api: Api, asked: &Asked) -> u64 {
    asked.prompt_words.saturating_add(before_words(api))
}

/// Tokens that come before a prompt's words.
pub(super) fn before_words(api: Api) -> u64 {
    match api {
        Api::Chat => CHAT_TEMPLATE,
        Api::Completions => BEGINNING,
    }
}

/// The most tokens that a request allows.
pub(super) fn max_tokens(asked: &Asked) -> u64 {
    asked.max_tokens.unwrap_or(DEFAULT_OUTPUT)
}

/// Tokens to generate by a model that would stop by itself after `natural`, or never where that is 0.
pub(super) fn output_tokens(asked: &Asked, natural: u64) -> u64 {
    let most = max_tokens(asked);
    if natural == 0 || asked.ignore_eos { most } else { natural.max(asked.min_tokens.unwrap_or(1)).clamp(1, most) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse_request;

    fn asked(api: Api, body: &str) -> Asked {
        parse_request(api, body.as_bytes()).unwrap()
    }

    #[test]
    fn a_word_is_a_token_and_the_template_adds_its_own() {
        let chat = r#"{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"one two"}]}]}"#;
        assert_eq!(prompt_tokens(Api::Chat, &asked(Api::Chat, chat)), 14);
        assert_eq!(prompt_tokens(Api::Completions, &asked(Api::Completions, r#"{"prompt":" one two three"}"#)), 4);
    }

    #[test]
    fn an_answer_is_as_long_as_asked_or_as_the_model_likes() {
        let output = |body: &str, natural: u64| output_tokens(&asked(Api::Completions, body), natural);
        let open = r#"{"prompt":"a","max_tokens":50}"#;
        assert_eq!((output(open, 0), output(open, 20), output(open, 80)), (50, 20, 50));
        assert_eq!(output(r#"{"prompt":"a","max_tokens":50,"min_tokens":30}"#, 20), 30);
        assert_eq!(output(r#"{"prompt":"a","max_completion_tokens":50,"ignore_eos":true}"#, 20), 50);
    }
}
