//! Everything that breaks, for every format.

use std::time::Duration;

use haft::Finish;
use haft_agent::provider::{Delta, Provider as _, ProviderError};
use haft_agent::wire::{Format, Wire};
use serde_json::{Value, json};

use crate::support::{End, FORMATS, KEY, Reply, Server, events, hear, hello, runtime, told};

/// A good stream of a format: a word, and a call that is complete before the end.
fn good(format: Format) -> Vec<Value> {
    match format {
        Format::Chat => vec![
            json!({"choices": [{"delta": {"content": "Hi"}}]}),
            json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"x\":1}"}}]}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        ],
        Format::Responses => vec![
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "a", "name": "read", "arguments": ""}}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"x\":1}"}}),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ],
        Format::Anthropic => vec![
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "read", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"x\":1}"}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ],
        Format::Gemini => vec![
            json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"id": "a", "name": "read", "args": {"x": 1}}}]}}]}),
            json!({"candidates": [{"finishReason": "STOP"}]}),
        ],
    }
}

async fn outcome(format: Format, reply: Reply) -> (Vec<Delta>, Option<ProviderError>) {
    let server = Server::new(vec![reply]);
    let (deltas, error) = hear(&server.wire(format), &hello()).await;
    // Checks that no key is shown.
    told(&deltas, error.as_ref());
    (deltas, error)
}

fn is_finished(deltas: &[Delta]) -> bool {
    deltas.iter().any(|delta| matches!(delta, Delta::Finished(_)))
}

