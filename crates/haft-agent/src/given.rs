//! What a model is given of a call. A long conversation is made of little else, so it may lie elsewhere than in memory.

use std::io;
use std::sync::Arc;

use haft::Content;

use crate::shelf::{Laid, Shelf};

/// What a model is given of a call. Cloning is cheap.
#[derive(Clone)]
pub struct Given(Arc<[Piece]>);

enum Piece {
    Text(Laid),
    Media { mime: String, name: Option<String>, data: Laid },
}

/// How much there is to be given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) text_bytes: usize,
    pub(crate) media: usize,
}

impl Given {
    /// Takes content, and lays down what is long in it.
    pub(crate) fn on(shelf: &Shelf, content: Vec<Content>) -> Given {
        let piece = |content: Content| match content {
            Content::Text(text) => Piece::Text(shelf.lay(text.into_bytes().into())),
            Content::Media { mime, data, name } => {
                Piece::Media { mime, name, data: shelf.lay((&*data).into()) }
            }
        };
        Given(content.into_iter().map(piece).collect())
    }

    /// A text that stays in memory.
    pub(crate) fn text(text: &str) -> Given {
        Given::from(vec![Content::Text(text.to_owned())])
    }

    /// How much it is.
    pub(crate) fn extent(&self) -> Extent {
        let mut extent = Extent::default();
        for piece in &*self.0 {
            match piece {
                Piece::Text(text) => extent.text_bytes += text.len(),
                Piece::Media { .. } => extent.media += 1,
            }
        }
        extent
    }

    /// The content itself.
    ///
    /// # Errors
    /// Where it cannot be read back from where it lies.
    pub fn read(&self) -> io::Result<Vec<Content>> {
        let read = |piece: &Piece| {
            Ok(match piece {
                Piece::Text(text) => Content::Text(text.text()?.into_owned()),
                Piece::Media { mime, name, data } => Content::Media {
                    mime: mime.clone(),
                    data: data.bytes()?.into_owned().into(),
                    name: name.clone(),
                },
            })
        };
        self.0.iter().map(read).collect()
    }
}

/// Content that stays in memory.
impl From<Vec<Content>> for Given {
    fn from(content: Vec<Content>) -> Given {
        Given::on(&Shelf::none(), content)
    }
}

/// Two are the same if they can be read and say the same.
impl PartialEq for Given {
    fn eq(&self, other: &Given) -> bool {
        let same = || Some(self.read().ok()? == other.read().ok()?);
        Arc::ptr_eq(&self.0, &other.0) || same().unwrap_or(false)
    }
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.read() {
            Ok(content) => content.fmt(f),
            Err(error) => error.fmt(f),
        }
    }
}
