//! A conversation in the words of a format. What was said does not change, so each part is put into words once.

use std::io;
use std::sync::Arc;

use serde_json::Value;

use super::document::Document;
use super::{anthropic, chat, gemini, responses};
use crate::provider::{Told, Utterance};
use crate::shelf::{Laid, Shelf};

/// How a provider is spoken to: everything on which the words for an utterance depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tongue {
    Chat(chat::Dialect),
    Responses,
    Anthropic,
    Gemini(gemini::Signing),
}

/// An utterance in the words of a tongue: elements of an array, as JSON.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) tongue: Tongue,
    pub(crate) elements: Vec<Arc<Laid>>,
}

/// Elements in a row that are said by the same side, and what stands around them.
pub(crate) struct Stretch {
    pub(crate) open: &'static str,
    pub(crate) elements: Vec<Arc<Laid>>,
    pub(crate) close: &'static str,
}

/// A request: its fields, and the conversation that stands in one of them.
pub(crate) struct Request {
    pub(crate) fields: Value,
    pub(crate) place: &'static str,
    pub(crate) conversation: Vec<Stretch>,
}

impl Tongue {
    /// Puts an utterance into words, which lie on a shelf from then on.
    pub(crate) fn words(self, utterance: &Utterance, shelf: &Shelf) -> io::Result<Words> {
        let elements = match self {
            Tongue::Chat(dialect) => chat::messages(utterance, dialect),
            Tongue::Responses => responses::items(utterance),
            Tongue::Anthropic => anthropic::blocks(utterance),
            Tongue::Gemini(signing) => gemini::parts(utterance, signing),
        };
        let lay = |value: &Value| Arc::new(shelf.lay(value.to_string().into_bytes().into()));
        Ok(Words { tongue: self, elements: elements?.iter().map(lay).collect() })
    }

    /// What stands around elements of such an utterance. Where nothing does, each says itself who speaks.
    fn frame(self, utterance: &Utterance) -> (&'static str, &'static str) {
        let is_model = matches!(utterance, Utterance::Assistant(_));
        match (self, is_model) {
            (Tongue::Chat(_) | Tongue::Responses, _) => ("", ""),
            (Tongue::Anthropic, true) => (r#"{"role":"assistant","content":["#, "]}"),
            (Tongue::Anthropic, false) => (r#"{"role":"user","content":["#, "]}"),
            (Tongue::Gemini(_), true) => (r#"{"role":"model","parts":["#, "]}"),
            (Tongue::Gemini(_), false) => (r#"{"role":"user","parts":["#, "]}"),
        }
    }

    /// Tells a conversation: whatever one side says in one go is one stretch. May wait for the disk.
    pub(crate) fn tell(self, conversation: &[Arc<Told>]) -> io::Result<Vec<Stretch>> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for told in conversation {
            let (open, close) = self.frame(told.utterance());
            let elements = told.words(self)?;
            match stretches.last_mut() {
                Some(last) if last.open == open => last.elements.extend(elements),
                _ if elements.is_empty() => {}
                _ => stretches.push(Stretch { open, elements, close }),
            }
        }
        if self == Tongue::Anthropic {
            anthropic::mark_last(&mut stretches)?;
        }
        Ok(stretches)
    }
}

/// A value as it stands in the conversation.
pub(crate) fn element(value: &Value) -> Laid {
    Laid::held(value.to_string().into_bytes())
}

impl Stretch {
    fn write(&self, document: &mut Document) -> io::Result<()> {
        document.push(self.open);
        for (at, element) in self.elements.iter().enumerate() {
            match at {
                0 => document.add(element)?,
                _ => document.add_next(element)?,
            }
        }
        document.push(self.close);
        Ok(())
    }
}

impl Request {
    /// The request as JSON, with the conversation in its place.
    pub(crate) fn document(&self) -> io::Result<Document> {
        let mut document = Document::default();
        let mut before = "{";
        for (name, value) in self.fields.as_object().into_iter().flatten() {
            document.push(before);
            document.push(&Value::from(name.as_str()).to_string());
            document.push(":");
            match name == self.place {
                true => self.tell(&mut document)?,
                false => document.push(&value.to_string()),
            }
            before = ",";
        }
        document.push("}");
        Ok(document)
    }

    fn tell(&self, document: &mut Document) -> io::Result<()> {
        document.push("[");
        for (at, stretch) in self.conversation.iter().enumerate() {
            document.push(if at == 0 { "" } else { "," });
            stretch.write(document)?;
        }
        document.push("]");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use haft::{AgentId, Content};

    use super::*;
    use crate::provider::{Headers, Options, Prompt, Provider as _, ProviderError};
    use crate::shelf::tests::lets_others_work;
    use crate::wire::{Endpoint, Format, Wire};

    #[tokio::test]
    async fn words_are_laid_down_beside_everything_else() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::within(Some(directory.path()));
        let said = Utterance::User(vec![Content::Text("long ".repeat(100))]);
        let prompt = Prompt {
            model: "m".to_owned(),
            agent: AgentId::parse("build").unwrap(),
            system: Vec::new(),
            conversation: vec![Arc::new(Told::on(&shelf, said))],
            tools: Vec::new(),
            options: Options::default(),
            headers: Headers::default(),
        };
        let wire = Wire::new(Endpoint {
            provider: "acme".to_owned(),
            format: Format::Anthropic,
            // The words are found before it turns out that nobody is there.
            base_url: "nowhere".to_owned(),
            key: None,
            headers: Vec::new(),
            idle: None,
            output_max: 1,
            carrier: None,
        });
        let asking = async {
            let error = wire.answer(&prompt).await.err();
            assert!(matches!(error, Some(ProviderError::Unreachable { .. })), "{error:?}");
        };
        assert!(lets_others_work(&shelf, asking).await);
    }
}
