import EventEmitter, { EventEmitter as Named, on, once } from "node:events";
import { same, rejects, throws } from "../lib.mjs";

export default [
  ["default and named are one", () => same([EventEmitter === Named, EventEmitter.EventEmitter === Named], [true, true])],
  ["on, emit, order and arguments", () => { const e = new EventEmitter(); const seen = []; e.on("x", (...a) => seen.push(["1", ...a])); e.prependListener("x", () => seen.push(["0"])); same([e.emit("x", 1, 2), e.emit("y"), seen], [true, false, [["0"], ["1", 1, 2]]]); }],
  ["once and off", () => { const e = new EventEmitter(); let n = 0; const f = () => n++; e.once("x", f); e.emit("x"); e.emit("x"); e.on("x", f); e.off("x", f); e.emit("x"); same(n, 1); }],
  ["off of a once listener", () => { const e = new EventEmitter(); const f = () => {}; e.once("x", f); same([e.listeners("x")[0] === f, e.rawListeners("x")[0].listener === f], [true, true]); e.removeListener("x", f); same(e.listenerCount("x"), 0); }],
  ["this is the emitter", () => { const e = new EventEmitter(); let self; e.on("x", function () { self = this; }); e.emit("x"); same(self === e, true); }],
  ["an error without listener is thrown", () => { const e = new EventEmitter(); throws(() => e.emit("error", new TypeError("t")), { message: "t", name: "TypeError" }); throws(() => e.emit("error", "s"), { code: "ERR_UNHANDLED_ERROR", message: "Unhandled error. ('s')" }); }],
  ["listeners added while emitting wait", () => { const e = new EventEmitter(); let n = 0; e.on("x", () => e.on("x", () => n++)); e.emit("x"); same(n, 0); }],
  ["newListener and removeListener", () => { const e = new EventEmitter(); const seen = []; e.on("newListener", (name) => seen.push(`+${name}`)); e.on("removeListener", (name) => seen.push(`-${name}`)); const f = () => {}; e.on("x", f); e.off("x", f); same(seen, ["+removeListener", "+x", "-x"]); }],
  ["eventNames and removeAllListeners", () => { const e = new EventEmitter(); e.on("a", () => {}); e.on("b", () => {}); same(e.eventNames(), ["a", "b"]); e.removeAllListeners("a"); same(e.eventNames(), ["b"]); e.removeAllListeners(); same(e.eventNames(), []); }],
  ["a listener must be a function", () => throws(() => new EventEmitter().on("x", 5), { code: "ERR_INVALID_ARG_TYPE" })],
  ["old inheritance", () => { function Old() { EventEmitter.call(this); } Object.setPrototypeOf(Old.prototype, EventEmitter.prototype); const o = new Old(); let n = 0; o.on("x", () => n++); o.emit("x"); same(n, 1); }],
  ["subclass", () => { class S extends EventEmitter { go() { this.emit("go", 1); } } const s = new S(); let got; s.on("go", (v) => (got = v)); s.go(); same(got, 1); }],
  ["max listeners", () => same([new EventEmitter().getMaxListeners(), new EventEmitter().setMaxListeners(3).getMaxListeners()], [10, 3])],
  ["events.once", async () => { const e = new EventEmitter(); setTimeout(() => e.emit("x", 1, 2), 1); same(await once(e, "x"), [1, 2]); }],
  ["events.once rejects on error", async () => { const e = new EventEmitter(); setTimeout(() => e.emit("error", new Error("bad")), 1); await rejects(once(e, "x"), { message: "bad" }); }],
  ["events.once with a signal", async () => { const c = new AbortController(); const p = once(new EventEmitter(), "x", { signal: c.signal }); c.abort(); await rejects(p, { name: "AbortError", code: "ABORT_ERR" }); }],
  ["events.once of an EventTarget", async () => { const t = new EventTarget(); setTimeout(() => t.dispatchEvent(new Event("x")), 1); same((await once(t, "x"))[0].type, "x"); }],
  ["events.on", async () => { const e = new EventEmitter(); setTimeout(() => { e.emit("x", 1); e.emit("x", 2); }, 1); const seen = []; for await (const [v] of on(e, "x")) { seen.push(v); if (v === 2) break; } same([seen, e.listenerCount("x")], [[1, 2], 0]); }],
];
