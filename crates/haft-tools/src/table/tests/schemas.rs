//! The schemas of the built-in tools, as models are told them: one file for each in `schemas/`.

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;

use crate::testing::Bench;

#[test]
fn schemas_are_what_models_know() {
    let tools = Bench::new().all_definitions();
    for tool in &tools {
        let schema = serde_json::to_string_pretty(&**tool.input.json()).unwrap() + "\n";
        expect_file![format!("schemas/{}.json", tool.name)].assert_eq(&schema);
    }

    let told: BTreeSet<String> = tools.iter().map(|tool| format!("{}.json", tool.name)).collect();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/table/tests/schemas");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(files, told, "one file for each tool");
}
