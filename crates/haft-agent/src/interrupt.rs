//! The wish to stop, which whoever runs a conversation may utter at any time.

use tokio::sync::watch;

/// A wish to stop. Its clones are the same wish.
#[derive(Debug, Clone)]
pub struct Interrupt(watch::Sender<bool>);

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt(watch::Sender::new(false))
    }
}

impl Interrupt {
    /// Utters it.
    pub fn fire(&self) {
        self.0.send_replace(true);
    }

    /// Takes it back, to go on.
    pub fn clear(&self) {
        self.0.send_replace(false);
    }

    /// Whether it was uttered.
    pub fn is_fired(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is uttered.
    pub async fn fired(&self) {
        let mut watching = self.0.subscribe();
        // The sender is held here, so it is there for as long as anybody waits.
        let _gone = watching.wait_for(|fired| *fired).await;
    }
}
