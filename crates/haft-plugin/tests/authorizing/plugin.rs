//! A plugin that people log in through, and what every host makes of it.

use serde_json::{Value, json};

pub(crate) const TEXT: &str = r#"
export const Acme = async () => ({
  auth: {
    provider: "acme",
    methods: [
      { type: "oauth", label: "Account", prompts: [
          { type: "text", key: "host", message: "Which host", placeholder: "acme.example", validate: (value: string) => (value.includes(".") ? undefined : "no dot in it") },
          { type: "select", key: "plan", message: "Which plan", options: [{ label: "Free", value: "free", hint: "slow" }], condition: (inputs: any) => inputs.host === "acme.example" },
          { type: "text", key: "seat", message: "Which seat", when: { key: "plan", op: "neq", value: "free" } },
        ],
        async authorize(inputs: any) {
          return { url: `https://${inputs.host}/login`, instructions: "go", method: "code", callback: async (code: string) => ({ type: code === "7" ? "success" : "failed", key: `${inputs.host} ${code}` }) }
        } },
      { type: "api", label: "Key" },
      { type: "magic", label: "Wand" },
    ],
    async loader(getAuth: any, provider: any) {
      const { key } = await getAuth()
      return { apiKey: key, baseURL: "https://acme.example/v1", headers: new Headers({ "x-models": Object.keys(provider.models).join() }), async fetch(url: any, init: any) {
        if (url === "wait") {
          console.log("it waits")
          await new Promise((_, stop) => init.signal.addEventListener("abort", () => stop(init.signal.reason)))
        }
        const sent = JSON.parse(init.body)
        return new Response(`${url} ${init.method} ${init.headers["x-a"]} ${sent.word}`, { status: 201, headers: { "x-b": "c" } })
      } }
    },
  },
  provider: { id: "acme", models: async (provider: any, { auth }: any) => ({ big: { id: "big", name: `${provider.id} ${auth?.key}` } }) },
})
export const Odd = async () => ({ auth: { methods: [] }, provider: { id: "odd" } })
"#;

/// What haft answers.
pub(crate) fn answers(ask: &Value) -> Value {
    assert_eq!((&ask["op"], &ask["with"]), (&json!("auth"), &json!({ "provider": "acme" })));
    json!({ "ok": { "type": "api", "key": "k" } })
}

pub(crate) fn is_described(loaded: &Value) {
    let methods = &loaded["auth"][0]["methods"];
    assert_eq!(loaded["auth"].as_array().unwrap().len(), 1, "{loaded}");
    assert_eq!((&loaded["auth"][0]["provider"], &loaded["auth"][0]["loads"]), (&json!("acme"), &json!(true)));
    assert_eq!(methods.as_array().unwrap().len(), 2, "{loaded}");
    assert_eq!(
        (&methods[1]["at"], &methods[1]["type"], &methods[1]["label"]),
        (&json!(1), &json!("api"), &json!("Key"))
    );
    let [host, plan] = [0, 1].map(|at| &methods[0]["prompts"][at]);
    assert_eq!(
        (&host["checked"], &host["conditional"], &host["placeholder"]),
        (&json!(true), &json!(false), &json!("acme.example"))
    );
    assert_eq!(plan["options"], json!([{ "label": "Free", "value": "free", "hint": "slow" }]));
    assert_eq!(loaded["models"], json!(["acme"]));
    let skipped: Vec<&str> =
        loaded["skipped"].as_array().unwrap().iter().filter_map(|one| one["why"].as_str()).collect();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped.iter().any(|why| why.contains("its method 3")), "{skipped:?}");
}

pub(crate) fn steps(order: &mut dyn FnMut(Value) -> Value) {
    let mut part = |hook: &str, mut with: Value| {
        with["provider"] = "acme".into();
        order(json!({ "do": "part", "hook": hook, "with": with }))
    };
    let mut auth = |with: Value| part("auth", with);
    let asks = |prompt: usize, inputs: Value| json!({ "act": "asks", "method": 0, "prompt": prompt, "inputs": inputs });
    assert_eq!(auth(asks(1, json!({ "host": "acme.example" })))["ok"], json!({ "asks": true }));
    assert_eq!(auth(asks(1, json!({ "host": "x" })))["ok"], json!({ "asks": false }));
    assert_eq!(auth(asks(2, json!({})))["ok"], json!({ "asks": false }));
    assert_eq!(auth(asks(2, json!({ "plan": "paid" })))["ok"], json!({ "asks": true }));
    let checks = |value: &str| json!({ "act": "checks", "method": 0, "prompt": 0, "value": value });
    assert_eq!(auth(checks("nodot"))["ok"], json!({ "objection": "no dot in it" }));
    assert_eq!(auth(checks("a.b"))["ok"], json!({ "objection": null }));
    assert_eq!(
        auth(json!({ "act": "authorize", "method": 1, "inputs": {} }))["ok"],
        json!({ "typed": true })
    );

    let begun = auth(json!({ "act": "authorize", "method": 0, "inputs": { "host": "a.b" } }))["ok"].clone();
    assert_eq!((&begun["url"], &begun["code"]), (&json!("https://a.b/login"), &json!(true)), "{begun}");
    let finish = json!({ "act": "callback", "ticket": begun["ticket"], "code": "7" });
    assert_eq!(auth(finish.clone())["ok"]["outcome"], json!({ "type": "success", "key": "a.b 7" }));
    let again = auth(finish)["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        again.contains("finished already") && again.contains("`auth`") && again.contains("p.ts"),
        "{again}"
    );

    let fetch = json!({ "act": "fetch", "url": "https://acme.example/v1/x", "method": "POST", "headers": [["x-a", "1"]], "body": "{\"word\":\"hi\"}" });
    assert_eq!(auth(fetch.clone())["ok"], json!({ "unloaded": true }));
    let loaded = auth(json!({ "act": "loader", "info": { "models": { "m": {} } } }))["ok"].clone();
    let wanted = json!({ "headers": [["x-models", "m"]], "carries": true, "apiKey": "k", "baseURL": "https://acme.example/v1" });
    assert_eq!(loaded, wanted);
    let carried = auth(fetch)["ok"].clone();
    assert_eq!(carried["status"], 201, "{carried}");
    assert!(carried["headers"].as_array().unwrap().contains(&json!(["x-b", "c"])), "{carried}");
    let read = json!({ "act": "read", "stream": carried["stream"] });
    // https://acme.example/v1/x POST 1 hi
    let data = json!({ "data": "aHR0cHM6Ly9hY21lLmV4YW1wbGUvdjEveCBQT1NUIDEgaGk=" });
    assert_eq!(
        [auth(read.clone())["ok"].clone(), auth(read.clone())["ok"].clone()],
        [data, json!({ "done": true })]
    );
    assert!(auth(read)["error"]["message"].as_str().unwrap().contains("this answer is gone"));
    assert_eq!(auth(json!({ "act": "drop", "stream": 99 }))["ok"], json!({}));
    let models = part("provider", json!({ "info": { "id": "acme" }, "auth": { "key": "q" } }));
    assert_eq!(models["ok"]["models"]["big"]["name"], "acme q");
}
