//! Rows of files that a spec names: pairs of lengths as CSV or JSONL, and prompts as JSONL. Rows that can't be read are counted and
//! told by line number; their text, which may be private, goes into no message.

use super::request::Prompt;
use serde_json::Value;

/// Longer lengths are taken for damage: one prompt would be over 14 MB of text.
pub(super) const MOST_TOKENS: u64 = 2 * 1024 * 1024;
/// How many line numbers of bad rows are told.
const LINES_TOLD: usize = 10;
/// Names of the columns of input and of output tokens, in the order they are looked for.
const COLUMNS: [(&str, &str); 4] = [
    ("input_tokens", "output_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("ContextTokens", "GeneratedTokens"),
    ("input_length", "output_length"),
];

/// What was read of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Read<T> {
    pub(super) rows: Vec<T>,
    pub(super) bad: u64,
    /// The first of the bad rows' line numbers, from 1.
    pub(super) bad_lines: Vec<u64>,
}

/// One prompt of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) prompt: Prompt,
    /// The workload part it is for; any where it names none.
    pub(super) part: Option<String>,
}

impl<T> Read<T> {
    fn of<'a>(lines: impl Iterator<Item = (u64, &'a str)>, parse: impl Fn(&str) -> Option<T>) -> Self {
        let mut read = Self { rows: Vec::new(), bad: 0, bad_lines: Vec::new() };
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            if let Some(row) = parse(line) {
                read.rows.push(row);
            } else {
                read.bad += 1;
                if read.bad_lines.len() < LINES_TOLD {
                    read.bad_lines.push(number);
                }
            }
        }
        read
    }
}

/// The pairs of a bundled sample, whose rows are all good.
pub(super) fn bundled(csv: &str) -> Vec<(u64, u64)> {
    pairs(csv).map(|read| read.rows).unwrap_or_default()
}

/// Pairs of input and output tokens: CSV with a header, or JSONL where the text begins with `{`. `None` where the header names no
/// known columns.
pub(super) fn pairs(text: &str) -> Option<Read<(u64, u64)>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = numbered(text).skip_while(|(_, line)| line.trim().is_empty());
    if text.trim_start().starts_with('{') {
        return Some(Read::of(lines, json_pair));
    }
    let Some((_, header)) = lines.next() else {
        return Some(Read::of(std::iter::empty(), csv_number_pair(0, 1)));
    };
    let names: Vec<_> = header.split(',').map(unquote).collect();
    let place = |name: &str| names.iter().position(|each| each.eq_ignore_ascii_case(name));
    let (input, output) = COLUMNS.iter().find_map(|(input, output)| Some((place(input)?, place(output)?)))?;
    Some(Read::of(lines, csv_number_pair(input, output)))
}

/// Prompts, one JSON value a line: a text, `{"text": …}` or `{"prompt": …}`, or whole messages `{"messages": […]}`; objects may name
/// their `part`. Or one JSON array of conversations as ShareGPT's, whose first human turns are the prompts; its bad rows are told by
/// their place.
pub(super) fn prompts(text: &str) -> Read<Row> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[')
        && let Ok(conversations) = serde_json::from_str::<Vec<Value>>(text)
    {
        let rows: Vec<String> = conversations.iter().map(Value::to_string).collect();
        return Read::of((1..).zip(rows.iter().map(String::as_str)), |row| prompt(row).or_else(|| first_human(row)));
    }
    Read::of(numbered(text), prompt)
}

/// The first human turn of a conversation: `{"conversations": [{"from": "human", "value": …}, …]}`.
fn first_human(row: &str) -> Option<Row> {
    let row: Value = serde_json::from_str(row).ok()?;
    let is_human = |turn: &&Value| turn.get("from").and_then(Value::as_str).is_some_and(|from| matches!(from, "human" | "user"));
    let text = row.get("conversations")?.as_array()?.iter().find(is_human)?.get("value")?.as_str()?;
    (!text.trim().is_empty()).then(|| Row { prompt: Prompt::Text(text.to_owned()), part: None })
}

fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines())
}

fn unquote(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field)
}

fn csv_number_pair(input: usize, output: usize) -> impl Fn(&str) -> Option<(u64, u64)> {
    move |line| {
        let fields: Vec<_> = line.split(',').map(unquote).collect();
        let number = |place: usize| fields.get(place)?.parse().ok();
        plausible(number(input)?, number(output)?)
    }
}

fn json_pair(line: &str) -> Option<(u64, u64)> {
    let row: Value = serde_json::from_str(line).ok()?;
    let number = |name: &str| row.get(name)?.as_u64();
    let (input, output) = COLUMNS.iter().find_map(|(input, output)| Some((number(input)?, number(output)?)))?;
    plausible(input, output)
}

/// A pair that can be sent: traces keep failed requests as 0 output tokens.
fn plausible(input: u64, output: u64) -> Option<(u64, u64)> {
    let fits = |tokens| (1..=MOST_TOKENS).contains(&tokens);
    (fits(input) && fits(output)).then_some((input, output))
}

fn prompt(line: &str) -> Option<Row> {
    let row: Value = serde_json::from_str(line).ok()?;
    let part = match row.get("part") {
        None => None,
        Some(name) => Some(name.as_str()?.to_owned()),
    };
    let text = row.as_str().or_else(|| row.get("text")?.as_str()).or_else(|| row.get("prompt")?.as_str());
    if let Some(text) = text {
        return (!text.trim().is_empty()).then(|| Row { prompt: Prompt::Text(text.to_owned()), part });
    }
    let messages = row.get("messages")?.as_array()?;
    let whole = !messages.is_empty() && messages.iter().all(|message| message.get("role").is_some_and(Value::is_string));
    whole.then(|| Row { prompt: Prompt::Messages(messages.clone()), part })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_as_sharegpt_keeps_them_give_their_first_human_turn() {
        let text = r#"[{"id":"a","conversations":[{"from":"system","value":"be brief"},{"from":"human","value":"hi you"},
            {"from":"gpt","value":"hello"}]}, {"id":"b","conversations":[]}, {"id":"c","conversations":[{"from":"user","value":"again"}]}]"#;
        let read = prompts(text);
        let texts: Vec<_> = read.rows.into_iter().map(|row| row.prompt).collect();
        assert_eq!(texts, [Prompt::Text("hi you".to_owned()), Prompt::Text("again".to_owned())]);
        assert_eq!((read.bad, read.bad_lines), (1, vec![2]));
    }

    #[test]
    fn lengths_of_traces_and_access_logs_are_found_by_their_fields() {
        let mooncake = "{\"timestamp\": 0, \"input_length\": 900, \"output_length\": 12, \"hash_ids\": [0, 1]}\n{\"timestamp\": 3}\n";
        let read = pairs(mooncake).unwrap();
        assert_eq!((read.rows, read.bad_lines), (vec![(900, 12)], vec![2]));
        let access = "time,path,prompt_tokens,completion_tokens\n1,/v1,30,4\n";
        assert_eq!(pairs(access).unwrap().rows, [(30, 4)]);
    }
}
