//! Where the load goes: the simulated server started or the host found, ready, its model known, its lengths calibrated.

use super::{Error, LoadOptions, SpecOptions};
use crate::client::{Client, Config, ExactSupport, PROBE_WORDS, Probes};
use crate::console::Console;
use crate::plan::{self, Fit, Hunt, Plan, ProbePoint};
use crate::record::Side;
use crate::sim;
use crate::spec::{ApiChoice, Spec, TargetUrl, WarmUp};
use crate::units::Secret;
use crate::wire::Api;
use std::collections::BTreeMap;
use std::net::TcpListener;
use tokio::time::Instant;
use url::Url;

/// A target that can be sent to.
pub(super) struct Target {
    /// Whose requests it gets.
    side: Side,
    /// What reports call it.
    pub label: String,
    /// Its base URL.
    base: Url,
    /// Keeps the simulated server running.
    _sim: Option<sim::Running>,
}

/// What the start-up found.
pub(super) struct Ready {
    pub client: Client,
    pub plan: Plan,
    /// What the probes found of the prompts' lengths.
    pub fit: Fit,
    pub model: String,
    pub calibrated: bool,
    /// Tokens that every prompt has in common, chat template included, where known.
    pub shared_tokens: Option<u64>,
}

impl Target {
    /// Finds the target of `spec`; starts it where it is simulated.
    pub(super) fn open(spec: &Spec, side: Side) -> Result<Self, Error> {
        let alias = spec.target.alias.clone();
        match &spec.target.url {
            Some(TargetUrl::Http(url)) => {
                let origin = url.origin().ascii_serialization();
                Ok(Self { side, label: alias.unwrap_or(origin), base: url.clone(), _sim: None })
            }
            Some(TargetUrl::Sim(text)) => {
                let profile = sim::parse(text)?;
                let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(Error::SimListen)?;
                let running = sim::start(profile, listener).map_err(Error::SimListen)?;
                let base = Url::parse(&running.url()).map_err(|_| Error::usage("no address", "report this as a bug"))?;
                Ok(Self { side, label: alias.unwrap_or_else(|| text.clone()), base, _sim: Some(running) })
            }
            None => Err(Error::usage("the spec names no target", "set `target.url`, or give --endpoint URL")),
        }
    }

    fn config(&self, spec: &Spec, options: &SpecOptions, load: &LoadOptions) -> Config {
        let mut headers: BTreeMap<String, Secret> =
            spec.target.headers.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone()))).collect();
        let trusted = self._sim.is_some() || options.permissions.may_receive_secrets(&self.base);
        if trusted {
            headers.extend(load.headers.iter().cloned());
        }
        Config {
            side: self.side,
            base: self.base.clone(),
            api: match spec.target.api {
                ApiChoice::Fixed(api) => api,
                ApiChoice::Auto => Api::Chat,
            },
            model: spec.target.model.clone().unwrap_or_default(),
            timeouts: spec.target.timeout,
            headers,
            key: self.key(load, trusted),
            body: spec.target.body.clone(),
            exact: false,
            link_local: options.permissions.allows_host(&self.base),
        }
    }

    /// The key that was named for the baseline's side alone.
    fn own_key(&self, load: &LoadOptions) -> Option<Secret> {
        load.against.as_ref().filter(|_| self.side == Side::Baseline).and_then(|against| against.key.clone())
    }

    /// The simulated server wants no key; any other host gets only one that the caller named it for.
    fn key(&self, load: &LoadOptions, trusted: bool) -> Option<Secret> {
        let named = self.own_key(load).or_else(|| load.key.clone().filter(|_| trusted));
        named.filter(|_| self._sim.is_none())
    }

    /// What of the caller's secrets this target does not get, and what would name its host for them; `None` where it gets all.
    pub(super) fn withheld(&self, options: &SpecOptions, load: &LoadOptions) -> Option<&'static str> {
        if self._sim.is_some() || options.permissions.may_receive_secrets(&self.base) {
            return None;
        }
        let key = load.key.is_some() && self.own_key(load).is_none();
        match self.side {
            _ if !key && load.headers.is_empty() => None,
            Side::Candidate => Some("the API key and --header values are withheld: name the host with --endpoint or --allow-host"),
            Side::Baseline if key => Some(
                "the API key and --header values are withheld from the host of --against: name its own key with --against-api-key-env, \
                 or the host with --allow-host",
            ),
            Side::Baseline => Some("--header values are withheld from the host of --against: name it with --allow-host"),
        }
    }

    /// Waits for it, asks for its model, probes lengths, and fits the plan to what was found.
    pub(super) async fn ready(
        &self,
        spec: &Spec,
        (options, load): (&SpecOptions, &LoadOptions),
        (plan, salt): (Plan, u64),
        epoch: Instant,
        console: &Console,
    ) -> Result<Ready, Error> {
        let client = Client::new(self.config(spec, options, load), epoch)?;
        let probes = load.calibrate && spec.load.warmup != WarmUp::Requests(0);
        if probes {
            client.wait_ready(load.wait).await?;
        }
        let (model, context) = match &spec.target.model {
            Some(model) if !probes => (model.clone(), None),
            named => model(&client, named.as_deref(), console).await?,
        };
        if !probes {
            let fit = Fit { context, ..Fit::default() };
            let client = client.with(model.clone(), false);
            reset_cache(&client, load, console).await?;
            return Ok(Ready { client, plan: plan.fit(&fit)?, fit, model, calibrated: false, shared_tokens: None });
        }
        let sizes: Vec<u64> = PROBE_WORDS.into_iter().filter(|words| context.is_none_or(|context| words + 64 <= context)).collect();
        let probes = client.with(model.clone(), false).probe(&sizes, |words| plan::probe_text(words, salt)).await?;
        let fit = fit(&client.with(model.clone(), false), &probes, context, console).await;
        let mut client = client.with(model.clone(), probes.exact == ExactSupport::Honoured);
        if probes.closes {
            console
                .note("the server closes its connection after every answer: each request opens one, and its time is in ttft (connect_ms)");
            client = client.one_request_a_connection();
        }
        reset_cache(&client, load, console).await?;
        let calibrated = fit.exact;
        Ok(Ready { client, shared_tokens: calibrated.then_some(fit.c0), plan: plan.fit(&fit)?, fit, model, calibrated })
    }
}

