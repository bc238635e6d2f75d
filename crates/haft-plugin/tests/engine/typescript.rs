//! What TypeScript has beyond types.

use serde_json::json;

use crate::driver::{Host, execute};

#[test]
fn what_has_a_meaning_at_run_time_keeps_it() {
    let text = r#"
import type { Anything } from "not-installed"
import { type Other } from "also-not-installed"
import { Used as OnlyAsType } from "nor-this"
enum Color { Red = "red", Blue = "blue" }
const enum Size { S = 1, M, L = M * 4 }
namespace Shapes { export const sides = (n: number) => n * 2; export namespace Deep { export const x = 1 } }
abstract class Base<T> { constructor(protected readonly value: T, public name?: string) {} abstract show(): string }
class Impl extends Base<number> { declare other: string; override show() { return `${this.value}${this.name}` } #secret = 1; static made: boolean; static { Impl.made = true } }
function over(a: string): string
function over(a: number): string
function over(a: unknown) { return `${a}` as const }
const ok = { a: 1 } satisfies Record<string, number>
let maybe: OnlyAsType | undefined
const sure = ok!.a as unknown as number
function assertIsString(x: unknown): asserts x is string {}
export type { Anything }
export default { description: "", execute: () => JSON.stringify([Color.Red, Size.L, Shapes.sides(3), Shapes.Deep.x, new Impl(4, "n").show(), over(5), sure, Impl.made, maybe ?? null, (<T,>(x: T) => x)(6)]) }
"#;
    let mut host = Host::tool(text);
    assert_eq!(host.output(json!({})), r#"["red",8,6,1,"4n","5",1,true,null,6]"#);
}

#[test]
fn decorators_are_refused_with_their_place() {
    let text = "const d = (t: any, c: any) => t\n\n@d\nclass A {}\nexport default { description: '', execute: () => '' }";
    let mut host = Host::with(&[("t.ts", text)]);
    let error = host.load("t.ts", "tool")["error"].clone();
    assert_eq!(error["kind"], "load", "{error}");
    assert!(error["message"].as_str().unwrap().contains("decorators"), "{error}");
    assert_eq!(error["line"], 3, "{error}");
}

#[test]
fn jsx_is_left_to_other_runtimes() {
    let mut host = Host::with(&[("t.tsx", &execute("return ''"))]);
    assert_eq!(host.load("t.tsx", "tool")["error"]["unsupported"], true);
}
