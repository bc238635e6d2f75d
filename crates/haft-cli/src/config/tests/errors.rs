//! What people are told: where, what stands there, what was expected.

mod programs;
mod references;
mod secrets;
mod syntax;
mod values;

use expect_test::Expect;

use super::World;

fn check(path: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&World::with(path, text).complaint());
}

fn haft(text: &str, expected: &Expect) {
    check("repo/haft.jsonc", text, expected);
}

fn opencode(text: &str, expected: &Expect) {
    check("repo/opencode.json", text, expected);
}
