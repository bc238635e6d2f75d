//! What fetching does with sites of every kind.

use std::io::Write;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use expect_test::expect;
use haft::{Completed, Event};
use image::ImageFormat;
use serde_json::{Value, json};

use crate::testing::Bench;
use crate::web::testing::{Rebinding, Site, answer, begin, redirect};
use crate::web::{Proxies, Web};

fn fetch(site: &Site, more: &Value) -> Completed {
    Bench::new().completed("webfetch", input(site, more))
}

fn input(site: &Site, more: &Value) -> Value {
    let mut input = json!({ "url": site.url("/p") });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

fn failure(site: &Site, more: &Value) -> String {
    Bench::new().rejected("webfetch", input(site, more)).replace(&site.port().to_string(), "PORT")
}

#[test]
fn a_page_becomes_what_is_asked_for() {
    let site =
        Site::page("text/html; charset=utf-8", "<h1>Hé</h1><p>see <a href=q>this</a><script>x</script>");
    let link = site.url("/q");
    assert_eq!(fetch(&site, &json!({})).text(), format!("# Hé\n\nsee [this]({link})"));
    assert_eq!(fetch(&site, &json!({ "format": "text" })).text(), "Hé\n\nsee this");
    assert!(fetch(&site, &json!({ "format": "html" })).text().contains("<script>"));
    let accepted: Vec<String> = site
        .seen()
        .iter()
        .map(|seen| seen.header("accept").unwrap().split(';').next().unwrap().to_owned())
        .collect();
    assert_eq!(accepted, ["text/markdown", "text/plain", "text/html"]);
    let done = fetch(&site, &json!({}));
    assert_eq!(done.title, format!("{} (text/html; charset=utf-8)", site.url("/p")));
    assert_eq!(done.metadata["untrusted"], true);
}

#[test]
fn only_the_main_content_comes_if_that_is_asked_for() {
    let site = Site::page("text/html", "<nav>menu</nav><main>what matters</main>");
    assert_eq!(fetch(&site, &json!({ "main": true })).text(), "what matters");
}

#[test]
fn consent_is_asked_for_the_address_and_for_what_is_private() {
    let bench = Bench::new();
    let url = |url: &str| json!({ "url": url });
    bench.check_questions(
        "webfetch",
        url("https://Example.com"),
        expect![[r#"
        webfetch on https://example.com/ = https://example.com (always: https://example.com/*)
        fetch https://example.com/
    "#]],
    );
    bench.check_questions(
        "webfetch",
        url("http://0x7f.1:3000/a#b"),
        expect![[r#"
        webfetch on http://127.0.0.1:3000/a (always: http://127.0.0.1:3000/*)
        private_address on 127.0.0.1:3000 (always: 127.0.0.1:3000)
        fetch http://127.0.0.1:3000/a#b
    "#]],
    );
}

#[test]
fn rules_decide_by_address_in_whatever_spelling() {
    let site = Site::page("text/plain", "private");
    let bench = Bench::new().denying(&[("webfetch", "http://127.0.0.1*")]);
    for host in ["127.0.0.1", "2130706433", "0x7f000001", "017700000001", "127.1"] {
        let refused = bench.rejected("webfetch", json!({ "url": format!("http://{host}:{}/", site.port()) }));
        assert!(refused.contains("permission denied"), "{host}: {refused}");
    }
    let bench = Bench::new().denying(&[("webfetch", "*/private/*")]);
    for path in ["private/a", "%70rivate/a", "priv%61te%2Fa", "x/../private/a", "x/%2e%2e/private/a"] {
        let refused = bench.rejected("webfetch", json!({ "url": site.url(&format!("/{path}")) }));
        assert!(refused.contains("permission denied"), "{path}: {refused}");
    }
    // What a model writes can be denied too, also where it means something else.
    let bench = Bench::new().denying(&[("webfetch", "http://2130706433*")]);
    bench.rejected("webfetch", json!({ "url": format!("http://2130706433:{}/", site.port()) }));
    assert!(site.seen().is_empty());
}

#[test]
fn a_redirect_is_followed_only_where_it_may_be() {
    let last = Site::page("text/plain", "landed");
    let to = last.url("/end");
    let site = Site::open(move |_, stream| redirect(stream, &to));
    assert_eq!(fetch(&site, &json!({})).metadata["url"], last.url("/end"));
    let port = format!("127.0.0.1:{}", last.port());
    for rule in [("private_address", port.as_str()), ("webfetch", "*/end")] {
        let refused = Bench::new().denying(&[rule]).rejected("webfetch", input(&site, &json!({})));
        assert!(refused.contains("permission denied"), "{refused}");
    }
    assert_eq!(last.seen().len(), 1);
    // Each hop is decided every time, so nothing of it is remembered.
    let bench = Bench::new();
    (0..2).for_each(|_| drop(bench.completed("webfetch", input(&site, &json!({})))));
    assert_eq!(last.seen().len(), 3);
}

#[test]
fn a_name_that_leads_elsewhere_the_second_time_leads_nowhere() {
    let site = Site::page("text/plain", "CANARY");
    let web = Web::with_names(Rebinding::to(&["240.0.0.1", "127.0.0.1"]), Proxies::default());
    let bench = Bench::new().denying(&[("private_address", "*")]).reaching(web);
    let refused = bench.rejected(
        "webfetch",
        json!({ "url": format!("http://rebind.example:{}/", site.port()), "timeout": 1 }),
    );
    assert!(refused.contains("240.0.0.1") || refused.contains("permission denied"), "{refused}");
    assert!(site.seen().is_empty());
}

#[test]
fn what_was_fetched_lately_is_not_fetched_again() {
    let site = Site::open(|seen, to| match seen.path.as_str() {
        "/never" => {
            answer(to, "200 OK", &[("content-type", "text/plain"), ("cache-control", "No-Store")], b"x")
        }
        "/gone" => answer(to, "410 Gone", &[], b""),
        _ => answer(to, "200 OK", &[("content-type", "text/plain")], b"x"),
    });
    let bench = Bench::new();
    let fetch = |path: &str, format: &str| {
        bench.settle("webfetch", json!({ "url": site.url(path), "format": format }))
    };
    for (path, format, seen) in [
        ("/a", "text", 1),
        ("/a#part", "text", 1),
        ("/a", "html", 2),
        ("/never", "text", 3),
        ("/never", "text", 4),
        ("/gone", "text", 5),
        ("/gone", "text", 6),
    ] {
        fetch(path, format);
        assert_eq!(site.seen().len(), seen, "{path} as {format}");
    }
    assert_eq!(
        bench.completed("webfetch", json!({ "url": site.url("/a") , "format": "text"})).metadata["cached"],
        true
    );
}

#[test]
fn a_challenge_is_answered_once_and_honestly() {
    let site = Site::open(|seen, to| match seen.header("user-agent") {
        Some(agent) if agent.starts_with("haft/") => {
            answer(to, "200 OK", &[("content-type", "text/plain")], b"ok")
        }
        _ => answer(to, "403 Forbidden", &[("cf-mitigated", "challenge")], b"prove it"),
    });
    assert_eq!(fetch(&site, &json!({})).text(), "ok");
    assert_eq!(site.seen().len(), 2);
    let stubborn = Site::open(|_, to| answer(to, "403 Forbidden", &[("cf-mitigated", "challenge")], b"no"));
    assert_eq!(failure(&stubborn, &json!({})), "Request failed with status code: 403 Forbidden");
    assert_eq!(stubborn.seen().len(), 2);
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(width, height).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn images_are_attached_as_read_shows_them() {
    // The bytes decide, whatever the host says.
    for kind in ["image/png", "application/octet-stream", "text/plain"] {
        let done = fetch(&Site::page(kind, png(3, 2)), &json!({}));
        assert_eq!(done.text(), "Image fetched successfully");
        assert!(
            matches!(&done.content[1], haft::Content::Media { mime, .. } if mime == "image/png"),
            "{kind}"
        );
    }
    let large = fetch(&Site::page("image/png", png(2600, 10)), &json!({}));
    assert_eq!(large.text(), "Image fetched successfully (scaled down from 2600 x 10 to 2000 x 8 pixels)");
    assert_eq!(fetch(&Site::page("image/svg+xml", "<svg/>"), &json!({})).text(), "<svg/>");
    assert_eq!(
        fetch(&Site::page("application/pdf", "%PDF-1.7 x"), &json!({})).text(),
        "PDF fetched successfully"
    );
    assert_eq!(
        failure(&Site::page("image/png", "no image"), &json!({})),
        "http://127.0.0.1:PORT/p is said to be image/png, and is no PNG, JPEG, GIF or WebP image, which are those \
         that can be shown"
    );
}

#[test]
fn what_is_no_text_is_refused_and_what_is_none_of_a_kind_is_looked_at() {
    let refused = failure(&Site::page("application/zip", b"PK\x03\x04\0\0".to_vec()), &json!({}));
    assert!(refused.contains("is application/zip, which is no text"), "{refused}");
    let unnamed = Site::open(|_, to| answer(to, "200 OK", &[], b"<!DOCTYPE html><h1>x</h1>"));
    assert_eq!(fetch(&unnamed, &json!({})).text(), "# x");
    assert_eq!(fetch(&Site::page("application/x-unknown", "plain"), &json!({})).text(), "plain");
    assert_eq!(fetch(&Site::page("text/html", ""), &json!({})).text(), "");
    assert_eq!(
        fetch(&Site::page("text/html; charset=utf-16le", b"h\0i\0".to_vec()), &json!({})).text(),
        "hi"
    );
    assert_eq!(
        fetch(&Site::page("text/html", b"<meta charset=sjis><p>\x93\xfa".to_vec()), &json!({})).text(),
        "日"
    );
}

/// A gzip stream of many zeros: one stored block cannot be a bomb, so it is made of deflate's longest matches.
fn packed_zeros(megabytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(1, 1);
    bits.push(1, 2);
    // The literal zero, then matches of 258 bytes at distance one: eight and five bits of ones and zeros each.
    bits.push_code(0x30, 8);
    for _ in 0..(megabytes << 20) / 258 {
        bits.push_code(0b1100_0101, 8);
        bits.push_code(0, 5);
    }
    bits.push_code(0, 7);
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
    bytes.extend(bits.bytes);
    bytes.extend([0; 8]);
    bytes
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: usize,
}

impl Bits {
    fn push(&mut self, value: u32, count: usize) {
        for at in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= (((value >> at) & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// Codes are written from their first bit.
    fn push_code(&mut self, value: u32, count: usize) {
        (0..count).rev().for_each(|at| self.push((value >> at) & 1, 1));
    }
}

#[test]
fn limits_hold_for_what_is_unpacked() {
    let bomb = packed_zeros(50);
    assert!(bomb.len() < 1 << 20);
    let site = Site::open(move |_, to| {
        answer(to, "200 OK", &[("content-type", "text/plain"), ("content-encoding", "gzip")], &bomb)
    });
    assert_eq!(failure(&site, &json!({})), "Response too large (exceeds 5MB limit)");
    let large = Site::page("text/html", vec![b'a'; 50 << 20]);
    assert_eq!(failure(&large, &json!({})), "Response too large (exceeds 5MB limit)");
    let endless = Site::open(|_, to| {
        begin(to, "200 OK", &[("content-type", "text/html")], None)?;
        loop {
            to.write_all(&[b'<'; 4096])?;
        }
    });
    assert_eq!(failure(&endless, &json!({})), "Response too large (exceeds 5MB limit)");
}

#[test]
fn time_is_limited_from_the_first_to_the_last_byte() {
    let site = Site::open(|_, to| {
        begin(to, "200 OK", &[("content-type", "text/plain")], Some("1000"))?;
        loop {
            to.write_all(b"a")?;
            sleep(Duration::from_millis(20));
        }
    });
    assert!(failure(&site, &json!({ "timeout": 0.3 })).starts_with("Request timed out after 0.3 seconds"));
    for timeout in [json!(0), json!(-1)] {
        let refused = failure(&site, &json!({ "timeout": timeout }));
        assert!(refused.starts_with("Invalid timeout value"), "{refused}");
    }
    assert_eq!(site.seen().len(), 1);
}

#[test]
fn slow_transfers_are_reported_on() {
    let site = Site::open(|_, to| {
        begin(to, "200 OK", &[("content-type", "text/plain")], Some("3"))?;
        for _ in 0..3 {
            to.write_all(b"a")?;
            sleep(Duration::from_millis(600));
        }
        Ok(())
    });
    let bench = Bench::new();
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let log = heard.clone();
    let _listening = bench.services.events.subscribe(move |_, event| {
        if let Event::Output { delta, .. } = event {
            log.lock().unwrap().push(delta.clone());
        }
    });
    assert_eq!(bench.completed("webfetch", input(&site, &json!({}))).text(), "aaa");
    let heard = heard.lock().unwrap();
    assert!(heard.last().is_some_and(|last| last == "received 3 of 3 bytes\n"), "{heard:?}");
}

#[test]
fn bad_addresses_are_refused_before_anybody_is_asked() {
    let bench = Bench::new().denying(&[("webfetch", "*")]);
    let rows = [
        ("ftp://example.com", "URL must start with http:// or https://"),
        ("example.com", "URL must start with http:// or https://"),
        ("http://", "URL is not valid: empty host"),
        (
            "http://a@b.example/",
            "URL must not hold a user name or password; leave out what stands before the @",
        ),
    ];
    for (url, expected) in rows {
        assert_eq!(bench.rejected("webfetch", json!({ "url": url })), expected, "{url}");
    }
}
