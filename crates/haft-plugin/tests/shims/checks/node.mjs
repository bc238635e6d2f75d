import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import crypto, { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import fs from "node:fs";
import module, { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { performance as perf } from "node:perf_hooks";
import querystring from "node:querystring";
import timers from "node:timers";
import { setTimeout as sleep, setImmediate as soon, setInterval as every } from "node:timers/promises";
import tty from "node:tty";
import url, { fileURLToPath, pathToFileURL } from "node:url";
import { rejects, same, throws, wait } from "../lib.mjs";

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "shims-cjs-"));
const put = (name, text) => fs.writeFileSync(path.join(dir, name), text);
put("a.cjs", "exports.b = require('./b.cjs'); exports.dir = __dirname; exports.file = __filename; exports.data = require('./d.json'); exports.self = module.exports === exports && this === exports;");
put("b.cjs", "module.exports = class B { static n = 1 }; module.exports.path = require('path').join('x', 'y');");
put("d.json", '{"k": [1]}');
put("c1.cjs", "exports.early = 1; exports.other = require('./c2.cjs').seen; exports.late = 2;");
put("c2.cjs", "const c1 = require('./c1.cjs'); exports.seen = { ...c1 };");
put("bad.cjs", "throw new Error('at load')");
const require = createRequire(path.join(dir, "main.mjs"));
const store = new AsyncLocalStorage();

