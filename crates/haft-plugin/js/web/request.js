// Request: what `fetch` is asked for.
import { internal } from "haft:ops";
import { Body, bodyType, sharedBody } from "haft:web/body";
import { Headers } from "haft:web/headers";
import { URL } from "haft:web/url";

const USUAL = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH"];

export class Request extends Body {
  constructor(input, init = {}) {
    const from = input instanceof Request ? input : null;
    const method = String(init.method ?? from?.method ?? "GET");
    const known = USUAL.includes(method.toUpperCase()) ? method.toUpperCase() : method;
    const hasBody = init.body !== undefined && init.body !== null;
    if (hasBody && (known === "GET" || known === "HEAD"))
      throw new TypeError("Request with GET/HEAD method cannot have body.");
    super(hasBody ? init.body : from ? sharedBody(from) : null);
    const url = new URL(from ? from.url : String(input));
    if (url.username || url.password)
      throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${url}`);
    const headers = new Headers(init.headers ?? from?.headers);
    const type = bodyType(this);
    if (type && !headers.has("content-type")) headers.set("content-type", type);
    const values = {
      url: url.href,
      method: known,
      headers,
      redirect: init.redirect ?? from?.redirect ?? "follow",
    };
    for (const key of [
      "credentials",
      "cache",
      "mode",
      "referrer",
      "keepalive",
      "integrity",
      "referrerPolicy",
      "duplex",
    ]) {
      values[key] = init[key] ?? from?.[key] ?? DEFAULTS[key];
    }
    for (const key in values) Object.defineProperty(this, key, { value: values[key], enumerable: true });
    const given = init.signal ?? from?.signal;
    let signal = given;
    Object.defineProperty(this, "signal", {
      enumerable: true,
      get: () => (signal ??= new (internal("web/abort").AbortController)().signal),
    });
  }
  clone() {
    return new Request(this.url, { ...this, body: sharedBody(this), signal: this.signal });
  }
  get [Symbol.toStringTag]() {
    return "Request";
  }
}

const DEFAULTS = {
  credentials: "same-origin",
  cache: "default",
  mode: "cors",
  referrer: "about:client",
  keepalive: false,
  integrity: "",
  referrerPolicy: "",
  duplex: "half",
};
