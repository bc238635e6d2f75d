// Response.
import { Body, bodyType, sharedBody } from "haft:web/body";
import { Headers } from "haft:web/headers";
import { URL } from "haft:web/url";

const NO_BODY = [101, 204, 205, 304];

export class Response extends Body {
  #facts;
  constructor(body = null, init = {}) {
    const status = init.status ?? 200;
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`init["status"] must be in the range of 200 to 599, inclusive.`);
    }
    if (body !== null && body !== undefined && NO_BODY.includes(status))
      throw new TypeError(`Response constructor: Invalid response status code ${status}`);
    super(body);
    this.#facts = {
      status,
      statusText: String(init.statusText ?? ""),
      url: "",
      redirected: false,
      type: "default",
    };
    Object.defineProperty(this, "headers", { value: new Headers(init.headers), enumerable: true });
    const type = bodyType(this);
    if (type && !this.headers.has("content-type")) this.headers.set("content-type", type);
  }
  get status() {
    return this.#facts.status;
  }
  get statusText() {
    return this.#facts.statusText;
  }
  get ok() {
    return this.status >= 200 && this.status <= 299;
  }
  get url() {
    return this.#facts.url;
  }
  get redirected() {
    return this.#facts.redirected;
  }
  get type() {
    return this.#facts.type;
  }
  clone() {
    return Response.withFacts(new Response(sharedBody(this), { headers: this.headers }), this.#facts);
  }
  get [Symbol.toStringTag]() {
    return "Response";
  }

  static withFacts(response, facts) {
    Object.assign(response.#facts, facts);
    return response;
  }
  static error() {
    return Response.withFacts(new Response(null), { type: "error", status: 0 });
  }
  static json(data, init = {}) {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Value is not JSON serializable");
    const response = new Response(text, init);
    if (!new Headers(init.headers).has("content-type"))
      response.headers.set("content-type", "application/json");
    return response;
  }
  static redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`Invalid status code ${status}`);
    return new Response(null, { status, headers: { location: new URL(String(url)).href } });
  }
}