export default [
  ["fileURLToPath and back", () => same([fileURLToPath("file:///a%20b/c"), pathToFileURL("/a b#?%").href, fileURLToPath(new URL("file:///x")), pathToFileURL("/d/").href], ["/a b/c", "file:///a%20b%23%3F%25", "/x", "file:///d/"])],
  ["fileURLToPath refuses", () => { throws(() => fileURLToPath("http://x/"), { code: "ERR_INVALID_URL_SCHEME" }); throws(() => fileURLToPath("file:///a%2fb"), { code: "ERR_INVALID_FILE_URL_PATH" }); throws(() => fileURLToPath(5), { code: "ERR_INVALID_ARG_TYPE" }); }],
  ["url.parse", () => { const u = url.parse("http://u:p@Host.com:80/p/a?q=1#h"); same([u.protocol, u.auth, u.host, u.port, u.hostname, u.pathname, u.search, u.query, u.hash, u.path, u.href], ["http:", "u:p", "host.com:80", "80", "host.com", "/p/a", "?q=1", "q=1", "#h", "/p/a?q=1", "http://u:p@host.com:80/p/a?q=1#h"]); }],
  ["url.parse of parts, with query", () => { const u = url.parse("/a?b=c", true); same([u.pathname, u.query.b, u.host, u.protocol], ["/a", "c", null, null]); same(url.parse("http://h").pathname, "/"); }],
  ["url.format and resolve", () => same([url.format({ protocol: "http", host: "h", pathname: "/a", query: { b: 1 } }), url.resolve("http://h/a/b", "../c"), url.resolve("/one/two", "three"), url.format(new URL("http://u@h/#x"), { auth: false, fragment: false })], ["http://h/a?b=1", "http://h/c", "/one/three", "http://h/"])],
  ["url classes are the globals", () => same([url.URL === URL, url.URLSearchParams === URLSearchParams], [true, true])],
  ["querystring", () => same([querystring.parse("a=1&b=x+y&a=2&c"), querystring.stringify({ a: [1, 2], b: "é ~", c: true, d: null }), querystring.escape("a b'"), querystring.unescape("%41%zz")], [{ a: ["1", "2"], b: "x y", c: "" }, "a=1&a=2&b=%C3%A9%20~&c=true&d=", "a%20b'", "A%zz"])],
  ["createHash", () => same([createHash("sha256").update("a").update(Buffer.from("b")).digest("hex"), createHash("md5").update("a").digest("base64"), createHash("sha1").update("é", "latin1").digest().length, createHash("SHA512").update("").digest("hex").slice(0, 8)], ["fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603", "DMF1ucDxtqgxw5niaXcmYQ==", 20, "cf83e135"])],
  ["a hash is digested once", () => { const h = createHash("sha1"); h.digest(); throws(() => h.update("x"), { code: "ERR_CRYPTO_HASH_FINALIZED" }); throws(() => createHash("nope")); throws(() => createHash("md5").update(5), { code: "ERR_INVALID_ARG_TYPE" }); }],
  ["hash copies", () => { const h = createHash("sha1").update("a"); const c = h.copy(); same(h.update("b").digest("hex") !== c.digest("hex"), true); }],
  ["createHmac", () => same(createHmac("sha256", "key").update("data").digest("hex"), "5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0")],
  ["pbkdf2", async () => same([crypto.pbkdf2Sync("p", "s", 3, 40, "sha256").toString("hex"), (await new Promise((done) => crypto.pbkdf2("p", "s", 1, 8, "sha1", (e, k) => done(k)))).length], ["3c174b26bc748c193e403d2d198cf1a278daad183cc2342a2aaef3af44d55be27acbe613ec7dce3a", 8])],
  ["random", async () => { same([randomBytes(8).length, /^[0-9a-f-]{36}$/.test(randomUUID()), Buffer.isBuffer(await new Promise((done) => randomBytes(2, (e, b) => done(b))))], [8, true, true]); for (let i = 0; i < 50; i++) { const n = randomInt(3, 6); if (n < 3 || n > 5) throw new Error(`${n}`); } throws(() => randomInt(5, 5), { code: "ERR_OUT_OF_RANGE" }); }],
  ["timingSafeEqual", () => { same([timingSafeEqual(Buffer.from("a"), Buffer.from("a")), timingSafeEqual(Buffer.from("a"), Buffer.from("b"))], [true, false]); throws(() => timingSafeEqual(Buffer.from("a"), Buffer.from("ab")), { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" }); }],
  ["crypto.webcrypto", async () => same([typeof crypto.webcrypto.getRandomValues, (await crypto.subtle.digest("SHA-1", new Uint8Array(0))).byteLength], ["function", 20])],
  ["timers/promises", async () => { same(await sleep(1, "v"), "v"); same(await soon("w"), "w"); const c = new AbortController(); const p = sleep(1000, null, { signal: c.signal }); c.abort(); await rejects(p, { name: "AbortError", code: "ABORT_ERR" }); let n = 0; for await (const v of every(1, "x")) if (++n === 3) break; same(n, 3); }],
  ["timers module", () => same([timers.setTimeout === setTimeout, timers.clearTimeout === clearTimeout], [true, true])],
  ["perf_hooks and tty", () => same([typeof perf.now(), tty.isatty(999)], ["number", false])],
  ["createRequire: files", () => { const a = require("./a.cjs"); same([a.b.n, a.b.path, a.dir, a.file, a.data, a.self, require("./a.cjs") === a], [1, "x/y", dir, path.join(dir, "a.cjs"), { k: [1] }, true, true]); }],
  ["createRequire: built-ins", () => same([require("node:fs") === fs, require("path").join("a", "b"), typeof require("events").EventEmitter, typeof require("events")], [true, "a/b", "function", "function"])],
  ["createRequire: cycles", () => same(require("./c1.cjs"), { early: 1, other: { early: 1 }, late: 2 })],
  ["createRequire: failures", () => { throws(() => require("./none.cjs"), { code: "MODULE_NOT_FOUND" }); throws(() => require("./bad.cjs"), { message: "at load" }); throws(() => createRequire("rel"), { code: "ERR_INVALID_ARG_VALUE" }); }],
  ["require.resolve", () => same([require.resolve("./b.cjs"), require.resolve("fs")], [path.join(dir, "b.cjs"), "fs"])],
  ["builtinModules", () => same([module.builtinModules.includes("fs"), module.isBuiltin("node:path"), module.isBuiltin("nope")], [true, true, false])],
  ["AsyncLocalStorage", () => { same(store.getStore(), undefined); same(store.run(1, () => [store.getStore(), store.run(2, () => store.getStore()), store.getStore(), store.exit(() => store.getStore())]), [1, 2, 1, undefined]); same(store.getStore(), undefined); }],
  ["AsyncLocalStorage across await", async () => { const seen = await store.run("s", async () => { await wait(1); const a = store.getStore(); await Promise.resolve(); return [a, store.getStore()]; }); same([seen, store.getStore()], [["s", "s"], undefined]); }],
  ["AsyncLocalStorage in parallel", async () => { const go = (n) => store.run(n, async () => { await wait(3 - n); await Promise.resolve(); return [n, store.getStore()]; }); same(await Promise.all([go(0), go(1), go(2)]), [[0, 0], [1, 1], [2, 2]]); }],
  ["AsyncLocalStorage in timers and then", async () => same(await store.run("t", () => new Promise((done) => setTimeout(() => Promise.resolve().then(() => done(store.getStore())), 1))), "t")],
  ["AsyncLocalStorage through a nested async function", async () => { const inner = async () => { await wait(1); return store.getStore(); }; same(await store.run("n", async () => { const a = await inner(); await Promise.all([wait(1)]); return [a, await inner(), store.getStore()]; }), ["n", "n", "n"]); }],
  ["AsyncLocalStorage does not leak", async () => { const outer = Promise.withResolvers?.() ?? (() => { const o = {}; o.promise = new Promise((resolve) => (o.resolve = resolve)); return o; })(); const other = outer.promise.then(() => store.getStore()); const awaited = (async () => { await outer.promise; return store.getStore(); })(); await store.run("x", async () => { await wait(1); Promise.resolve().then(() => outer.resolve()); await wait(2); }); same([await other, await awaited, store.getStore()], [undefined, undefined, undefined]); }],
  ["AsyncLocalStorage and failures", async () => { const seen = await store.run("f", async () => { try { await Promise.reject(new Error("x")); } catch { /* goes on */ } const a = store.getStore(); await Promise.all([wait(1), fs.promises.stat("/")]); for await (const _ of (async function* () { yield 1; await wait(1); yield 2; })()) store.getStore(); return [a, store.getStore()]; }); same(seen, ["f", "f"]); }],
  ["AsyncResource.bind and snapshot", () => { const f = store.run("b", () => AsyncResource.bind(() => store.getStore())); same(f(), "b"); const s = store.run("c", () => AsyncLocalStorage.snapshot()); same(s(() => store.getStore()), "c"); }],
  ["clean up", () => fs.rmSync(dir, { recursive: true })],
];
