use std::time::Instant;
fn main() {
    let r = haft_store::Redactor::default();
    let t = Instant::now();
    r.redact("x");
    eprintln!("compile {:?}", t.elapsed());
    for (n, s) in [
        ("eyj", "eyJ".repeat(1 << 16)),
        ("begin", "-----BEGIN RSA PRIVATE KEY-----".repeat(1 << 12)),
        ("begins2", "-----BEGIN RSA PRIVATE KEY-----X: ".repeat(1 << 12)),
        ("prose", "the quick brown fox jumps over lazy dogs\n".repeat(1 << 18)),
    ] {
        let t = Instant::now();
        r.redact(&s);
        eprintln!("{n} {} {:?}", s.len(), t.elapsed());
    }
    let big = "the quick brown fox jumps over lazy dogs\n".repeat(2_600_000);
    let two = haft_store::Redactor::of_secrets(["hunter22hunter".to_owned(), "quietly-quick".to_owned(), "foxglove-xxx".to_owned()]);
    let t = Instant::now(); two.redact(&big); eprintln!("100MB {:?}", t.elapsed());
    let big = "eyJhbGciOi sk-xx the quick brown fox jumps \n".repeat(2_400_000);
    let t = Instant::now(); two.redact(&big); eprintln!("100MB near {:?}", t.elapsed());
    let t = Instant::now(); let _ = haft_store::Redactor::of_secrets((0..20).map(|i| format!("hunter22hunter{i}"))); eprintln!("build 20 {:?}", t.elapsed());
    let own = haft_store::Redactor::of_secrets(["a".repeat(4096)]);
    let t = Instant::now();
    own.redact(&"a".repeat(1 << 16));
    eprintln!("own {:?}", t.elapsed());
}
#[allow(dead_code)] fn x() {}
