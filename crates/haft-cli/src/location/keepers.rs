//! What keeps something beyond a call: the store, or for a rehearsal what forgets.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::{GrantBook, MemoryGrants};
use haft::{Journal, Memory, MemoryOutputs, MemoryRecorder, OutputStore, Recorder, ShortMemory};
use haft_store::{Redactor, Retention, Store, StoreOptions};
use haft_tools::DiskRestorer;

use super::Mode;
use crate::exit::{Exit, Failure};
use crate::models;
use crate::searches;
use crate::setting::Setting;
use crate::trust::create_private;

/// The notices that were said: a command that opens the store several times says each once.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whatever keeps something beyond a call.
pub(super) struct Keepers {
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) outputs: Arc<dyn OutputStore>,
    pub(super) grants: Arc<dyn GrantBook>,
    pub(super) memory: Arc<dyn Memory>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) store: Option<Store>,
}

impl Keepers {
    pub(super) fn of(setting: &Setting, mode: Mode) -> Result<Keepers, Failure> {
        match mode {
            Mode::Live => Ok(Keepers::durable(open_store(setting)?)),
            Mode::Rehearsal => Keepers::rehearsing(setting),
        }
    }

    fn durable(store: Store) -> Keepers {
        let shared = Arc::new(store.clone());
        Keepers {
            recorder: shared.clone(),
            outputs: shared.clone(),
            grants: shared.clone(),
            memory: shared.clone(),
            journal: shared,
            store: Some(store),
        }
    }

    /// A rehearsal writes nothing, but reads the grants that would count and what could be undone, if there is a store.
    fn rehearsing(setting: &Setting) -> Result<Keepers, Failure> {
        let recorder = Arc::new(MemoryRecorder::default());
        let (grants, journal): (Arc<dyn GrantBook>, Arc<dyn Journal>) =
            match setting.paths.data.join(haft_store::FILE).exists() {
                true => {
                    let store = Arc::new(open_store(setting)?);
                    (store.clone(), store)
                }
                false => (Arc::new(MemoryGrants::default()), recorder.clone()),
            };
        Ok(Keepers {
            recorder,
            outputs: Arc::new(MemoryOutputs::default()),
            grants,
            memory: Arc::new(ShortMemory::default()),
            journal,
            store: None,
        })
    }
}

/// Opens the store, and says what it had to put right.
pub(crate) fn open_store(setting: &Setting) -> Result<Store, Failure> {
    let opened = Store::open(StoreOptions {
        data_dir: setting.paths.data.clone(),
        project: setting.project().to_string_lossy().into_owned(),
        directory: setting.directory.to_string_lossy().into_owned(),
        redactor: redactor(setting),
        retention: retention(setting),
        journal: setting.config.journal(),
        restorer: Arc::new(DiskRestorer),
    });
    let (store, notices) = opened.map_err(|error| {
        Failure::new(Exit::Defect, error)
            .hint("haft keeps its record in HAFT_HOME, or in the XDG data directory")
    })?;
    for directory in setting.paths.own() {
        // What is not there cannot be kept from a command that would make it; where this person cannot make it, no
        // command can either.
        let _elsewhere = create_private(&directory);
    }
    for notice in notices {
        let notice = notice.to_string();
        let is_new = SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(notice.clone());
        if is_new {
            setting.terminal.say(&format!("{} {notice}", setting.terminal.err().yellow("notice:")));
        }
    }
    Ok(store)
}

/// Takes out what is secret in the environment, and the keys of providers and search services.
pub(super) fn redactor(setting: &Setting) -> Redactor {
    let keys = models::secrets(setting).into_iter().chain(searches::secrets(setting));
    let keys = keys.map(|(name, key)| (name.into(), key.into()));
    Redactor::from_env(setting.env.iter().chain(keys))
}

fn retention(setting: &Setting) -> Retention {
    let configured = setting.config.retention();
    Retention { days: configured.days, total_bytes: configured.bytes }
}
