//! Which models the providers offer, asked of all of them at once.

use std::time::Duration;

use super::{OUTPUT_UNKNOWN, Providers, ResolveError};
use crate::provider::{ModelInfo, ProviderError};

/// What a provider offers.
pub struct Listing {
    /// The provider.
    pub provider: String,
    /// Its models, or why they are not known.
    pub models: Result<Vec<ModelInfo>, ProviderError>,
}

impl Providers {
    /// Asks every provider that is set up for its models, all at once and each within a time. Servers on this machine
    /// that do not run are left out, unless one is asked for by name.
    pub async fn list(&self, only: Option<&str>, deadline: Duration) -> Result<Vec<Listing>, ResolveError> {
        let ids = match only {
            Some(id) => vec![id.to_owned()],
            None => self.ids(),
        };
        let mut asked = tokio::task::JoinSet::new();
        for (place, id) in ids.iter().enumerate() {
            let wire = match self.wire(id, OUTPUT_UNKNOWN) {
                Ok(wire) => wire,
                Err(error) if only.is_some() => return Err(error),
                Err(_) => continue,
            };
            asked.spawn(async move {
                let late = ProviderError::Unreachable {
                    provider: String::new(),
                    message: format!("no answer in {} seconds", deadline.as_secs_f32()),
                };
                (place, tokio::time::timeout(deadline, wire.models()).await.unwrap_or(Err(late)))
            });
        }
        let mut answers = asked.join_all().await;
        answers.sort_by_key(|(place, _)| *place);
        let listings = answers.into_iter().filter_map(|(place, answer)| {
            let provider = ids[place].clone();
            let is_absent = answer.is_err() && self.is_local(&provider) && only.is_none();
            (!is_absent).then(|| self.listing(provider, answer))
        });
        Ok(listings.collect())
    }

    /// What was answered, with what is known or configured besides.
    fn listing(&self, provider: String, answer: Result<Vec<ModelInfo>, ProviderError>) -> Listing {
        let further = self.further(&provider).flat_map(|further| &further.models);
        let own: Vec<&ModelInfo> = self.configured_models(&provider).iter().chain(further).collect();
        let answer = match answer {
            Err(ProviderError::Unreachable { message, .. }) if own.is_empty() => {
                Err(ProviderError::Unreachable { provider: provider.clone(), message })
            }
            // A server that cannot list its models may still serve those that are configured.
            Err(error) if own.is_empty() => Err(error),
            Err(_) => Ok(Vec::new()),
            Ok(models) => Ok(models),
        };
        let models = answer.map(|mut models| {
            for model in &mut models {
                let known = self.info(&provider, &model.id);
                model.context = model.context.or(known.context);
                model.output = model.output.or(known.output);
            }
            for own in own {
                if models.iter().all(|model| model.id != own.id) {
                    models.push(self.info(&provider, &own.id));
                }
            }
            models.sort_by(|a, b| a.id.cmp(&b.id));
            models
        });
        Listing { provider, models }
    }
}
