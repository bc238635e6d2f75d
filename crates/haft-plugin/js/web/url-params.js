// URLSearchParams. A URL that owns one is told of every change, so both stay one.
import { utf8, fromUtf8 } from "haft:web/text";

const SAFE = /[^A-Za-z0-9*\-._]/gu;
const encode = (text) =>
  String(text)
    .toWellFormed()
    .replace(SAFE, (char) =>
      char === " "
        ? "+"
        : Array.from(utf8(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
    );

function decode(text) {
  const plain = text.replaceAll("+", " ");
  if (!plain.includes("%")) return plain;
  const bytes = utf8(plain);
  const out = [];
  for (let i = 0; i < bytes.length; i++) {
    const hex =
      bytes[i] === 37 && i + 2 < bytes.length ? String.fromCharCode(bytes[i + 1], bytes[i + 2]) : "";
    if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
      out.push(parseInt(hex, 16));
      i += 2;
    } else out.push(bytes[i]);
  }
  return fromUtf8(Uint8Array.from(out));
}

const parse = (text) =>
  text
    .split("&")
    .filter(Boolean)
    .map((piece) => {
      const at = piece.indexOf("=");
      return at < 0 ? [decode(piece), ""] : [decode(piece.slice(0, at)), decode(piece.slice(at + 1))];
    });

function pairsOf(init) {
  if (init === undefined || init === null) return [];
  if (typeof init !== "object" && typeof init !== "function") return parse(String(init).replace(/^\?/, ""));
  if (typeof init[Symbol.iterator] !== "function")
    return Object.entries(init).map(([k, v]) => [String(k), String(v)]);
  return Array.from(init, (pair) => {
    const [key, value, ...more] = pair;
    if (more.length || Array.from(pair).length !== 2) {
      throw Object.assign(new TypeError("Each query pair must be an iterable [name, value] tuple"), {
        code: "ERR_INVALID_TUPLE",
      });
    }
    return [String(key), String(value)];
  });
}

export class URLSearchParams {
  #list;
  #changed = null;
  constructor(init) {
    this.#list = pairsOf(init);
  }
  // The live view of a URL: `changed` hears the new query.
  static owned(search, changed) {
    const params = new URLSearchParams(search);
    params.#changed = changed;
    return params;
  }
  static reset(params, search) {
    params.#list = parse(search.replace(/^\?/, ""));
  }
  #told() {
    this.#changed?.(this.toString());
  }
  get size() {
    return this.#list.length;
  }
  append(key, value) {
    this.#list.push([String(key), String(value)]);
    this.#told();
  }
  delete(key, value) {
    this.#list = this.#list.filter(
      ([k, v]) => k !== String(key) || (value !== undefined && v !== String(value)),
    );
    this.#told();
  }
  get(key) {
    return this.#list.find(([k]) => k === String(key))?.[1] ?? null;
  }
  getAll(key) {
    return this.#list.filter(([k]) => k === String(key)).map(([, v]) => v);
  }
  has(key, value) {
    return this.#list.some(([k, v]) => k === String(key) && (value === undefined || v === String(value)));
  }
  set(key, value) {
    const at = this.#list.findIndex(([k]) => k === String(key));
    if (at < 0) this.#list.push([String(key), String(value)]);
    else {
      this.#list[at] = [String(key), String(value)];
      this.#list = this.#list.filter(([k], i) => i <= at || k !== String(key));
    }
    this.#told();
  }
  sort() {
    this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#told();
  }
  forEach(callback, self) {
    for (const [key, value] of this.#list) callback.call(self, value, key, this);
  }
  *entries() {
    for (const [key, value] of this.#list) yield [key, value];
  }
  *keys() {
    for (const [key] of this.#list) yield key;
  }
  *values() {
    for (const [, value] of this.#list) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toString() {
    return this.#list.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
  }
  get [Symbol.toStringTag]() {
    return "URLSearchParams";
  }
}
