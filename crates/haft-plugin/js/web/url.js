// URL over the engine's WHATWG parser; `searchParams` is made on first use and stays live in both directions.
import { parseUrl, setUrl } from "haft:ops";
import { URLSearchParams } from "haft:web/url-params";

export class URL {
  #parts;
  #params = null;
  constructor(input, base) {
    if (arguments.length === 0)
      throw Object.assign(new TypeError('The "url" argument must be specified'), {
        code: "ERR_MISSING_ARGS",
      });
    this.#parts = parseUrl(
      String(input).toWellFormed(),
      base === undefined ? undefined : String(base).toWellFormed(),
    );
    if (this.#parts) return;
    throw Object.assign(new TypeError("Invalid URL"), {
      code: "ERR_INVALID_URL",
      input: String(input),
      ...(base === undefined ? {} : { base: String(base) }),
    });
  }
  static canParse(input, base) {
    return parseUrl(String(input), base === undefined ? undefined : String(base)) !== null;
  }
  static parse(input, base) {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }
  #set(part, value) {
    this.#parts = setUrl(this.#parts.href, part, String(value).toWellFormed());
    if (this.#params && (part === "search" || part === "href"))
      URLSearchParams.reset(this.#params, this.#parts.search);
  }
  get href() {
    return this.#parts.href;
  }
  set href(value) {
    if (!URL.canParse(value))
      throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(value) });
    this.#parts = parseUrl(String(value));
    if (this.#params) URLSearchParams.reset(this.#params, this.#parts.search);
  }
  get origin() {
    return this.#parts.origin;
  }
  get searchParams() {
    return (this.#params ??= URLSearchParams.owned(this.#parts.search, (query) => {
      this.#parts = setUrl(this.#parts.href, "search", query);
    }));
  }
  toString() {
    return this.#parts.href;
  }
  toJSON() {
    return this.#parts.href;
  }
  get [Symbol.toStringTag]() {
    return "URL";
  }

  static {
    for (const part of [
      "protocol",
      "username",
      "password",
      "host",
      "hostname",
      "port",
      "pathname",
      "search",
      "hash",
    ]) {
      Object.defineProperty(URL.prototype, part, {
        configurable: true,
        enumerable: true,
        get() {
          return this.#parts[part];
        },
        set(value) {
          this.#set(part, value);
        },
      });
    }
  }
}
