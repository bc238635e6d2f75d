//! What is redacted, what is not, and that nothing known is left.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::of_secrets(secrets.iter().map(|secret| (*secret).to_owned()))
}

#[test]
fn what_looks_like_a_key_is_redacted() {
    let long = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let keys = [
        format!("sk-{long}"),
        format!("sk-ant-api03-{long}"),
        format!("sk-proj-{long}_x"),
        format!("ghp_{long}"),
        format!("github_pat_{long}"),
        format!("glpat-{long}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("xoxb-{long}"),
        format!("AIza{long}"),
        format!("sk_live_{long}"),
        format!("rk_test_{long}"),
        format!("whsec_{long}"),
        format!("npm_{long}"),
        format!("hf_{long}"),
        format!("gsk_{long}"),
        format!("SG.A1b2C3d4E5f6G7h8I9j0_-.{long}"),
        format!("dop_v1_{}", "0123456789abcdef".repeat(4)),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U".to_owned(),
        format!("Bearer {long}="),
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/IBAAK=\nabc\n-----END RSA PRIVATE KEY-----".to_owned(),
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,0A\n\nMIIE\n-----END EC PRIVATE KEY-----"
            .to_owned(),
        r"-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----".to_owned(),
    ];
    for key in keys {
        let text = format!("before '{key}' after");
        assert_eq!(Redactor::default().redact(&text), "before '[redacted]' after", "{key}");
    }
}

#[test]
fn ordinary_texts_stay_as_they_are() {
    for text in [
        "",
        "task-abcdefghijklmnopqrstuvwxyz",
        "sk-fading-circle-container-wide",
        "the bearer authentication-mechanism",
        "disk-1234567890123456789012345",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "eyJust a word",
        "AKIA",
        "disk_live_0123456789abcdef0123",
        "sk_live_key_of_the_shop",
        "npm_config_registry npm_0123456789",
        "npm_0123456789abcdefghijklmnopqrstuvwxyz0",
        "hf_hub_download self_0123456789abcdef0123456789abcdef",
        "SG.description SGX0123456789abcdef01.0123456789abcdef01",
        "dop_v1_readme",
        "ünïcödé ✓",
    ] {
        assert!(
            matches!(redactor(&["hunter22!"]).redact(text), Cow::Borrowed(same) if same == text),
            "{text}"
        );
    }
}

#[test]
fn what_one_clone_learns_all_of_them_know() {
    let redactor = redactor(&["hunter22!"]);
    let clone = redactor.clone();
    assert_eq!(clone.redact("hunter22! tok-renewed-1"), "[redacted] tok-renewed-1");
    redactor.learn(["tok-renewed-1", "short"]);
    redactor.learn(["tok-renewed-2"]);
    assert_eq!(
        clone.redact("hunter22! tok-renewed-1 tok-renewed-2 short"),
        "[redacted] [redacted] [redacted] short"
    );
}

#[test]
fn values_that_overlap_are_redacted_together() {
    let redactor = redactor(&["abcdefgh", "efghijkl"]);
    assert_eq!(redactor.redact("<abcdefghijkl>"), "<[redacted]>");
    assert_eq!(redactor.redact("<abcdefgh><efghijkl>"), "<[redacted]><[redacted]>");
}

#[test]
fn marks_do_not_make_up_a_secret() {
    let redactor = redactor(&["abcdefgh", "ted]12345", "x[redacted]"]);
    for text in ["abcdefgh12345", "xabcdefgh", "xabcdefgh12345"] {
        let clean = redactor.redact(text);
        assert!(!clean.contains("ted]12345") && !clean.contains("x[redacted]"), "{clean}");
    }
    // A value that is part of the mark can never go away, and is not worth hiding.
    assert_eq!(super::tests::redactor(&["redacted"]).redact("redacted"), "redacted");
}

#[test]
fn json_is_redacted_text_by_text() {
    let redactor = redactor(&["hunter22!"]);
    let value = json!({ "a": ["x hunter22!", 1, null], "hunter22!": { "b": true } });
    assert_eq!(
        redactor.redact_json(&value),
        json!({ "a": ["x [redacted]", 1, null], "[redacted]": { "b": true } })
    );
}

#[test]
fn a_secret_of_several_lines_is_known_line_by_line_and_escaped() {
    let value = "first-line-of-the-secret\nsecond\"line-of-the-secret";
    let redactor = Redactor::from_env([("MY_SECRET", value)]);
    for spelled in [value.to_owned(), json!(value).to_string(), "  12| second\"line-of-the-secret".to_owned()]
    {
        let clean = redactor.redact(&spelled).into_owned();
        assert!(!clean.contains("-of-the-secret"), "{clean}");
    }
}

#[test]
fn a_long_text_of_near_misses_is_searched_in_reasonable_time() {
    let near = "eyJ".repeat(1 << 20);
    assert_eq!(Redactor::default().redact(&near), near);
    let begins = "-----BEGIN RSA PRIVATE KEY-----".repeat(1 << 16);
    assert!(!Redactor::default().redact(&begins).contains("BEGIN"));
    let own = redactor(&[&"a".repeat(4096)]);
    assert!(!own.redact(&"a".repeat(1 << 20)).contains(&"a".repeat(4096)));
}

proptest! {
    #[test]
    fn after_redaction_no_known_secret_is_left(
        secrets in prop::collection::vec("[a-c\\[\\]de]{8,12}|[!-~]{8,20}", 1..4),
        pieces in prop::collection::vec((0usize..6, "[a-e\\[\\]]{0,4}|\\PC{0,6}"), 0..12),
    ) {
        let text: String =
            pieces.iter().map(|(at, between)| format!("{between}{}", secrets.get(*at).map_or("", |s| s))).collect();
        let redactor = Redactor::of_secrets(secrets.clone());
        let clean = redactor.redact(&text);
        for secret in secrets.iter().filter(|secret| !REDACTED.contains(secret.as_str())) {
            prop_assert!(!clean.contains(secret.as_str()), "{secret:?} in {clean:?}");
        }
    }
}

#[test]
fn a_password_in_an_address_is_a_secret() {
    let address = "postgres://app:s3cret-pass@db.example:5432/app?x=1";
    assert!(is_secret_variable("DATABASE_URL", address));
    for harmless in ["https://example.com/a@b:c", "https://app@db.example/x", "C:\\x@y", "a:b@c"] {
        assert!(!is_secret_variable("DATABASE_URL", harmless), "{harmless}");
    }
    assert!(!is_secret_variable("http_proxy", "http://me:long-password@proxy:3128"));
    let redactor =
        Redactor::from_env([("DATABASE_URL", address), ("HTTP_PROXY", "http://me:long-password@p:1")]);
    assert_eq!(redactor.redact("tried s3cret-pass and long-password"), "tried [redacted] and [redacted]");
}

#[test]
fn a_password_in_a_connection_string_is_a_secret() {
    for (value, secret) in [
        ("Server=db;User Id=me;Password=s3cret-pass;Encrypt=true", "s3cret-pass"),
        ("DRIVER={x};SERVER=db;UID=me;PWD='s3cret-pass'", "s3cret-pass"),
        ("jdbc:sqlserver://db:1433;user=me;password=s3cret-pass", "s3cret-pass"),
        ("DefaultEndpointsProtocol=https;AccountName=me;AccountKey=s3cretAndLong==", "s3cretAndLong=="),
        ("Endpoint=sb://x/;SharedAccessKeyName=me;SharedAccessKey=s3cretAndLong=", "s3cretAndLong="),
        ("AccountKey=s3cretAndLong==", "s3cretAndLong=="),
    ] {
        assert!(is_secret_variable("Database", value), "{value}");
        let redactor = Redactor::from_env([("Database", value)]);
        assert_eq!(
            redactor.redact(&format!("tried <{secret}> on db")),
            "tried <[redacted]> on db",
            "{value}"
        );
    }
    for harmless in
        ["pwd=/home/me", "Server=db;Trusted_Connection=yes", "a;b;Password=;c", "password reset;x"]
    {
        assert!(!is_secret_variable("Database", harmless), "{harmless}");
    }
    assert!(is_secret_variable("DB_CONNECTION_STRING", "host=db"));
}

#[test]
fn variables_are_secret_by_their_name_or_by_what_they_are() {
    let value = "0123456789";
    for name in [
        "MYSQL_PWD",
        "MY_PWD",
        "LDAP_BIND_PW",
        "JWT",
        "SESSION_COOKIE",
        "SLACK_WEBHOOK",
        "STRIPE_SK",
        "MYTOKENS",
    ] {
        assert!(is_secret_variable(name, value), "{name}");
    }
    for name in ["PWD", "OLDPWD", "SK", "PW", "EDITOR", "MAX_TOKENS"] {
        assert!(!is_secret_variable(name, value), "{name}");
    }
    assert!(is_secret_variable("X", "sk-ant-abcdefghijklmnopqrstuvwxyz"));
    assert!(is_secret_variable("Y", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"));
}

#[test]
fn a_long_value_that_repeats_itself_is_known_at_once() {
    let secret = "a".repeat(120_000);
    let redactor = Redactor::of_secrets([secret.clone(), "another-secret".to_owned()]);
    let text = format!("b{secret}b another-secret {}", "a".repeat(119_999));
    let clean = format!("b[redacted]b [redacted] {}", "a".repeat(119_999));
    // Not `assert_eq`: nobody wants to read that.
    assert!(redactor.redact(&text) == clean);
    assert!(!redactor.redact(&secret.repeat(3)).contains(&secret));
    redactor.learn([secret.as_str()]);
    assert!(redactor.redact(&text) == clean);
}

#[test]
fn passwords_of_addresses_and_credentials_of_headers_are_redacted_in_any_text() {
    for (text, clean) in [
        ("see https://me:hunter2@host/x", "see https://[redacted]@host/x"),
        ("postgres://app:hunter2@db:5432/app", "postgres://[redacted]@db:5432/app"),
        ("> Authorization: Basic bWU6eA==\n> Host: x", "> Authorization: [redacted]\n> Host: x"),
        ("https://host:8080/x me@example.com", "https://host:8080/x me@example.com"),
        ("  --password string   the password", "  --password string   the password"),
    ] {
        assert_eq!(Redactor::default().redact(text), clean);
    }
}

#[test]
fn what_is_given_to_options_is_redacted_where_commands_stand() {
    let input = json!({
        "command": "mysql -phunter2 db && curl -u me:hunter2 x",
        "description": "Uses --token to log in",
        "patterns": ["sshpass -p hunter2 ssh -p 22 host"],
        "more": { "cmd": "PGPASSWORD=hunter2 psql" },
        "content": "connect(host, password=settings.PASSWORD)",
    });
    assert_eq!(
        Redactor::default().redact_json(&input),
        json!({
            "command": "mysql -p[redacted] db && curl -u me:[redacted] x",
            "description": "Uses --token to log in",
            "patterns": ["sshpass -p [redacted] ssh -p 22 host"],
            "more": { "cmd": "PGPASSWORD=[redacted] psql" },
            "content": "connect(host, password=settings.PASSWORD)",
        })
    );
}
