// fetch: haft does the request, under its own rules for the network. The forms around it are the runtime's
// own.
import { request as ask } from "./ops.mjs";

const BODYLESS = [101, 204, 205, 304];
const own = globalThis.fetch;

export function redirectFetch() {
  globalThis.fetch = async function fetch(input, init) {
    const wanted = new Request(input, init);
    // These need no network.
    if (/^(data|blob|file):/.test(wanted.url)) return own(wanted);
    if (wanted.signal.aborted) throw wanted.signal.reason;
    const { method, url, headers, redirect, signal } = wanted;
    const payload = wanted.body === null ? null : await wanted.blob();
    // Bun knows the type of a body only with the body.
    if (payload?.type && !headers.has("content-type")) headers.set("content-type", payload.type);
    const sent = payload && Buffer.from(await payload.arrayBuffer()).toString("base64");
    const asked = ask("fetch", { method, url, headers: [...headers], body: sent, redirect });
    const answer = await withSignal(asked, signal).catch((cause) => {
      if (signal.aborted) throw signal.reason;
      throw new TypeError(`fetch failed: ${cause?.message ?? cause}`, { cause });
    });
    const isBodyless = BODYLESS.includes(answer.status) || method === "HEAD";
    const whole = () => Buffer.from(answer.body ?? "", "base64");
    const body = isBodyless ? null : answer.stream === undefined ? whole() : arriving(answer.stream);
    const { status, statusText = "", redirected = false } = answer;
    const response = new Response(body, { status, statusText, headers: answer.headers });
    const facts = { url: answer.url ?? url, redirected, type: "basic" };
    for (const name of Object.keys(facts)) Object.defineProperty(response, name, { value: facts[name] });
    return response;
  };
}

// What is still arriving is asked for piece by piece, when somebody wants it.
function arriving(stream) {
  const pull = async (controller) => {
    const data = await ask("read", { stream });
    if (data === null) controller.close();
    else controller.enqueue(new Uint8Array(Buffer.from(data, "base64")));
  };
  const cancel = async () => {
    await ask("drop", { stream });
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

function withSignal(promise, signal) {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
