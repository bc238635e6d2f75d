// HTTP requests in Node's form over `fetch`, so haft's rules for the network hold. The body is sent and
// received as a whole; servers, sockets and agents are not offered.
import { Buffer } from "haft:node/parts/buffer";
import { unsupported } from "haft:node/parts/errors";
import { Readable } from "haft:node/parts/readable";
import { Writable } from "haft:node/parts/writable";
import { AbortController } from "haft:web/abort";
import { fetch } from "haft:web/fetch";
import { URL } from "haft:web/url";

export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
export const STATUS_CODES = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  418: "I'm a Teapot",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

export class IncomingMessage extends Readable {
  constructor(response, bytes) {
    super({
      read() {
        if (bytes.length) this.push(bytes);
        bytes = [];
        this.push(null);
      },
    });
    this.statusCode = response.status;
    this.statusMessage = response.statusText || STATUS_CODES[response.status] || "";
    this.httpVersion = "1.1";
    this.headers = {};
    this.rawHeaders = [];
    for (const [name, value] of response.headers) {
      if (name === "set-cookie") (this.headers[name] ??= []).push(value);
      else this.headers[name] = value;
      this.rawHeaders.push(name, value);
    }
    this.url = response.url;
    this.complete = true;
  }
}

export class ClientRequest extends Writable {
  #chunks = [];
  #headers = new Map();
  #controller = new AbortController();
  #url;
  #timer = null;
  constructor(url, options, callback) {
    super({
      autoDestroy: false,
      write: (chunk, _, done) => {
        this.#chunks.push(chunk);
        done();
      },
      final: (done) => {
        done();
        this.#send();
      },
    });
    this.#url = url;
    this.method = (options.method ?? "GET").toUpperCase();
    this.path = url.pathname + url.search;
    this.host = url.hostname;
    this.protocol = url.protocol;
    this.aborted = false;
    for (const [name, value] of Object.entries(options.headers ?? {})) this.setHeader(name, value);
    if (options.auth)
      this.setHeader("authorization", `Basic ${Buffer.from(options.auth).toString("base64")}`);
    if (callback) this.once("response", callback);
    if (options.timeout) this.setTimeout(options.timeout);
    options.signal?.addEventListener("abort", () => this.destroy(options.signal.reason), { once: true });
  }
  setHeader(name, value) {
    this.#headers.set(name.toLowerCase(), Array.isArray(value) ? value.join(", ") : String(value));
    return this;
  }
  getHeader(name) {
    return this.#headers.get(name.toLowerCase());
  }
  hasHeader(name) {
    return this.#headers.has(name.toLowerCase());
  }
  removeHeader(name) {
    this.#headers.delete(name.toLowerCase());
  }
  getHeaders() {
    return Object.fromEntries(this.#headers);
  }
  flushHeaders() {}
  setNoDelay() {}
  setSocketKeepAlive() {}
  setTimeout(ms, callback) {
    if (callback) this.once("timeout", callback);
    globalThis.clearTimeout(this.#timer);
    if (ms > 0) this.#timer = globalThis.setTimeout(() => this.emit("timeout"), ms);
    return this;
  }
  abort() {
    this.aborted = true;
    this.destroy();
  }
  _destroy(error, done) {
    globalThis.clearTimeout(this.#timer);
    this.#controller.abort();
    done(error);
  }
  async #send() {
    try {
      const body =
        this.#chunks.length && !["GET", "HEAD"].includes(this.method)
          ? Buffer.concat(this.#chunks)
          : undefined;
      const headers = [...this.#headers].filter(
        ([name]) => name !== "content-length" && name !== "host" && name !== "connection",
      );
      const response = await fetch(this.#url.href, {
        method: this.method,
        headers,
        body,
        redirect: "manual",
        signal: this.#controller.signal,
      });
      const message = new IncomingMessage(response, Buffer.from(await response.arrayBuffer()));
      globalThis.clearTimeout(this.#timer);
      this.res = message;
      if (!this.emit("response", message)) message.resume();
    } catch (error) {
      if (this.destroyed && this.#controller.signal.aborted) return;
      globalThis.clearTimeout(this.#timer);
      this.emit("error", error.cause instanceof Error ? error.cause : error);
    }
  }
}

export class Agent {
  constructor(options = {}) {
    this.options = options;
  }
  destroy() {}
}

// (url, options?, callback?) or (options, callback?).
export function client(protocol) {
  const request = (first, second, third) => {
    const isUrl = typeof first === "string" || first instanceof URL;
    const [options, callback] = isUrl
      ? typeof second === "function"
        ? [{}, second]
        : [second ?? {}, third]
      : [first, second];
    const url = isUrl
      ? new URL(String(first))
      : new URL(
          `${options.protocol ?? protocol}//${options.hostname ?? options.host ?? "localhost"}${options.port ? `:${options.port}` : ""}${options.path ?? "/"}`,
        );
    if (isUrl && options.path) url.href = new URL(options.path, url.origin).href;
    return new ClientRequest(url, options, callback);
  };
  const get = (...args) => {
    const made = request(...args);
    made.end();
    return made;
  };
  const createServer = () => {
    throw unsupported(`${protocol.slice(0, -1)}.createServer`, "run this plugin with Bun or Node");
  };
  return {
    request,
    get,
    createServer,
    Agent,
    globalAgent: new Agent(),
    METHODS,
    STATUS_CODES,
    ClientRequest,
    IncomingMessage,
  };
}
