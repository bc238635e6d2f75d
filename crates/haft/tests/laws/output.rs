//! Tools return everything; one boundary shortens it for the model, retains the whole, and never pretends.

use std::io::Read;
use std::sync::Arc;

use expect_test::expect;
use haft::preview::Budget;
use haft::{
    BoundError, Boundary, Completed, Content, Limits, Offer, OutputStore, Presented, SessionId, Settlement,
    Shortening, Tool, ToolName, bound,
};
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};

use crate::support::{World, cases, echo, now, says, tool};

fn limited(lines: usize, bytes: usize) -> World {
    let mut world = World::new();
    world.services.limits = Limits { text: Budget { lines, bytes }, ..Limits::default() };
    world
}

fn completed(world: &World, tool: Tool) -> Completed {
    let _tool = world.register("tool", tool);
    let settled = now(world.turn().settle(world.call("tool", json!({ "text": "" })))).unwrap();
    let Settlement::Completed(completed) = settled else { panic!("it was rejected: {settled:?}") };
    completed
}

/// What becomes of something presented, without a tool around it.
fn bounded(world: &World, presented: Presented, structured: Value) -> Result<Completed, BoundError> {
    let shortening = Shortening::of(&presented);
    let limits = &world.services.limits;
    let boundary = Boundary { limits, delegates: false, outputs: &*world.outputs, context: &world.context() };
    now(bound(&boundary, presented, structured, shortening))
}

fn without_id(text: &str) -> String {
    match text.split_once("haft://output/") {
        Some((before, after)) => {
            let rest = after.find('\n').map_or("", |end| &after[end..]);
            format!("{before}haft://output/<id>{rest}")
        }
        None => text.to_owned(),
    }
}

#[test]
fn what_fits_is_shown_whole_and_not_retained() {
    let world = limited(3, 100);
    let completed = completed(&world, says("one\ntwo\nthree\n"));
    assert_eq!(completed.text(), "one\ntwo\nthree\n");
    assert_eq!((completed.retained, completed.metadata["truncated"].clone()), (None, json!(false)));
    assert!(world.outputs.wholes().is_empty());
}

#[test]
fn a_title_is_as_long_as_people_read() {
    let world = limited(3, 100);
    let titled =
        |title: &str| bounded(&world, Presented::text("x").titled(title), Value::Null).unwrap().title;
    assert_eq!(titled("grüße"), "grüße");
    let (most, more) = ("ü".repeat(1000), "ü".repeat(100_000));
    assert_eq!((titled(&most), titled(&more)), (most.clone(), format!("{most}…")));
}

#[test]
fn what_does_not_fit_is_retained_whole_and_shown_at_both_ends() {
    let world = limited(10, 1000);
    let whole: String = (1..=100).map(|n| format!("line {n}\n")).collect();
    let completed = completed(&world, says(whole.clone()));
    expect![[r#"
        line 1
        line 2

        ...96 lines truncated...

        The tool call succeeded but the output was truncated. Full output saved to: haft://output/<id>
        Use Grep to search the full content or Read with offset/limit to view specific sections.

        line 99
        line 100
    "#]]
    .assert_eq(&without_id(&completed.text()));
    assert_eq!(world.outputs.wholes(), [whole.as_str()]);
    let retained = completed.retained.clone().unwrap();
    assert_eq!((retained.bytes, retained.lines), (whole.len() as u64, 100));
    let facts = |key: &str| completed.metadata[key].clone();
    assert_eq!(facts("truncated"), json!(true));
    assert_eq!(facts("originalSize"), json!(whole.len()));
    assert_eq!(facts("truncatedSize"), json!(completed.text().len()));
}

#[test]
fn a_retained_output_can_be_read_by_whoever_made_it() {
    let world = limited(2, 400);
    let output = completed(&world, says("a\nb\nc\n")).retained.unwrap();
    let mut opened = now(world.outputs.open(&world.session, &output.id)).unwrap().unwrap();
    let mut text = String::new();
    opened.reader.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), opened.is_own, &opened.owner), ("a\nb\nc\n", true, &world.session));
    let stranger = now(world.outputs.open(&SessionId::mint(), &output.id)).unwrap().unwrap();
    assert!(!stranger.is_own);
}

#[test]
fn failed_retention_is_never_a_lossy_success() {
    let world = limited(2, 400);
    world.outputs.fail();
    let told = world.settle_one(says("a\nb\nc\n"), json!({ "text": "" }));
    expect!["error: the complete output could not be retained (the disk is full)"].assert_eq(&told);
    assert_eq!(world.states(), "pending running error:broken");
}

#[test]
fn what_fits_needs_no_retention() {
    let world = limited(2, 400);
    world.outputs.fail();
    assert_eq!(world.settle_one(says("a\nb\n"), json!({ "text": "" })), "completed: a\nb\n");
}

#[test]
fn a_tool_returns_the_same_whatever_the_limits_are() {
    let seen = |world: &World| {
        let log = world.log.clone();
        let works = tool(move |_, _| {
            let output = "x".repeat(5000);
            log.say(format!("returned {}", output.len()));
            std::future::ready(Ok(output))
        });
        let structured = completed(world, works).structured;
        (world.log.lines().into_iter().find(|line| line.starts_with("returned")), structured)
    };
    assert_eq!(seen(&limited(1, 600)), seen(&limited(1000, 100_000)));
}

#[test]
fn several_texts_are_bounded_as_one() {
    let world = limited(20, 1000);
    let mut presented = Presented::text("a".repeat(800));
    presented.content.push(Content::Text("b".repeat(800)));
    let completed = bounded(&world, presented, Value::Null).unwrap();
    assert_eq!(completed.content.len(), 1);
    assert!(completed.text().len() <= 1000);
    assert_eq!(world.outputs.wholes(), [format!("{}{}", "a".repeat(800), "b".repeat(800))]);
}

