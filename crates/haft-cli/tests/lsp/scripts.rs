//! The servers pyright and typescript-language-server: other languages, other habits.

use crate::bench::{Bench, is_missing, places};

#[test]
fn pyright_answers_and_says_what_an_edit_broke() {
    if is_missing("pyright-langserver") {
        return;
    }
    let bench = Bench::new();
    bench.file("shapes.py", "def area(side: int) -> int:\n    return side * side\n");
    bench.file("main.py", "from shapes import area\n\ndef total() -> int:\n    return area(2) + area(3)\n\nold: int = \"old\"\n");
    let place = |file: &str, line: u64| (file.to_owned(), line);
    assert_eq!(places(&bench.ask("goToDefinition", "main.py", "area(2)")), [place("shapes.py", 1)]);
    let outgoing = bench.ask("outgoingCalls", "main.py", "total");
    assert!(outgoing.iter().any(|call| call["to"]["name"] == "area"), "{outgoing:?}");
    let incoming = bench.ask("incomingCalls", "shapes.py", "area");
    assert!(incoming.iter().any(|call| call["from"]["name"] == "total"), "{incoming:?}");
    let used = places(&bench.ask("findReferences", "shapes.py", "area"));
    assert!(used.contains(&place("main.py", 4)) && used.contains(&place("shapes.py", 1)), "{used:?}");

    let told = bench.edit("main.py", "area(3)", "area(\"3\")");
    assert!(told.contains("ERROR [4:27] Argument of type") && !told.contains("\"old\""), "{told}");
    assert_eq!(bench.edit("main.py", "area(\"3\")", "area(4)"), "Edit applied successfully.");
}

#[test]
fn typescript_answers_and_says_what_an_edit_broke() {
    if is_missing("typescript-language-server") {
        return;
    }
    let bench = Bench::new();
    bench.file("tsconfig.json", "{ \"compilerOptions\": { \"strict\": true } }");
    bench.file(
        "shape.ts",
        "export interface Shape { area(): number }\nexport class Square implements Shape {\n  area() { return 4; }\n}\n",
    );
    bench.file("main.ts", "import { Shape } from \"./shape\";\nexport const twice = (s: Shape) => 2 * s.area();\nexport const old: number = \"old\";\n");
    let place = |file: &str, line: u64| (file.to_owned(), line);
    assert_eq!(places(&bench.ask("goToDefinition", "main.ts", "Shape }")), [place("shape.ts", 1)]);
    assert_eq!(places(&bench.ask("goToImplementation", "shape.ts", "area")), [place("shape.ts", 3)]);
    let hover = bench.ask("hover", "main.ts", "twice")[0]["contents"].to_string();
    assert!(hover.contains("const twice: (s: Shape) => number"), "{hover}");

    let told = bench.edit("main.ts", "2 * s", "\"2\".nope * s");
    assert!(told.contains("ERROR [2:40] Property 'nope' does not exist"), "{told}");
    assert!(!told.contains("is not assignable"), "{told}");
    assert_eq!(bench.edit("main.ts", "\"2\".nope", "3"), "Edit applied successfully.");
    // Nothing is wrong before nor after, and a server that then says nothing is not waited for to the end.
    assert_eq!(bench.edit("main.ts", "\"old\"", "1"), "Edit applied successfully.");
    assert_eq!(bench.edit("main.ts", "= 1", "= 2"), "Edit applied successfully.");
}
