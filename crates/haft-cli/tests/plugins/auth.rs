//! Logging in through plugins.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::loaders::nosy;
use crate::project::{checked, trusted, until, untrusted};
use crate::provider::FakeProvider;
use crate::support::{Place, Ran};

/// Logs in with a code; its requests go through a `fetch` of its own, which renews what has expired.
pub(crate) const ACCOUNT: &str = r#"
export const Acme = async ({ client }) => ({
  auth: {
    provider: "acme",
    methods: [{
      type: "oauth",
      label: "Acme account",
      async authorize() {
        return {
          url: "https://acme.example/login?state=s1",
          instructions: "Log in and copy the code.",
          method: "code",
          async callback(code) {
            if (code !== "code-77") return { type: "failed" }
            const answer = await fetch("BASE/token", { method: "POST", body: JSON.stringify({ code }) })
            return { type: "success", ...(await answer.json()), expires: 0 }
          },
        }
      },
    }],
    async loader(getAuth, provider) {
      if ((await getAuth()).type !== "oauth" || typeof provider.models !== "object") return {}
      return {
        apiKey: "",
        baseURL: "BASE/v1",
        async fetch(url, init) {
          let auth = await getAuth()
          if (auth.expires < Date.now()) {
            const body = JSON.stringify({ refresh: auth.refresh })
            const renewed = await (await fetch("BASE/token", { method: "POST", body })).json()
            await client.auth.set({ path: { id: "acme" }, body: { type: "oauth", ...renewed, expires: Date.now() + 3600000 } })
            auth = await getAuth()
          }
          const headers = new Headers(init.headers)
          headers.set("authorization", `Bearer ${auth.access}`)
          headers.set("x-acme", "carried")
          return fetch(url, { ...init, headers })
        },
      }
    },
  },
})
"#;

/// Logs in with a key that is made of answers.
pub(crate) const KEYED: &str = r#"
export const Keyed = async () => ({
  auth: {
    provider: "keyed",
    methods: [
      {
        type: "api",
        label: "Region key",
        prompts: [
          { type: "select", key: "region", message: "Which region", options: [{ label: "Europe", value: "eu" }, { label: "Elsewhere", value: "xx", hint: "slow" }] },
          { type: "text", key: "tenant", message: "Which tenant", placeholder: "blue", condition: (inputs) => inputs.region === "eu",
            validate: (value) => (value.length < 3 ? "three letters at least" : undefined) },
          { type: "text", key: "word", message: "Which word", when: { key: "region", op: "eq", value: "xx" } },
        ],
        async authorize(inputs) {
          if (inputs.tenant === "nobody") return { type: "failed" }
          return { type: "success", key: `key-${inputs.region}-${inputs.tenant ?? inputs.word}-secret` }
        },
      },
      { type: "api", label: "Plain" },
    ],
    async loader(getAuth) {
      const { key, metadata } = await getAuth()
      return { apiKey: key, baseURL: "BASE/v1", headers: { "x-region": metadata?.region ?? "none" } }
    },
  },
})
"#;

pub(crate) fn config(place: &Place, server: &FakeProvider, rest: &Value) {
    place.global_config(&server.configuration(rest));
}

pub(crate) fn place_with(server: &FakeProvider, files: &[(&str, &str)]) -> Place {
    let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (*path, server.placed(text))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let place = trusted(&files);
    config(&place, server, &json!({}));
    place
}

pub(crate) fn login(place: &Place, args: &[&str], stdin: &str) -> Ran {
    let ran = place.run_with(&[&["auth", "login"], args].concat(), stdin.as_bytes());
    assert!(!ran.err.contains("-secret") && !ran.out.contains("-secret"), "{} {}", ran.out, ran.err);
    ran
}

pub(crate) fn logged_in(place: &Place, args: &[&str], stdin: &str) {
    let ran = login(place, args, stdin);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
}

pub(crate) fn stored(place: &Place) -> Value {
    let text = std::fs::read_to_string(place.store().join("auth.json")).unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

/// Whether a text stands in anything that haft keeps, but for the file of keys.
fn is_kept(directory: &std::path::Path, text: &str) -> bool {
    std::fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => is_kept(&path, text),
            false if path.ends_with("auth.json") => false,
            false => std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes())),
        }
    })
}

