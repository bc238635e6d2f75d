import stream, { Duplex, PassThrough, Readable, Transform, Writable, finished, pipeline } from "node:stream";
import { pipeline as pipelineAsync, finished as finishedAsync } from "node:stream/promises";
import { text, json, buffer } from "node:stream/consumers";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { rejects, same, wait } from "../lib.mjs";

const sink = (out, options = {}) => new Writable({ ...options, write(chunk, _, done) { out.push(options.objectMode ? chunk : chunk.toString()); done(); } });
const gather = async (s) => { const out = []; for await (const c of s) out.push(c); return out; };
const events = (s, ...names) => { const seen = []; for (const name of names) s.on(name, () => seen.push(name)); return seen; };
const upper = () => new Transform({ transform(c, _, done) { done(null, c.toString().toUpperCase()); } });

export default [
  ["Readable.from and iteration", async () => same(await gather(Readable.from(["a", "b"])), ["a", "b"])],
  ["Readable.from async", async () => same(await gather(Readable.from((async function* () { yield 1; await wait(1); yield 2; })())), [1, 2])],
  ["Readable.from a string is one chunk", async () => same(await gather(Readable.from("abc")), ["abc"])],
  ["push and data events", async () => { const r = new Readable({ read() {} }); const out = []; r.on("data", (c) => out.push(c.toString())); r.push("a"); r.push("b"); r.push(null); await finishedAsync(r); same(out, ["a", "b"]); }],
  ["read() is asked for more", async () => { let n = 0; const r = new Readable({ read() { this.push(n < 3 ? String(n++) : null); } }); same((await gather(r)).join(""), "012"); }],
  ["setEncoding joins characters", async () => { const r = new Readable({ read() {} }); r.setEncoding("utf8"); r.push(Buffer.from([0xe2, 0x82])); r.push(Buffer.from([0xac])); r.push(null); same((await gather(r)).join(""), "€"); }],
  ["object mode", async () => same(await gather(new Readable({ objectMode: true, read() { this.push({ a: 1 }); this.push(null); } })), [{ a: 1 }])],
  ["end before close", async () => { const r = Readable.from(["x"]); const seen = events(r, "close", "end"); r.resume(); await wait(5); same([seen, r.destroyed, r.readableEnded], [["end", "close"], true, true]); }],
  ["pause and resume", async () => { const r = Readable.from(["a", "b", "c"]); const out = []; r.on("data", (c) => { out.push(c); r.pause(); setTimeout(() => r.resume(), 1); }); await finishedAsync(r); same(out, ["a", "b", "c"]); }],
  ["readable event and read(n)", async () => { const r = new Readable({ read() {} }); r.push("abcdef"); r.push(null); const out = []; await new Promise((done) => { r.on("readable", () => { let c; while ((c = r.read(4)) !== null) out.push(c.toString()); }); r.on("end", done); }); same(out, ["abcd", "ef"]); }],
  ["destroy with an error", async () => { const r = new Readable({ read() {} }); const seen = events(r, "error", "close"); r.destroy(new Error("x")); await wait(2); same([seen, r.destroyed, r.errored.message], [["error", "close"], true, "x"]); }],
  ["iteration rejects on error", async () => rejects(gather(new Readable({ read() { this.destroy(new Error("bad")); } })), { message: "bad" })],
  ["leaving the loop destroys", async () => { const r = Readable.from([1, 2, 3]); for await (const _ of r) break; await wait(1); same(r.destroyed, true); }],
  ["toArray, map, filter", async () => same([await Readable.from([1, 2, 3]).toArray(), await Readable.from([1, 2]).map((x) => x * 2).toArray(), await Readable.from([1, 2]).filter((x) => x > 1).toArray()], [[1, 2, 3], [2, 4], [2]])],
  ["Writable order and finish", async () => { const out = []; const w = sink(out); const seen = events(w, "finish", "close"); w.write("a"); w.end("b"); await wait(3); same([out, seen, w.writableFinished], [["a", "b"], ["finish", "close"], true]); }],
  ["write callbacks", async () => { const w = sink([]); const error = await new Promise((done) => w.write("x", done)); same(error ?? null, null); }],
  ["back-pressure and drain", async () => { const w = new Writable({ highWaterMark: 2, write(c, _, done) { setTimeout(done, 1); } }); same([w.write("a"), w.write("bc")], [true, false]); await new Promise((done) => w.once("drain", done)); same(w.writableLength, 0); }],
  ["write after end", async () => { const w = sink([]); w.end(); const e = await new Promise((done) => { w.on("error", done); w.write("x"); }); same(e.code, "ERR_STREAM_WRITE_AFTER_END"); }],
  ["errors of write", async () => { const w = new Writable({ write(c, _, done) { done(new Error("disk")); } }); const e = await new Promise((done) => { w.on("error", done); w.write("x"); }); same([e.message, w.destroyed], ["disk", true]); }],
  ["final", async () => { const out = []; const w = new Writable({ write(c, _, d) { d(); }, final(d) { out.push("final"); d(); } }); w.end(); await finishedAsync(w); same(out, ["final"]); }],
  ["writev and cork", async () => { const out = []; const w = new Writable({ writev(list, d) { out.push(list.map((x) => x.chunk.toString())); d(); }, write(c, _, d) { out.push(c.toString()); d(); } }); w.cork(); w.write("a"); w.write("b"); w.uncork(); await wait(1); same(out, [["a", "b"]]); }],
  ["Transform", async () => { const t = upper(); t.write("a"); t.end("b"); same((await gather(t)).join(""), "AB"); }],
  ["Transform flush", async () => { const t = new Transform({ transform(c, _, d) { d(); }, flush(d) { this.push("end"); d(); } }); t.end("x"); same((await gather(t)).join(""), "end"); }],
  ["pipe chain", async () => { const out = []; await new Promise((done) => Readable.from(["a", "b"]).pipe(upper()).pipe(sink(out)).on("finish", done)); same(out, ["A", "B"]); }],
  ["much data through a pipe", async () => { let n = 0; const total = await new Promise((done) => { let sum = 0; new Readable({ read() { this.push(n++ < 200 ? Buffer.alloc(5000) : null); } }).pipe(new PassThrough()).pipe(new Writable({ write(c, _, d) { sum += c.length; setImmediate(d); } })).on("finish", () => done(sum)); }); same(total, 1_000_000); }],
  ["PassThrough and unpipe", async () => { const p = new PassThrough(); const out = []; const w = sink(out); p.pipe(w); p.write("a"); await wait(1); p.unpipe(w); p.write("b"); await wait(1); same(out, ["a"]); }],
  ["Duplex", async () => { const out = []; const d = new Duplex({ read() { this.push("r"); this.push(null); }, write(c, _, done) { out.push(c.toString()); done(); } }); d.end("w"); same([(await gather(d)).join(""), out, d instanceof Writable, d instanceof Readable], ["r", ["w"], true, true]); }],
  ["pipeline with a callback", async () => { const out = []; const e = await new Promise((done) => pipeline(Readable.from(["a"]), upper(), sink(out), done)); same([e ?? null, out], [null, ["A"]]); }],
  ["pipeline promise, generators", async () => { const out = []; await pipelineAsync(Readable.from(["a", "b"]), async function* (source) { for await (const c of source) yield `${c}!`; }, sink(out)); same(out, ["a!", "b!"]); }],
  ["pipeline ends with a function", async () => same(await pipelineAsync(Readable.from(["a", "b"]), async (source) => (await gather(source)).join("+")), "a+b")],
  ["pipeline destroys all on error", async () => { const r = new Readable({ read() {} }); const w = sink([]); const p = pipelineAsync(r, w); r.destroy(new Error("mid")); await rejects(p, { message: "mid" }); same(w.destroyed, true); }],
  ["pipeline error in the middle", async () => { const t = new Transform({ transform(c, _, d) { d(new Error("t")); } }); await rejects(pipelineAsync(Readable.from(["a"]), t, sink([])), { message: "t" }); }],
  ["promisify(pipeline)", async () => { const out = []; await promisify(pipeline)(Readable.from(["z"]), sink(out)); same(out, ["z"]); }],
  ["finished", async () => { const r = Readable.from(["a"]); r.resume(); same((await new Promise((done) => finished(r, done))) ?? null, null); const w = sink([]); w.destroy(); await rejects(finishedAsync(w), { code: "ERR_STREAM_PREMATURE_CLOSE" }); }],
  ["signal", async () => { const c = new AbortController(); const r = new Readable({ read() {}, signal: c.signal }); c.abort(); await rejects(gather(r), { name: "AbortError" }); }],
  ["subclass with _read and _write", async () => { class R extends Readable { _read() { this.push("q"); this.push(null); } } class W extends Writable { got = ""; _write(c, _, d) { this.got += c; d(); } } const w = new W(); await pipelineAsync(new R(), w); same(w.got, "q"); }],
  ["web streams both ways", async () => { same(await gather(Readable.fromWeb(new ReadableStream({ start(c) { c.enqueue("a"); c.close(); } }), { objectMode: true })), ["a"]); same(await gather(Readable.toWeb(Readable.from(["x"]))), ["x"]); }],
  ["consumers", async () => same([await text(Readable.from(["a", "b"])), await json(Readable.from(['{"a":1}'])), (await buffer(Readable.from([Buffer.from("q")]))).toString()], ["ab", { a: 1 }, "q"])],
  ["the module itself", () => same([stream.Readable === Readable, typeof stream.promises.pipeline, new PassThrough() instanceof stream], [true, "function", true])],
  ["readline over a stream", async () => { const lines = []; for await (const line of createInterface({ input: Readable.from(["a\nb", "c\r\n", "d"]), crlfDelay: Infinity })) lines.push(line); same(lines, ["a", "bc", "d"]); }],
  ["readline events", async () => { const lines = []; const rl = createInterface({ input: Readable.from(["x\ny\n"]) }); rl.on("line", (l) => lines.push(l)); await new Promise((done) => rl.on("close", done)); same(lines, ["x", "y"]); }],
];
