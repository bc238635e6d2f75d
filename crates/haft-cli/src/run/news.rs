//! What happens, queued for whoever shows it. Pieces of the same thing are joined, so a slow terminal slows nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::permission::{Answer, Asker, Inquiry, Reply, Request, Told};
use haft::{BoxFuture, Event, Saying, Seq};
use haft_agent::Outcome;
use tokio::sync::{Notify, oneshot};

use crate::exit::Failure;

/// Of output that nobody has shown yet, so much of the end is kept: only its last line is ever shown.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Something to show or to answer.
pub(crate) enum News {
    Event(Seq, Event),
    Ask(Asked),
    Inquire(Inquiring),
    /// Somebody no longer waits for an answer.
    Withdrawn,
    /// The agent has no more to do.
    Ended(Box<Outcome>),
    /// The words of a command were said.
    Said,
    /// What was to be said was not.
    Unsaid(Failure),
    /// The conversation died of a defect.
    Broken,
    /// Bytes from the terminal.
    Typed(Vec<u8>),
    /// A line from the terminal.
    Line(String),
    /// No more will be typed.
    Closed,
}

/// Somebody's consent is needed.
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) reply: oneshot::Sender<Reply>,
}

/// The model asks something.
pub(crate) struct Inquiring {
    pub(crate) inquiry: Inquiry,
    pub(crate) reply: oneshot::Sender<Told>,
}

/// The queue. Its clones are the same queue.
#[derive(Clone, Default)]
pub(crate) struct Wire(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<VecDeque<News>>,
    arrived: Notify,
}

impl Wire {
    pub(crate) fn push(&self, news: News) {
        let mut queue = self.queue();
        if let Some(news) = joined(queue.back_mut(), news) {
            queue.push_back(news);
        }
        drop(queue);
        self.0.arrived.notify_one();
    }

    /// What is there already.
    pub(crate) fn take(&self) -> Option<News> {
        self.queue().pop_front()
    }

    /// Waits for something.
    pub(crate) async fn next(&self) -> News {
        loop {
            if let Some(news) = self.take() {
                return news;
            }
            self.0.arrived.notified().await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<News>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a piece to the one before it, if they belong together; otherwise gives it back.
fn joined(last: Option<&mut News>, news: News) -> Option<News> {
    match (last, &news) {
        (
            Some(News::Event(_, Event::Output { context: of, delta: known })),
            News::Event(_, Event::Output { context, delta }),
        ) if of == context => {
            known.push_str(delta);
            if known.len() > OUTPUT_BYTES_MAX {
                let mut at = known.len() - OUTPUT_BYTES_MAX / 2;
                while !known.is_char_boundary(at) {
                    at += 1;
                }
                known.drain(..at);
            }
            None
        }
        (
            Some(News::Event(_, Event::Said { message: of, delta: Saying::Text(known), .. })),
            News::Event(_, Event::Said { message, delta: Saying::Text(text), .. }),
        ) if of == message => {
            known.push_str(text);
            None
        }
        _ => Some(news),
    }
}

/// Puts questions to whoever reads the queue.
pub(crate) struct Desk(pub(crate) Wire);

/// Says that nobody waits any longer.
struct Withdrawal(Wire);

impl Drop for Withdrawal {
    fn drop(&mut self) {
        self.0.push(News::Withdrawn);
    }
}

impl Asker for Desk {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        let (reply, answer) = oneshot::channel();
        self.0.push(News::Ask(Asked { request: request.clone(), reply }));
        Box::pin(async move {
            let _withdrawal = Withdrawal(self.0.clone());
            // Whoever leaves without a word has not agreed.
            Answer::Reply(answer.await.unwrap_or(Reply::Reject(None)))
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        let (reply, answer) = oneshot::channel();
        self.0.push(News::Inquire(Inquiring { inquiry: inquiry.clone(), reply }));
        Box::pin(async move {
            let _withdrawal = Withdrawal(self.0.clone());
            answer.await.unwrap_or(Told::Dismissed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::{MessageId, SessionId};

    fn said(message: &str, text: &str) -> News {
        let (session, message) = (SessionId::parse("ses_a").unwrap(), MessageId::parse(message).unwrap());
        News::Event(Seq(0), Event::Said { session, message, delta: Saying::Text(text.to_owned()) })
    }

    #[test]
    fn pieces_of_one_message_are_joined_and_nothing_is_lost() {
        let wire = Wire::default();
        wire.push(said("msg_1", "a"));
        wire.push(said("msg_1", "b"));
        wire.push(said("msg_2", "c"));
        wire.push(News::Withdrawn);
        wire.push(said("msg_2", "d"));
        let texts = std::iter::from_fn(|| wire.take()).filter_map(|news| match news {
            News::Event(_, Event::Said { delta: Saying::Text(text), .. }) => Some(text),
            _ => None,
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["ab", "c", "d"]);
    }
}
