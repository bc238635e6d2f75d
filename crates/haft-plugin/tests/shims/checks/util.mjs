import assert, { deepStrictEqual, AssertionError } from "node:assert";
import strict from "node:assert/strict";
import util, { format, inspect, isDeepStrictEqual, parseArgs, promisify } from "node:util";
import types from "node:util/types";
import { rejects, same, throws } from "../lib.mjs";

const shows = (value, text, options) => [`inspect ${text.slice(0, 60).replaceAll("\n", "\\n")}`, () => same(inspect(value, options), text)];
const circle = { a: 1 };
circle.self = circle;
class Foo { constructor() { this.x = 1; } }
class Bar extends Foo { get [Symbol.toStringTag]() { return "tagged"; } }
const holes = [1, , 3]; // eslint-disable-line no-sparse-arrays
holes.name = "x";
const coded = new Error("boom");
coded.stack = "Error: boom\n    at somewhere";
coded.code = "E1";
const bare = new TypeError("bad");
bare.stack = "TypeError: bad";

export default [
  shows("a'b", `"a'b"`), shows("a'b\"c", "`a'b\"c`"), shows("x\n\t\u0001", "'x\\n\\t\\x01'"), shows(-0, "-0"), shows(5n, "5n"), shows(undefined, "undefined"), shows(Symbol("s"), "Symbol(s)"),
  shows([1, "two", null], "[ 1, 'two', null ]"), shows([], "[]"), shows({}, "{}"), shows({ a: 1, "b-c": [2] }, "{ a: 1, 'b-c': [ 2 ] }"), shows({ [Symbol("k")]: 1 }, "{ [Symbol(k)]: 1 }"),
  shows(holes, "[ 1, <1 empty item>, 3, name: 'x' ]"),
  shows({ a: { b: { c: { d: 1 } } } }, "{ a: { b: { c: [Object] } } }"), shows({ a: { b: { c: {} } } }, "{ a: { b: { c: {} } } }"),
  shows({ a: { b: { c: [1] } } }, "{ a: { b: { c: [Array] } } }"), shows({ a: { b: 1 } }, "{ a: [Object] }", { depth: 0 }),
  shows({ a: { b: { c: { d: { e: 1 } } } } }, "{\n  a: {\n    b: { c: { d: { e: 1 } } }\n  }\n}", { depth: null }),
  shows(circle, "<ref *1> { a: 1, self: [Circular *1] }"),
  shows(new Map([["a", { b: 1 }], [1, 2]]), "Map(2) { 'a' => { b: 1 }, 1 => 2 }"), shows(new Set([1, "x"]), "Set(2) { 1, 'x' }"), shows(new Map(), "Map(0) {}"),
  shows(new Foo(), "Foo { x: 1 }"), shows(new Bar(), "Bar [tagged] { x: 1 }"), shows(Object.create(null), "[Object: null prototype] {}"), shows(class A {}, "[class A]"), shows(Bar, "[class Bar extends Foo]"),
  shows(function named() {}, "[Function: named]"), shows(() => {}, "[Function (anonymous)]"), shows(async function go() {}, "[AsyncFunction: go]"), shows(Object.assign(function f() {}, { a: 1 }), "[Function: f] { a: 1 }"),
  shows(new Date(0), "1970-01-01T00:00:00.000Z"), shows(new Date(NaN), "Invalid Date"), shows(/a+/gi, "/a+/gi"), shows(new Uint8Array([1, 2]), "Uint8Array(2) [ 1, 2 ]"),
  shows(new ArrayBuffer(2), "ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 }"), shows(Buffer.from("hi"), "<Buffer 68 69>"), shows(Object(5), "[Number: 5]"), shows(Object("s"), "[String: 's']"),
  shows(new WeakMap(), "WeakMap { <items unknown> }"), shows({ get a() { return 1; }, set b(v) {}, get c() { return 1; }, set c(v) {} }, "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"),
  shows(coded, "Error: boom\n    at somewhere {\n  code: 'E1'\n}"), shows(bare, "[TypeError: bad]"), shows({ e: bare }, "{ e: [TypeError: bad] }"),
  shows({ [inspect.custom]: () => "custom!" }, "custom!"), shows([{ [inspect.custom]: () => ({ b: 1 }) }], "[ { b: 1 } ]"),
  shows(Array.from({ length: 120 }, () => 1).length, "120"), shows(Array(101).fill(0).map((_, i) => i), inspectOf101()),
  shows(["apple", "banana", "cherry", "dates", "elder", "figs", "grape"], "[\n  'apple',  'banana',\n  'cherry', 'dates',\n  'elder',  'figs',\n  'grape'\n]"),
  shows({ text: "a".repeat(40), more: "b".repeat(40) }, `{\n  text: '${"a".repeat(40)}',\n  more: '${"b".repeat(40)}'\n}`),
  shows(["line one is long enough\nline two is long enough\nline three is long enough too\n"], "[\n  'line one is long enough\\n' +\n    'line two is long enough\\n' +\n    'line three is long enough too\\n'\n]"),
  shows({ a: 1, b: 2 }, "{\n  a: 1,\n  b: 2\n}", { compact: false }), shows({ b: 1, a: 2 }, "{ a: 2, b: 1 }", { sorted: true }), shows(["x"], "[ \u001b[32m'x'\u001b[39m ]", { colors: true }),
  shows("a".repeat(20), "'aaaaa'... 15 more characters", { maxStringLength: 5 }), shows([1, 2, 3], "[ 1, 2, ... 1 more item ]", { maxArrayLength: 2 }),
  ["format %s %d %i %f %j %o %%", () => same(format("%s %d %i %f %j %% %s", "a", "5", "7.9", "1.5", { a: 1 }), "a 5 7 1.5 {\"a\":1} % %s")],
  ["format of the rest", () => same([format("a", 1, { b: 2 }), format(1, "x"), format("%s"), format("%O", [1])], ["a 1 { b: 2 }", "1 x", "%s", "[ 1 ]"])],
  ["format %s of objects", () => same([format("%s", { a: { b: 1 } }), format("%s", null), format("%s", -0), format("%s", 5n), format("%s", new Foo())], ["{ a: [Object] }", "null", "-0", "5n", "Foo { x: 1 }"])],
  ["format %d of other things", () => same(format("%d %d %d", "x", {}, 5n), "NaN NaN 5n")],
  ["promisify", async () => { const f = promisify((a, cb) => (a ? cb(null, a + 1) : cb(new Error("no")))); same(await f(1), 2); await rejects(f(0), { message: "no" }); }],
  ["promisify.custom", () => same(promisify(Object.assign(() => {}, { [promisify.custom]: () => 5 }))(), 5)],
  ["promisify(setTimeout)", async () => same(await promisify(setTimeout)(1, "v"), "v")],
  ["callbackify", async () => same(await new Promise((done) => util.callbackify(async (x) => x * 2)(4, (e, v) => done([e, v]))), [null, 8])],
  ["inherits", () => { function A() {} function B() {} util.inherits(B, A); same([new B() instanceof A, B.super_ === A], [true, true]); }],
  ["isDeepStrictEqual", () => same([
    isDeepStrictEqual({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }), isDeepStrictEqual([1], ["1"]), isDeepStrictEqual(new Set([{ a: 1 }]), new Set([{ a: 1 }])), isDeepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])),
    isDeepStrictEqual(NaN, NaN), isDeepStrictEqual(0, -0), isDeepStrictEqual(new Foo(), { x: 1 }), isDeepStrictEqual(new Date(1), new Date(1)), isDeepStrictEqual([1, 2], [1, 2, 3])],
  [true, false, true, false, true, false, false, true, false])],
  ["stripVTControlCharacters", () => same(util.stripVTControlCharacters("\u001b[31mred\u001b[39m \u001b]8;;http://x\u0007link\u001b]8;;\u0007"), "red link")],
  ["styleText", () => same(util.styleText("red", "x", { validateStream: false }), "\u001b[31mx\u001b[39m")],
  ["types", () => same([types.isDate(new Date()), types.isRegExp(/a/), types.isPromise(Promise.resolve()), types.isUint8Array(Buffer.alloc(1)), types.isNativeError(new TypeError()), types.isAsyncFunction(async () => {}), types.isMap({}), types.isBoxedPrimitive(Object(1))], [true, true, true, true, true, true, false, true])],
  ["parseArgs", () => same(parseArgs({ args: ["-v", "--name=x", "--list", "a", "--list", "b", "pos"], options: { verbose: { type: "boolean", short: "v" }, name: { type: "string" }, list: { type: "string", multiple: true }, d: { type: "string", default: "q" } }, allowPositionals: true }),
    { values: { verbose: true, name: "x", list: ["a", "b"], d: "q" }, positionals: ["pos"] })],
  ["parseArgs refuses the unknown", () => throws(() => parseArgs({ args: ["--x"] }), { code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" })],
  ["parseArgs wants a value", () => throws(() => parseArgs({ args: ["--x"], options: { x: { type: "string" } } }), { code: "ERR_PARSE_ARGS_INVALID_OPTION_VALUE" })],
  ["util.TextEncoder", () => same(new util.TextEncoder().encode("é"), Uint8Array.of(0xc3, 0xa9))],
  ["assert.ok", () => { assert(1); assert.ok(true); throws(() => assert(0, "zero"), { name: "AssertionError", code: "ERR_ASSERTION", message: "zero" }); }],
  ["assert equal forms", () => { assert.equal(1, "1"); assert.strictEqual(1, 1); throws(() => assert.strictEqual(1, "1"), { code: "ERR_ASSERTION", operator: "strictEqual" }); throws(() => strict.equal(1, "1")); }],
  ["assert deep forms", () => { deepStrictEqual({ a: [1] }, { a: [1] }); assert.deepEqual([1], ["1"]); throws(() => deepStrictEqual([1], ["1"]), { operator: "deepStrictEqual" }); assert.notDeepStrictEqual([1], [2]); }],
  ["assert.throws", () => {
    const boom = () => { throw new TypeError("boom"); };
    assert.throws(boom); assert.throws(boom, TypeError); assert.throws(boom, /boom/); assert.throws(boom, { message: "boom", name: "TypeError" }); assert.throws(boom, (e) => e instanceof TypeError);
    throws(() => assert.throws(() => {}), { message: /Missing expected exception/ }); throws(() => assert.throws(boom, /other/), { code: "ERR_ASSERTION" });
  }],
  ["assert.rejects", async () => { await assert.rejects(Promise.reject(new Error("x")), /x/); await rejects(assert.rejects(Promise.resolve()), { message: /Missing expected rejection/ }); }],
  ["assert.match and fail", () => { assert.match("abc", /b/); throws(() => assert.match("abc", /z/), { code: "ERR_ASSERTION" }); throws(() => assert.fail("why"), { message: "why" }); same(new AssertionError({ message: "m" }).code, "ERR_ASSERTION"); }],
];

function inspectOf101() {
  const rows = [];
  for (let i = 0; i < 96; i += 12) rows.push(Array.from({ length: 12 }, (_, k) => String(i + k).padStart(2)).join(", "));
  rows.push("96, 97, 98, 99");
  return `[\n   ${rows.join(",\n  ").trimStart()},\n  ... 1 more item\n]`;
}
