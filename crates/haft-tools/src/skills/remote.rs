//! Gets what a person has named by its address: an index of skills, and what it lists.

use std::sync::Arc;

use haft::permission::{Ask, Gate, Question, Reach, Ruleset, Showing};
use haft::{AgentId, BoxFuture, CallId, MemoryRecorder, MessageId, SessionId, ToolContext};

use super::install::{Fetch, FetchError, LocalFetch};
use crate::web::{Address, BadAddress, Consented, Outgoing, Request, Web, WebError};

/// Who asks, in the words of a gate that nobody is behind.
const PERSON: &str = "person";

/// Gets files by http and https, and those of this machine as [`LocalFetch`] does.
pub struct RemoteFetch {
    web: Web,
    gate: Gate,
    context: ToolContext,
}

/// A file at an address that the person has named, or that lies below one.
struct Named(Request);

impl Ask for Named {
    /// Whoever named it has agreed to it.
    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing::default()
    }
}

impl Outgoing for Named {
    fn request(&self) -> &Request {
        &self.0
    }

    /// An index stands where it was named, and nowhere else.
    fn onward(&self, _: &Address) -> Option<Question> {
        None
    }
}

impl RemoteFetch {
    /// Gets on behalf of the person at the terminal.
    pub fn new(web: Web) -> RemoteFetch {
        let agent = AgentId::parse(PERSON).expect("the word is a name");
        let context = ToolContext {
            session: SessionId::mint(),
            agent,
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        let gate = Gate::in_memory(Ruleset::default(), Arc::new(MemoryRecorder::default()));
        RemoteFetch { web, gate, context }
    }

    async fn get(&self, address: &str, bytes_max: u64) -> Result<Vec<u8>, FetchError> {
        let told = |error: WebError| FetchError(error.to_string());
        let address = Address::parse(address).map_err(|error| FetchError(error.to_string()))?;
        let mut request = Request::get(address)
            .header("user-agent", concat!("haft/", env!("CARGO_PKG_VERSION")))
            .map_err(told)?;
        request.bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        request.consented = Consented::ThisEndpoint;
        let permit = self.gate.grant(&self.context, Named(request)).await;
        let permit = permit.map_err(|error| FetchError(error.to_string()))?;
        let reply = self.web.exchange(permit, &self.gate, &self.context).await.map_err(told)?;
        if !reply.is_success() {
            return Err(FetchError(format!("it answered {} {}", reply.status(), reply.reason())));
        }
        reply.whole(|_| {}).await.map_err(told)
    }
}

impl Fetch for RemoteFetch {
    fn fetch<'a>(&'a self, address: &'a str, bytes_max: u64) -> BoxFuture<'a, Result<Vec<u8>, FetchError>> {
        match Address::parse(address) {
            Err(BadAddress::Scheme) => LocalFetch.fetch(address, bytes_max),
            _ => Box::pin(self.get(address, bytes_max)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Installed, Installing, TIME_MAX, install};
    use super::RemoteFetch;
    use crate::testing::run;
    use crate::web::Web;
    use crate::web::testing::{Site, answer, redirect};

    const SKILL: &[u8] = b"---\nname: glaze\ndescription: Mixes colours.\n---\nMix them.\n";

    fn installed_into(base: &str, into: &Path) -> Result<Vec<Installed>, String> {
        let fetch = RemoteFetch::new(Web::default());
        let how = Installing { fetch: &fetch, into, replaces: false, time_max: TIME_MAX, progress: &|_| {} };
        run(install(&how, base)).map_err(|error| haft::causes(&error))
    }

    fn installed(base: &str) -> Result<Vec<String>, String> {
        let into = tempfile::TempDir::new().unwrap();
        let done = installed_into(base, into.path());
        let done = done?;
        assert_eq!(std::fs::read(into.path().join("glaze/SKILL.md")).unwrap(), SKILL);
        Ok(done.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn skills_are_installed_from_an_index_on_the_web() {
        let site = Site::open(|seen, to| match seen.path.as_str() {
            "/s/index.json" => answer(
                to,
                "200 OK",
                &[],
                br#"{"skills": [{"name": "glaze", "files": ["SKILL.md", "a/b.txt"], "version": "2"}]}"#,
            ),
            "/s/glaze/SKILL.md" => answer(to, "200 OK", &[], SKILL),
            "/s/glaze/a/b.txt" => answer(to, "200 OK", &[], b"b"),
            "/moved/index.json" => redirect(to, "/s/index.json"),
            "/out/index.json" => {
                answer(to, "200 OK", &[], br#"{"skills": [{"name": "glaze", "files": ["../../x"]}]}"#)
            }
            "/long/index.json" => answer(to, "200 OK", &[], &vec![b' '; (1 << 20) + 1]),
            _ => answer(to, "404 Not Found", &[], b""),
        });
        assert_eq!(installed(&site.url("/s/")).unwrap(), ["glaze"]);
        for (path, words) in [
            ("/moved", "which is not followed"),
            ("/out", "leads out of the skill"),
            ("/long", "too large"),
            ("/none", "it answered 404 Not Found"),
        ] {
            let error = installed(&site.url(path)).unwrap_err();
            assert!(error.contains(words), "{path}: {error}");
        }
        let shouted = site.url("/s/").replacen("http", "HTTP", 1);
        assert_eq!(installed(&shouted).unwrap(), ["glaze"]);
        let error = installed("ftp://a.example").unwrap_err();
        assert!(error.contains("only directories"), "{error}");
    }
}