#[test]
fn the_good_streams_are_good() {
    for format in FORMATS {
        let (deltas, error) = runtime().block_on(outcome(format, Reply::stream(events(&good(format)))));
        assert!(error.is_none(), "{format:?}: {error:?}");
        assert_eq!(deltas.last(), Some(&Delta::Finished(Finish::Calls)), "{format:?}");
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_is_broken_and_never_finished() {
    let runtime = runtime();
    for format in FORMATS {
        let whole = events(&good(format)).into_bytes();
        // Within the last event, at its end, and within the first; with and without a proper end of the body.
        let last = whole.len() - events(&good(format)[good(format).len() - 1..]).len();
        for at in [0, 3, 20, last - 30, last, last + 12] {
            for end in [End::Proper, End::Cut] {
                let reply = Reply::stream(&whole[..at]).ending(end);
                let (deltas, error) = runtime.block_on(outcome(format, reply));
                assert!(matches!(error, Some(ProviderError::Broken { .. })), "{format:?} {at}: {error:?}");
                assert!(!is_finished(&deltas), "{format:?} {at}");
            }
        }
    }
}

#[test]
fn a_stream_that_stalls_is_broken_after_a_while() {
    for format in FORMATS {
        let body = events(&good(format)[..2]);
        let server = Server::new(vec![Reply::stream(body).ending(End::Stall)]);
        let wire = Wire::new(server.endpoint(format));
        let (deltas, error) = runtime().block_on(hear(&wire, &hello()));
        assert!(
            matches!(error, Some(ProviderError::Broken { .. })) && !is_finished(&deltas),
            "{format:?} {error:?}"
        );
    }
}

#[test]
fn a_server_that_never_answers_is_unreachable() {
    let server = Server::new(vec![Reply { body: Vec::new(), ..Reply::stream("") }.ending(End::Stall)]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut endpoint = server.endpoint(Format::Chat);
    endpoint.base_url = format!("http://{}", listener.local_addr().unwrap());
    let (_, error) = runtime().block_on(hear(&Wire::new(endpoint.clone()), &hello()));
    assert!(matches!(error, Some(ProviderError::Unreachable { .. })), "{error:?}");
    drop(listener);
    let (_, error) = runtime().block_on(hear(&Wire::new(endpoint), &hello()));
    assert!(matches!(error, Some(ProviderError::Unreachable { .. })), "{error:?}");
}

#[test]
fn a_malformed_chunk_is_malformed_and_what_came_before_it_is_told() {
    for format in FORMATS {
        let body = events(&good(format)[..2]) + "data: {\"nonsense\n\n" + &events(&good(format)[2..]);
        let (deltas, error) = runtime().block_on(outcome(format, Reply::stream(body)));
        assert!(matches!(error, Some(ProviderError::Malformed { .. })), "{format:?} {error:?}");
        assert!(!deltas.is_empty() && !is_finished(&deltas), "{format:?}");
    }
}

#[test]
fn a_page_in_place_of_a_stream_is_no_answer() {
    for format in FORMATS {
        let reply = Reply {
            headers: vec![("content-type", "text/html".to_owned())],
            ..Reply::stream("<html>Login</html>")
        };
        let (deltas, error) = runtime().block_on(outcome(format, reply));
        assert!(error.is_some() && deltas.is_empty(), "{format:?}");
    }
}

#[test]
fn busy_providers_say_when_to_ask_again() {
    for format in FORMATS {
        for (status, header, value, expected) in [
            (429, "retry-after", "7", Some(Duration::from_secs(7))),
            (529, "retry-after-ms", "250", Some(Duration::from_millis(250))),
            (503, "retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(Duration::ZERO)),
            (500, "x-nothing", "1", None),
        ] {
            let error = json!({"error": {"type": "rate_limit_error", "message": format!("slow down {KEY}")}});
            let (_, error) =
                runtime().block_on(outcome(format, Reply::json(status, &error).header(header, value)));
            let Some(ProviderError::Busy { retry_after, message, .. }) = error else {
                panic!("{format:?} {error:?}")
            };
            assert_eq!(retry_after, expected, "{format:?} {status}");
            assert!(message.contains("slow down [key]"), "{message}");
        }
    }
}

#[test]
fn refusals_are_told_in_the_providers_words() {
    type Is = fn(&ProviderError) -> bool;
    let cases: [(u16, &str, Is); 5] = [
        (401, "bad key", |error| matches!(error, ProviderError::Unauthorised { .. })),
        (403, "not yours", |error| matches!(error, ProviderError::Unauthorised { .. })),
        (400, "maximum context length is 8 tokens", |error| matches!(error, ProviderError::TooLong(_))),
        (404, "no such model", |error| matches!(error, ProviderError::Refused { .. })),
        (400, "bad field", |error| matches!(error, ProviderError::Refused { .. })),
    ];
    for format in FORMATS {
        for (status, words, is_right) in cases {
            let reply = Reply::json(status, &json!({"error": {"message": words}}));
            let error = runtime().block_on(outcome(format, reply)).1.unwrap();
            assert!(is_right(&error) && error.to_string().contains(words), "{format:?} {status}: {error:?}");
        }
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::new(Vec::new());
    let reply = Reply::json(307, &json!({}))
        .header("location", &format!("http://elsewhere.example:{}/", other.address.port()));
    let error = runtime().block_on(outcome(Format::Anthropic, reply)).1.unwrap();
    assert!(error.to_string().contains("elsewhere.example"), "{error}");
}

#[test]
fn what_never_ends_is_not_read_for_ever() {
    let line = format!("data: {}", "x".repeat(1 << 20));
    for (format, body) in [
        (Format::Chat, line.clone()),
        (Format::Anthropic, line),
        (Format::Gemini, ": still here\n".repeat(80_000)),
    ] {
        let reply = Reply::stream(body).ending(End::Repeat);
        let (_, error) = runtime().block_on(outcome(format, reply));
        assert!(matches!(error, Some(ProviderError::Malformed { .. })), "{format:?} {error:?}");
    }
    let endless = Reply { status: 400, ..Reply::stream("y".repeat(200_000)).ending(End::Repeat) };
    let error = runtime().block_on(outcome(Format::Responses, endless)).1.unwrap();
    assert!(error.to_string().len() < 2000);
}

#[test]
fn a_key_that_cannot_be_sent_is_not_shown() {
    let server = Server::new(Vec::new());
    let mut endpoint = server.endpoint(Format::Chat);
    endpoint.headers = vec![("x-other".to_owned(), "line\nbreak".to_owned())];
    assert!(!format!("{endpoint:?}").contains(KEY));
    let (_, error) = runtime().block_on(hear(&Wire::new(endpoint), &hello()));
    assert!(matches!(error, Some(ProviderError::Unauthorised { .. })), "{error:?}");
}

#[test]
fn connections_are_used_again_and_leaving_early_ends_the_request() {
    let stream = |format| {
        Reply::stream(events(&good(format)) + if format == Format::Chat { "data: [DONE]\n\n" } else { "" })
    };
    for format in FORMATS {
        let server = Server::new(vec![stream(format), stream(format), stream(format).ending(End::Stall)]);
        let wire = server.wire(format);
        runtime().block_on(async {
            for _ in 0..2 {
                assert!(hear(&wire, &hello()).await.1.is_none());
                // The task behind the connection puts it back when it is polled.
                for _ in 0..100 {
                    tokio::task::yield_now().await;
                }
            }
            let mut answer = wire.answer(&hello()).await.unwrap();
            assert!(answer.next().await.unwrap().is_ok());
        });
        let connections: Vec<usize> = (0..3).map(|_| server.request().connection).collect();
        assert_eq!(connections, [0, 0, 0], "{format:?}");
    }
}
