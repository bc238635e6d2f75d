// Headers: names without case, kept sorted when iterated; several `set-cookie` stay apart.

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function nameOf(name) {
  const text = String(name);
  if (!NAME.test(text)) throw new TypeError(`Headers: ${text} is an invalid header name.`);
  return text.toLowerCase();
}

function valueOf(value) {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (/[\0\n\r]/.test(text))
    throw new TypeError(`Headers: ${JSON.stringify(text)} is an invalid header value.`);
  return text;
}

export class Headers {
  #map = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object")
      throw new TypeError("Headers: expected a record, a list of pairs or Headers");
    const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
    for (const pair of pairs) {
      const [name, value, ...more] = pair;
      if (more.length || pair.length < 2) throw new TypeError("Headers: each pair must be [name, value]");
      this.append(name, value);
    }
  }
  append(name, value) {
    const key = nameOf(name);
    this.#map.set(key, [...(this.#map.get(key) ?? []), valueOf(value)]);
  }
  set(name, value) {
    this.#map.set(nameOf(name), [valueOf(value)]);
  }
  get(name) {
    return this.#map.get(nameOf(name))?.join(", ") ?? null;
  }
  has(name) {
    return this.#map.has(nameOf(name));
  }
  delete(name) {
    this.#map.delete(nameOf(name));
  }
  getSetCookie() {
    return [...(this.#map.get("set-cookie") ?? [])];
  }
  forEach(callback, self) {
    for (const [name, value] of this) callback.call(self, value, name, this);
  }
  *entries() {
    for (const name of [...this.#map.keys()].sort()) {
      if (name === "set-cookie") for (const value of this.#map.get(name)) yield [name, value];
      else yield [name, this.get(name)];
    }
  }
  *keys() {
    for (const [name] of this.entries()) yield name;
  }
  *values() {
    for (const [, value] of this.entries()) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  toJSON() {
    return Object.fromEntries(this);
  }
  get [Symbol.toStringTag]() {
    return "Headers";
  }
}
