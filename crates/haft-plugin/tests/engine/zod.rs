//! The corpus of zod in the engine itself: what holds in Node must hold where tools run.

use std::path::Path;

use serde_json::json;

use crate::driver::Host;

#[test]
fn our_zod_answers_in_the_engine_as_the_package_does() {
    let verify = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zod/verify.mjs");
    let tool = format!(
        "import * as z from 'zod'\nimport {{ verify }} from {verify:?}\n\
         export default {{ description: '', args: {{}}, execute: async () => (await verify(z)).join('\\n') || 'all is well' }}"
    );
    let mut host = Host::tool(&tool);
    assert_eq!(host.output(json!({})), "all is well");
}
