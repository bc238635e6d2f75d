//! The hooks `auth` and `provider`, step by step.

use serde_json::json;

use crate::driver::Host;

#[path = "../authorizing/plugin.rs"]
mod plugin;

#[test]
fn a_login_goes_step_by_step_and_its_callback_waits() {
    let mut host = Host::with(&[("p.ts", plugin::TEXT)]);
    let loaded = host.load("p.ts", "plugin");
    plugin::is_described(&loaded["ok"]);
    let host = &mut host.answering(plugin::answers);
    plugin::steps(&mut |order| host.order(order));
}

#[test]
fn a_request_that_nobody_waits_for_is_aborted() {
    let mut host = Host::with(&[("p.ts", plugin::TEXT)]).answering(plugin::answers);
    host.load("p.ts", "plugin");
    let load = json!({ "act": "loader", "provider": "acme", "info": { "models": {} } });
    host.order(json!({ "do": "part", "hook": "auth", "with": load }));
    let fetch = json!({ "act": "fetch", "provider": "acme", "url": "wait", "method": "GET", "headers": [] });
    let id = host.send_order(json!({ "do": "part", "hook": "auth", "with": fetch }));
    assert!(host.until(|line| line["text"] == "it waits").is_some());
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
}
