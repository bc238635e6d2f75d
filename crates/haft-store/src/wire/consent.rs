//! How refusals and the rules behind them are written down.

use haft::Refusal;
use haft::permission::{Effect, Layer, Origin, Pattern, Rule};
use serde::{Deserialize, Serialize};

use super::Pen;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefusalRecord {
    Denied { wanted: String, rule: RuleRecord },
    Corrected { wanted: String, words: String },
    Unanswered { wanted: String, rule: Option<RuleRecord>, hint: String },
    Rehearsed { effect: EffectRecord },
}

impl RefusalRecord {
    pub(super) fn of(refusal: &Refusal, pen: &Pen<'_>) -> RefusalRecord {
        match refusal {
            Refusal::Denied { wanted, rule } => {
                RefusalRecord::Denied { wanted: pen.command(wanted), rule: RuleRecord::of(rule, pen) }
            }
            Refusal::Corrected { wanted, words } => {
                RefusalRecord::Corrected { wanted: pen.command(wanted), words: pen.text(words) }
            }
            Refusal::Unanswered { wanted, rule, hint } => RefusalRecord::Unanswered {
                wanted: pen.command(wanted),
                rule: rule.as_deref().map(|rule| RuleRecord::of(rule, pen)),
                hint: pen.text(hint),
            },
            Refusal::Rehearsed { effect } => RefusalRecord::Rehearsed { effect: (*effect).into() },
        }
    }

    pub(super) fn into_core(self) -> Refusal {
        let boxed = |rule: RuleRecord| Box::new(rule.into_core());
        match self {
            RefusalRecord::Denied { wanted, rule } => Refusal::Denied { wanted, rule: boxed(rule) },
            RefusalRecord::Corrected { wanted, words } => Refusal::Corrected { wanted, words },
            RefusalRecord::Unanswered { wanted, rule, hint } => {
                Refusal::Unanswered { wanted, rule: rule.map(boxed), hint }
            }
            RefusalRecord::Rehearsed { effect } => Refusal::Rehearsed { effect: effect.into() },
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct RuleRecord {
    action: String,
    resource: String,
    effect: EffectRecord,
    layer: LayerRecord,
    source: String,
    position: Option<(u32, u32)>,
}

impl RuleRecord {
    fn of(rule: &Rule, pen: &Pen<'_>) -> RuleRecord {
        RuleRecord {
            action: pen.text(rule.action.as_str()),
            resource: pen.command(rule.resource.as_str()),
            effect: rule.effect.into(),
            layer: rule.origin.layer.into(),
            source: pen.text(&rule.origin.source),
            position: rule.origin.position,
        }
    }

    fn into_core(self) -> Rule {
        Rule {
            action: Pattern::new(&self.action),
            resource: Pattern::new(&self.resource),
            effect: self.effect.into(),
            origin: Origin { layer: self.layer.into(), source: self.source.into(), position: self.position },
        }
    }
}

/// Pairs the variants of a core enum with those of its record, both ways.
macro_rules! record_of {
    ($core:ident, $record:ident { $($variant:ident),+ }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $record { $($variant),+ }

        impl From<$core> for $record {
            fn from(core: $core) -> $record {
                match core { $($core::$variant => $record::$variant),+ }
            }
        }

        impl From<$record> for $core {
            fn from(record: $record) -> $core {
                match record { $($record::$variant => $core::$variant),+ }
            }
        }
    };
}

record_of!(Effect, EffectRecord { Allow, Ask, Deny });
record_of!(Layer, LayerRecord { Defaults, Global, Project, Agent, Session });