#[test]
fn structured_output_alone_is_bounded_as_its_text_and_kept() {
    let world = limited(20, 1000);
    let structured = json!({ "lines": vec!["some line"; 200] });
    let completed = bounded(&world, Presented::default(), structured.clone()).unwrap();
    assert_eq!(completed.structured, structured);
    assert!(completed.text().len() <= 1000);
    assert_eq!(world.outputs.wholes(), [serde_json::to_string_pretty(&structured).unwrap()]);
}

#[test]
fn structured_output_beside_a_text_is_not_counted() {
    let world = limited(20, 1000);
    let structured = json!({ "all": "x".repeat(100_000) });
    let completed = bounded(&world, Presented::text("short"), structured.clone()).unwrap();
    assert_eq!((completed.text().as_str(), completed.structured), ("short", structured));
    assert!(world.outputs.wholes().is_empty());
}

#[test]
fn media_passes_through_natively() {
    let world = limited(20, 1000);
    let pixels: Arc<[u8]> = vec![7; 6 * 1024 * 1024].into();
    let presented = Presented::text("x\n".repeat(1000)).attach("image/png", pixels.clone(), None);
    let completed = bounded(&world, presented, Value::Null).unwrap();
    let [Content::Text(text), Content::Media { mime, data, .. }] = completed.content.as_slice() else {
        panic!("{:?}", completed.content)
    };
    assert!(Arc::ptr_eq(data, &pixels) && mime == "image/png" && text.len() <= 1000);
    assert_eq!(world.outputs.wholes(), ["x\n".repeat(1000)]);
}

#[test]
fn media_over_the_limit_fails_and_says_so() {
    let mut world = World::new();
    world.services.limits.media = 10;
    let error =
        bounded(&world, Presented::default().attach("image/png", [0; 11], None), Value::Null).unwrap_err();
    expect!["the image/png is too large to be shown: 11 bytes, and the limit is 10"]
        .assert_eq(&error.to_string());
    assert!(bounded(&world, Presented::default().attach("image/png", [0; 10], None), Value::Null).is_ok());
}

#[test]
fn structured_data_that_repeats_media_is_left_out() {
    let world = World::new();
    let picture = || Presented::default().attach("image/png", *b"a picture of cheese", None);
    let encoded = "YSBwaWN0dXJlIG9mIGNoZWVzZQ==";
    let left = |structured: Value| bounded(&world, picture(), structured).unwrap().structured.to_string();
    expect![[r#"{"type":"png"}"#]].assert_eq(&left(json!({ "type": "png", "data": encoded })));
    expect![[r#"{"pages":[{"page":1}]}"#]].assert_eq(&left(
        json!({ "pages": [{ "page": 1, "url": format!("data:image/png;base64,{encoded}") }] }),
    ));
    expect!["null"].assert_eq(&left(json!(encoded)));
    expect![[r#"{"data":"another"}"#]].assert_eq(&left(json!({ "data": "another" })));
}

#[test]
fn a_text_its_tool_has_shortened_is_left_alone_up_to_a_ceiling() {
    let world = limited(100, 1000);
    let shown = |bytes: usize| {
        let presented = Presented::text("x".repeat(bytes)).with("truncated", true);
        bounded(&world, presented, Value::Null).unwrap()
    };
    assert_eq!(shown(4000).text().len(), 4000);
    let beyond = shown(4001);
    assert!(beyond.text().len() <= 1000 && beyond.retained.is_some());
}

#[test]
fn the_delegate_is_mentioned_only_where_it_is_advertised() {
    let mut world = limited(10, 2000);
    world.services.limits.delegate = Some(ToolName::parse("task").unwrap());
    let long = || says("x\n".repeat(100));
    assert!(!completed(&world, long()).text().contains("Task tool"));
    let _task = world.register("task", Offer::new(echo()));
    assert!(completed(&world, long()).text().contains("Use the Task tool"));
}

/// A text, known by a few of its features, so that a failing one can be read.
#[derive(Debug, Clone)]
enum Produced {
    Any(String),
    Repeated { unit: &'static str, times: usize },
}

impl Produced {
    fn text(&self) -> String {
        match self {
            Produced::Any(text) => text.clone(),
            Produced::Repeated { unit, times } => unit.repeat(*times),
        }
    }
}

fn produced() -> impl Strategy<Value = Produced> {
    let units = prop_oneof![Just("x"), Just("é"), Just("\n"), Just("ab\n"), Just("世界")];
    prop_oneof![
        "([a-c]{0,6}|é|世|\n){0,2000}".prop_map(Produced::Any),
        (units, 0usize..2_000_000).prop_map(|(unit, times)| Produced::Repeated { unit, times }),
    ]
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn whatever_was_produced_is_shown_within_the_limits_or_retained_whole(
        produced in produced(), lines in 8usize..60, bytes in 400usize..3000,
    ) {
        let (world, text) = (limited(lines, bytes), produced.text());
        let completed = bounded(&world, Presented::text(text.as_str()), Value::Null).unwrap();
        let shown = completed.text();
        prop_assert!(shown.len() <= bytes, "{} bytes shown of {}", shown.len(), text.len());
        prop_assert!(shown.lines().count() <= lines, "{} lines shown", shown.lines().count());
        match completed.retained {
            None => prop_assert!(shown == text),
            Some(retained) => {
                prop_assert_eq!(retained.bytes, text.len() as u64);
                prop_assert!(world.outputs.wholes() == [text]);
            }
        }
    }
}
