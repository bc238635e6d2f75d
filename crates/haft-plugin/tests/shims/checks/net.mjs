import http from "node:http";
import https from "node:https";
import { rejects, same, throws } from "../lib.mjs";

const at = (path) => `${process.env.SHIMS_SERVER}${path}`;
const got = (options, ...rest) => new Promise((done, fail) => {
  const request = http.request(options, ...rest);
  request.on("error", fail);
  request.on("response", (response) => { let text = ""; response.setEncoding("utf8"); response.on("data", (c) => (text += c)); response.on("end", () => done({ response, text })); });
  request.end(options.body);
});

export default [
  ["fetch", async () => { const r = await fetch(at("/echo?a=1")); const { method, url } = await r.json(); same([r.ok, r.status, method, url, r.headers.get("X-Test"), r.url], [true, 200, "GET", "/echo?a=1", "yes", at("/echo?a=1")]); }],
  ["fetch with a body", async () => { const { method, body, headers } = await (await fetch(at("/echo"), { method: "POST", body: JSON.stringify({ a: 1 }), headers: { "content-type": "application/json", "x-own": "v" } })).json(); same([method, body, headers["content-type"], headers["x-own"]], ["POST", '{"a":1}', "application/json", "v"]); }],
  ["fetch sends forms", async () => { const { body, headers } = await (await fetch(at("/echo"), { method: "POST", body: new URLSearchParams({ a: "b c" }) })).json(); same([body, headers["content-type"]], ["a=b+c", "application/x-www-form-urlencoded;charset=UTF-8"]); const f = new FormData(); f.set("k", "v"); const sent = await (await fetch(at("/echo"), { method: "POST", body: f })).json(); same([/name="k"\r\n\r\nv\r\n/.test(sent.body), sent.headers["content-type"].startsWith("multipart/form-data; boundary=")], [true, true]); }],
  ["fetch of an error status", async () => { const r = await fetch(at("/wrong")); same([r.ok, r.status, await r.text()], [false, 404, "not here"]); }],
  ["fetch follows redirects", async () => { const r = await fetch(at("/redirect")); same([r.redirected, r.url], [true, at("/echo")]); same((await fetch(at("/redirect"), { redirect: "manual" })).status, 302); }],
  ["fetch without content", async () => { const r = await fetch(at("/none")); same([r.status, await r.text(), r.body], [204, "", null]); }],
  ["fetch of bytes", async () => same(new Uint8Array(await (await fetch(at("/bytes"))).arrayBuffer()), Uint8Array.of(0, 255, 128))],
  ["fetch keeps cookies apart", async () => same((await fetch(at("/cookies"))).headers.getSetCookie(), ["a=1", "b=2"])],
  ["fetch of a Request", async () => same((await (await fetch(new Request(at("/echo"), { method: "PUT", body: "x" }))).json()).method, "PUT")],
  ["fetch can be aborted", async () => { const c = new AbortController(); const p = fetch(at("/slow"), { signal: c.signal }); c.abort(); await rejects(p, { name: "AbortError" }); await rejects(fetch(at("/slow"), { signal: AbortSignal.timeout(20) }), { name: "TimeoutError" }); await rejects(fetch(at("/"), { signal: AbortSignal.abort(new Error("no")) }), { message: "no" }); }],
  ["fetch of a data URL", async () => { const r = await fetch("data:text/html;base64,aGk="); same([await r.text(), r.headers.get("content-type")], ["hi", "text/html"]); }],
  ["fetch that cannot connect", async () => rejects(fetch("http://127.0.0.1:1/"), { name: "TypeError", message: /fetch failed|bad port/ })],
  ["http.get", async () => { const text = await new Promise((done, fail) => http.get(at("/echo"), (res) => { let all = ""; res.on("data", (c) => (all += c)); res.on("end", () => done([res.statusCode, res.headers["x-test"], JSON.parse(all).method])); }).on("error", fail)); same(text, [200, "yes", "GET"]); }],
  ["http.request", async () => { const { hostname, port } = new URL(at("/")); const { response, text } = await got({ hostname, port, path: "/echo", method: "POST", headers: { "X-A": "1" }, body: "hello" }); const sent = JSON.parse(text); same([response.statusCode, sent.body, sent.method, sent.headers["x-a"]], [200, "hello", "POST", "1"]); }],
  ["http does not follow redirects", async () => same((await got(at("/redirect"))).response.statusCode, 302)],
  ["http errors", async () => { await rejects(got("http://127.0.0.1:1/")); same(http.STATUS_CODES[404], "Not Found"); same(typeof https.request, "function"); }],
];