#[test]
fn a_code_brings_tokens_that_the_plugin_alone_is_given_and_renews() {
    let server = FakeProvider::saying("your token is tok-access-2-secret");
    let place = place_with(&server, &[(".opencode/plugin/acme.ts", ACCOUNT)]);
    let file = place.ws().join(".opencode/plugin/acme.ts");
    let ran = login(&place, &["acme"], "Acme account\nwrong\n");
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = login(&place, &["acme", "--method", "1"], "code-77\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("https://acme.example/login?state=s1") && ran.err.contains("copy the code"),
        "{}",
        ran.err
    );
    let entry = stored(&place)["acme"].clone();
    assert_eq!(entry["type"], "plugin");
    assert_eq!(entry["file"], file.to_str().unwrap());
    assert_eq!(entry["auth"]["access"], "tok-access-1-secret");
    let mode = std::fs::metadata(place.store().join("auth.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = place.run(&["auth", "list"]);
    assert_eq!(listed.out, format!("acme            plugin {}\n", file.display()));

    let ran = place.run(&["run", "-m", "acme/big", "hello"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("your token is"), "{}", ran.out);
    let asked = &server.asked("/v1/chat/completions")[0];
    assert_eq!(asked.header("authorization"), Some("Bearer tok-access-2-secret"));
    assert_eq!((asked.header("x-acme"), &asked.body["model"]), (Some("carried"), &json!("big")));
    assert_eq!(server.asked("/token")[1].body["refresh"], "tok-refresh-1-secret");
    assert_eq!(stored(&place)["acme"]["auth"]["access"], "tok-access-2-secret");
    assert!(!is_kept(&place.home(), "tok-access-2-secret"), "what became known meanwhile is a secret, too");

    assert_eq!(place.run(&["run", "-m", "acme/big", "again"]).code, 0);
    assert_eq!(server.asked("/token").len(), 2, "what is still good is not renewed");
    assert!(place.run(&["models", "acme"]).out.contains("acme/served"));

    assert_eq!(place.run(&["auth", "logout", "acme"]).code, 0);
    assert_eq!(stored(&place), json!({}));
    let ran = place.run(&["run", "-m", "acme/big", "hello"]);
    assert!(ran.code == 2 && ran.err.contains("no provider"), "{}", ran.err);
}

#[test]
fn answers_make_a_key_and_a_loader_says_what_requests_need() {
    let server = FakeProvider::saying("hello");
    let place = place_with(&server, &[(".opencode/plugin/keyed.js", KEYED)]);
    logged_in(&place, &["keyed"], "region KEY\nEurope\nblue\n");
    let auth = stored(&place)["keyed"]["auth"].clone();
    assert_eq!(
        auth,
        json!({ "type": "api", "key": "key-eu-blue-secret", "metadata": { "region": "eu", "tenant": "blue" } })
    );
    let ran = place.run(&["run", "-m", "keyed/big", "hello"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "hello"), "{}", ran.err);
    let asked = &server.asked("/v1/chat/completions")[0];
    assert_eq!(asked.header("authorization"), Some("Bearer key-eu-blue-secret"));
    assert_eq!(asked.header("x-region"), Some("eu"));
    assert!(!is_kept(&place.home(), "key-eu-blue-secret"));

    logged_in(&place, &["keyed", "--method", "1"], "2\nother\n");
    assert_eq!(stored(&place)["keyed"]["auth"]["key"], "key-xx-other-secret");
    logged_in(&place, &["keyed", "--method", "plain"], "typed-in-secret\n");
    assert_eq!(stored(&place)["keyed"]["auth"], json!({ "type": "api", "key": "typed-in-secret" }));
    for (stdin, told) in [
        ("Region key\nMars\n", "Europe, Elsewhere"),
        ("Region key\neu\nno\n", "three letters at least"),
        ("Region key\neu\n", "the input ended"),
        ("sk-no-method-secret\n", "--method: 1 Region key"),
        ("", "--method"),
    ] {
        let ran = login(&place, &["keyed"], stdin);
        assert!(ran.code == 2 && ran.err.contains(told), "{stdin}: {}", ran.err);
    }
    let ran = login(&place, &["keyed", "--method", "1"], "eu\nnobody\n");
    assert!(
        ran.code == 3 && ran.err.contains("keyed.js") && ran.err.contains("nothing was stored"),
        "{}",
        ran.err
    );
    assert_eq!(stored(&place)["keyed"]["auth"]["key"], "typed-in-secret");

    logged_in(&place, &["keyed", "--method", "key"], "sk-my-own-secret\n");
    assert_eq!(stored(&place)["keyed"], json!({ "type": "api", "key": "sk-my-own-secret" }));
    let ran = login(&place, &["keyed", "--method", "1"], "eu\nblue\n");
    assert!(ran.code == 2 && ran.err.contains("key of your own (stored)"), "{}", ran.err);
}

#[test]
fn a_login_that_finishes_by_itself_is_waited_for_and_can_be_ended() {
    let server = FakeProvider::saying("hello");
    let plugin = r#"
export default { id: "auto", server: async () => ({ auth: { provider: "auto", methods: [
  { type: "oauth", label: "Device", async authorize() {
    let asked = 0
    return { url: "https://auto.example/device", instructions: "Enter ABCD", method: "auto", async callback() {
      for (;;) {
        await new Promise((done) => setTimeout(done, 5))
        const answer = await (await fetch("BASE/token", { method: "POST" })).json()
        if (++asked === 3) return { type: "success", key: answer.access }
      }
    } }
  } },
  { type: "oauth", label: "Never", authorize: async () => ({ url: "https://auto.example/", instructions: "", method: "auto", callback: () => new Promise(() => {}) }) },
] } }) }
"#;
    let place = place_with(&server, &[(".opencode/plugin/auto.js", plugin)]);
    logged_in(&place, &["auto", "--method", "Device"], "");
    assert_eq!(stored(&place)["auto"]["auth"], json!({ "type": "api", "key": "tok-access-3-secret" }));
    assert_eq!(place.run(&["auth", "logout", "auto"]).code, 0);

    let told = place.root().join("told.txt");
    let mut haft = place.command(&["auth", "login", "auto", "--method", "Never"]);
    let mut child = haft.stdout(Stdio::null()).stderr(std::fs::File::create(&told).unwrap()).spawn().unwrap();
    until("it waits", || std::fs::read_to_string(&told).unwrap().contains("waiting"));
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(stored(&place), json!({}));
}

#[test]
fn a_plugin_may_store_what_it_brought_in_itself_while_somebody_logs_in() {
    let server = FakeProvider::saying("hello");
    let plugin = r#"
export const P = async ({ client }) => {
  const set = (id) => client.auth.set({ path: { id }, body: { type: "oauth", access: "self-stored-secret" } })
  return { auth: { provider: "selfmade", methods: [{ type: "oauth", label: "it", async authorize(inputs) {
    return { url: "", instructions: "", method: "auto", async callback() {
      await set("selfmade")
      try { await set("xai") } catch (error) { return { type: "success", access: "returned-secret", provider: "xai" } }
      return { type: "failed" }
    } }
  } }] } }
}
"#;
    let place = place_with(&server, &[(".opencode/plugin/p.js", plugin)]);
    let keys = place.run_with(&["auth", "login", "xai"], b"my-xai-key-secret");
    assert_eq!(keys.code, 0, "{}", keys.err);
    let ran = login(&place, &["selfmade", "--method", "it"], "");
    assert!(ran.code == 2 && ran.err.contains("xai has a key of your own"), "{}", ran.err);
    assert_eq!(stored(&place)["selfmade"]["auth"]["access"], "self-stored-secret");
    assert_eq!(stored(&place)["xai"], json!({ "type": "api", "key": "my-xai-key-secret" }));
}

#[test]
fn what_is_offered_is_told_without_running_it_and_never_for_an_untrusted_project() {
    let server = FakeProvider::saying("hello");
    let place = place_with(
        &server,
        &[(".opencode/plugin/keyed.js", KEYED), (".opencode/plugin/nosy.js", &nosy("more"))],
    );
    let told = place.run(&["tools", "check"]);
    assert!(told.out.contains("auth for keyed (2 methods)"), "{}", told.out);
    assert!(told.out.contains("auth for more (0 methods), models for more"), "{}", told.out);
    assert!(!told.out.contains("never called"), "{}", told.out);
    let file = checked(&place, "keyed.js");
    assert_eq!(file["auth"], json!([{ "provider": "keyed", "methods": ["Region key", "Plain"] }]));
    assert_eq!(file["uncalled"], json!([]));
    let noted = place.read("noted.txt");
    assert!(login(&place, &["keyd"], "").err.contains("did you mean keyed?"));
    assert_eq!(place.read("noted.txt"), noted, "what is known is not run to find it out");

    let place = untrusted(&[(".opencode/plugin/keyed.js", KEYED)]);
    let ran = login(&place, &["keyed", "--method", "1"], "eu\nblue\n");
    assert!(ran.code == 2 && ran.err.contains("there is no provider"), "{}", ran.err);
}
