//! Every end survives its record.

use haft::Refusal;
use haft::permission::{Effect, Layer, Origin, Rule};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn round_trip(ended: &Ended) -> Ended {
    let Encoded { json, media } = encode(ended, &Redactor::default()).unwrap();
    decode(&json, &mut |digest| {
        Ok(media
            .iter()
            .find(|kept| kept.digest == digest)
            .expect("every reference has its bytes")
            .bytes
            .clone())
    })
    .unwrap()
}

#[test]
fn an_output_too_deep_to_be_read_back_is_not_recorded() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let ended = |structured| {
        Ended::Settled(Box::new(Settlement::Completed(Completed { structured, ..Completed::default() })))
    };
    let deep = ended(nested(400));
    assert_eq!(round_trip(&deep), deep);
    let error = encode(&ended(nested(600)), &Redactor::default()).err().unwrap();
    assert_eq!(error.to_string(), "the output is nested deeper than 500 levels");
}

#[test]
fn secrets_are_in_no_part_of_a_record() {
    let secret = "hunter22-is-secret";
    let rule = Rule::new(secret, secret, Effect::Deny, Origin::named(Layer::Project, secret));
    let text = secret.to_owned();
    let ends = [
        Settlement::Completed(Completed {
            title: text.clone(),
            content: vec![
                Content::Text(text.clone()),
                Content::Media {
                    mime: "text/plain".to_owned(),
                    data: secret.as_bytes().into(),
                    name: Some(text.clone()),
                },
            ],
            structured: json!({ secret: [secret] }),
            metadata: json!({ secret: secret }).as_object().cloned().unwrap(),
            retained: None,
        }),
        Settlement::Rejected(Rejection::Unknown {
            name: text.clone(),
            nearest: Some(text.clone()),
            available: vec![text.clone()],
        }),
        Settlement::Rejected(Rejection::Refused(Refusal::Denied {
            wanted: text.clone(),
            rule: Box::new(rule),
        })),
        Settlement::Rejected(Rejection::InvalidInput(InputError {
            message: text.clone(),
            issues: vec![Issue { path: text.clone(), problem: text.clone() }],
        })),
    ];
    let redactor = Redactor::of_secrets([text]);
    for settlement in ends {
        let Encoded { json, media } = encode(&Ended::Settled(Box::new(settlement)), &redactor).unwrap();
        assert!(!json.contains(secret), "{json}");
        assert!(media.iter().all(|kept| &*kept.bytes != secret.as_bytes()));
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        ".{0,20}".prop_map(Content::Text),
        ("[a-z]{1,5}/[a-z]{1,5}", prop::collection::vec(any::<u8>(), 0..40), prop::option::of(".{0,8}"))
            .prop_map(|(mime, data, name)| Content::Media { mime, data: data.into(), name }),
    ]
}

fn output() -> impl Strategy<Value = Output> {
    (any::<u64>(), any::<u64>(), prop::option::of("/[a-z/]{0,10}")).prop_map(|(bytes, lines, path)| Output {
        id: OutputId::mint(),
        bytes,
        lines,
        path: path.map(PathBuf::from),
    })
}

fn completed() -> impl Strategy<Value = Settlement> {
    let metadata = prop::collection::vec((".{0,6}", json_value()), 0..4);
    (".{0,10}", prop::collection::vec(content(), 0..4), json_value(), metadata, prop::option::of(output()))
        .prop_map(|(title, content, structured, metadata, retained)| {
            let metadata = metadata.into_iter().collect();
            Settlement::Completed(Completed { title, content, structured, metadata, retained })
        })
}

fn rule() -> impl Strategy<Value = Box<Rule>> {
    let effect = prop::sample::select(vec![Effect::Allow, Effect::Ask, Effect::Deny]);
    let layer = prop::sample::select(vec![
        Layer::Defaults,
        Layer::Global,
        Layer::Project,
        Layer::Agent,
        Layer::Session,
    ]);
    (".{0,8}", ".{0,8} ?\\*?", effect, layer, ".{0,8}", any::<Option<(u32, u32)>>()).prop_map(
        |(action, resource, effect, layer, source, position)| {
            let origin = Origin { layer, source: source.into(), position };
            Box::new(Rule::new(&action, &resource, effect, origin))
        },
    )
}

fn rejection() -> impl Strategy<Value = Settlement> {
    let text = ".{0,12}";
    let refusal = prop_oneof![
        (text, rule()).prop_map(|(wanted, rule)| Refusal::Denied { wanted, rule }),
        (text, text).prop_map(|(wanted, words)| Refusal::Corrected { wanted, words }),
        (text, prop::option::of(rule()), text).prop_map(|(wanted, rule, hint)| Refusal::Unanswered {
            wanted,
            rule,
            hint
        }),
        rule().prop_map(|rule| Refusal::Rehearsed { effect: rule.effect }),
    ];
    let issue = (text, text).prop_map(|(path, problem)| Issue { path, problem });
    prop_oneof![
        (text, prop::option::of(text), prop::collection::vec(text, 0..3))
            .prop_map(|(name, nearest, available)| Rejection::Unknown { name, nearest, available }),
        text.prop_map(|name| Rejection::Stale { name }),
        (text, prop::collection::vec(issue, 0..3))
            .prop_map(|(message, issues)| Rejection::InvalidInput(InputError { message, issues })),
        text.prop_map(|why| Rejection::InvalidOutput(OutputError(why))),
        text.prop_map(Rejection::Failed),
        refusal.prop_map(Rejection::Refused),
    ]
    .prop_map(Settlement::Rejected)
}

fn ended() -> impl Strategy<Value = Ended> {
    let interruption = prop::sample::select(vec![
        Interruption::NotStarted,
        Interruption::Committed,
        Interruption::RolledBack,
        Interruption::Unknown,
    ]);
    prop_oneof![
        4 => completed().prop_map(|settlement| Ended::Settled(Box::new(settlement))),
        4 => rejection().prop_map(|settlement| Ended::Settled(Box::new(settlement))),
        1 => Just(Ended::Declined),
        1 => ".{0,20}".prop_map(Ended::Broken),
        1 => Just(Ended::Cancelled),
        1 => interruption.prop_map(Ended::Interrupted),
    ]
}

proptest! {
    #[test]
    fn an_end_survives_its_record_exactly(ended in ended()) {
        prop_assert_eq!(round_trip(&ended), ended);
    }
}
