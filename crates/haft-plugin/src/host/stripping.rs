//! TypeScript for hosts that do not know it. The text is anybody's and a parser may break on it, so it is taken apart in
//! a process of our own engine and not in haft's.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Host, Patience};
use crate::desk::{Desk, Engine, HostProgram, Unanswered};
use crate::words::Strip;

/// A text that takes longer is none that a person wrote.
const PATIENCE: Patience = Patience { answer: Duration::from_secs(20), busy: Duration::from_secs(8) };

/// The process that does it, started when it is first needed.
#[derive(Default)]
pub(super) struct Stripping(Mutex<Option<Arc<Host>>>);

impl Stripping {
    /// Takes the types out of a text.
    pub(super) async fn strip(&self, desk: &Arc<dyn Desk>, wanted: &Strip) -> Result<Value, Unanswered> {
        let host = self.host(desk).await?;
        let told = json!({ "do": "strip", "path": wanted.path, "source": wanted.source });
        let done = host.request(told, None, PATIENCE).await;
        done.map_err(|error| Unanswered::failed(format!("its TypeScript was not understood: {error}")))
    }

    /// The process, started if there is none: a text that broke one breaks no other.
    async fn host(&self, desk: &Arc<dyn Desk>) -> Result<Arc<Host>, Unanswered> {
        let mut place = self.0.lock().await;
        match place.as_ref().filter(|host| host.is_usable()) {
            Some(host) => Ok(host.clone()),
            None => Ok(place.insert(Arc::new(started(desk.clone()).await?)).clone()),
        }
    }
}

async fn started(desk: Arc<dyn Desk>) -> Result<Host, Unanswered> {
    let failed = |why: String| Unanswered::failed(format!("nothing takes its types away: {why}"));
    let launching = {
        let desk = desk.clone();
        let program = HostProgram { engine: Engine::Embedded, readable: Vec::new() };
        tokio::task::spawn_blocking(move || desk.launch(&program))
    };
    let launched = launching.await.map_err(|error| failed(error.to_string()))?;
    let launched = launched.map_err(|error| failed(error.to_string()))?;
    // It serves no file of anybody.
    Host::new(launched, desk, std::path::Path::new("")).map_err(|error| failed(error.to_string()))
}