/// Has the target drop its prefix cache, once the probes, which are in it, are over.
async fn reset_cache(client: &Client, load: &LoadOptions, console: &Console) -> Result<(), Error> {
    if load.reset_cache {
        let path = client.reset_cache().await?;
        console.note(&format!("the target's prefix cache was dropped (POST {path})"));
    }
    Ok(())
}

/// The model to ask for and its served context, where the server tells.
async fn model(client: &Client, named: Option<&str>, console: &Console) -> Result<(String, Option<u64>), Error> {
    match (client.models().await, named) {
        (Ok(models), Some(named)) => {
            let served = models.iter().find(|model| model.id == named);
            if served.is_none() {
                console.note(&format!("the server does not list the model `{named}`; asking for it all the same"));
            }
            Ok((named.to_owned(), served.and_then(|model| model.max_model_len)))
        }
        (Ok(models), None) => {
            let first = models.into_iter().next().ok_or_else(|| Error::usage("the server lists no model", "name it: --model"))?;
            Ok((first.id, first.max_model_len))
        }
        (Err(_), Some(named)) => Ok((named.to_owned(), None)),
        (Err(error), None) => Err(error.into()),
    }
}

async fn fit(client: &Client, probes: &Probes, context: Option<u64>, console: &Console) -> Fit {
    let points: Vec<ProbePoint> =
        probes.points.iter().map(|(words, tokens)| ProbePoint { words: *words, prompt_tokens: *tokens }).collect();
    let Some(found) = plan::interpret(&points) else {
        console.warn(&format!("{}: prompt lengths are in words, and approximate", uncalibrated(probes)));
        return Fit { context, ..Fit::default() };
    };
    let found = match found.approximate {
        Some(_) => hunt(client, console).await.unwrap_or(found),
        None => found,
    };
    Fit { context, ..found }
}

/// Why the probes tell no lengths.
fn uncalibrated(probes: &Probes) -> String {
    let failed: Vec<String> = probes.failed.iter().map(|(words, failure)| format!("{words} words: {}", failure.kind.name())).collect();
    match failed.as_slice() {
        [] => "the server counts no prompt tokens that could be used".to_owned(),
        failed => format!("too few length probes were answered ({})", failed.join("; ")),
    }
}

/// Looks for the words that the served tokenizer splits; without them every other word is one token again.
async fn hunt(client: &Client, console: &Console) -> Option<Fit> {
    console.note("words are not one token each here: looking for those that this tokenizer splits");
    let mut hunt = Hunt::new();
    let mut opener = None;
    while let Some(text) = hunt.next_text() {
        let tokens = client.count_tokens(text).await?;
        opener = opener.or(Some(tokens));
        hunt.answer(tokens);
    }
    let bad_words = hunt.bad_words()?;
    // The first text is one word that every tokenizer knows.
    Some(Fit { c0: opener?.checked_sub(1)?, exact: true, bad_words, ..Fit::default() })
}
