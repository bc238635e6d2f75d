//! What the documents tell people to type works as printed.

use std::path::Path;

use crate::support::Place;

/// Every `haft …` line of README's shell blocks, run one after the other in a project like the one it describes.
#[test]
fn the_commands_in_the_readme_work() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let place = Place::new();
    place.file("README.md", "# a project\n");
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.starts_with("haft ")).collect();
    assert!(lines.len() >= 6, "the README shows how to use haft");
    for line in lines {
        let command = line.split('#').next().unwrap().trim();
        let args: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = place.run(&args);
        let expected: &[i32] = if command.contains("explain read .env") { &[6] } else { &[0] };
        assert!(expected.contains(&ran.code), "{command}: left with {}: {} {}", ran.code, ran.out, ran.err);
    }
}
