// Buffer: a Uint8Array that knows Node's encodings. Kept apart from the module `buffer` so that using it
// loads nothing else.
import { decode, encode, encodingOf } from "haft:node/parts/encodings";
import { coded, invalidType, outOfRange } from "haft:node/parts/errors";
import { numberMethods } from "haft:node/parts/buffer-numbers";

const known = (name) => {
  const encoding = encodingOf(name);
  if (!encoding) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${name}`);
  return encoding;
};
const view = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const clamp = (value, low, high, missing) => {
  const n = value === undefined ? missing : Math.trunc(Number(value)) || 0;
  return Math.min(Math.max(n, low), high);
};
const mustBeBytes = (name, value) => {
  if (!(value instanceof Uint8Array)) throw invalidType(name, "an instance of Buffer or Uint8Array", value);
};
const mustBeSize = (size) => {
  if (typeof size !== "number") throw invalidType("size", "of type number", size);
  if (!(size >= 0 && size <= kMaxLength)) throw outOfRange("size", `>= 0 && <= ${kMaxLength}`, size);
};

export const kMaxLength = 2 ** 31 - 1;

function order(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return Math.sign(a.length - b.length);
}

function search(where, what, from, encoding, backwards) {
  if (typeof from === "string") [from, encoding] = [undefined, from];
  const needle =
    typeof what === "number"
      ? Uint8Array.of(what & 255)
      : typeof what === "string"
        ? encode(what, known(encoding))
        : what;
  if (!(needle instanceof Uint8Array))
    throw invalidType("value", "one of type number or string or an instance of Buffer or Uint8Array", what);
  let start = Math.trunc(Number(from));
  if (Number.isNaN(start)) start = backwards ? where.length - needle.length : 0;
  if (start < 0) start += where.length;
  if (backwards) {
    for (let i = Math.min(start, where.length - needle.length); i >= 0; i--)
      if (matches(where, needle, i)) return i;
    return -1;
  }
  start = Math.max(start, 0);
  if (needle.length === 0) return Math.min(start, where.length);
  for (
    let i = where.indexOfByte(needle[0], start);
    i >= 0 && i + needle.length <= where.length;
    i = where.indexOfByte(needle[0], i + 1)
  ) {
    if (matches(where, needle, i)) return i;
  }
  return -1;
}

function matches(where, needle, at) {
  for (let j = 0; j < needle.length; j++) if (where[at + j] !== needle[j]) return false;
  return true;
}

export class Buffer extends Uint8Array {
  // `new Buffer(text)` is deprecated in Node but lives on in old packages.
  constructor(value, second, length) {
    if (typeof value === "string") super(encode(value, known(second)));
    else super(value, second, length);
  }
  static poolSize = 8192;
  static from(value, second, length) {
    if (typeof value === "string") return view(encode(value, known(second)));
    if (
      value instanceof ArrayBuffer ||
      Object.prototype.toString.call(value) === "[object SharedArrayBuffer]"
    )
      return new Buffer(value, second, length);
    if (typeof value === "object" && value !== null) {
      if (ArrayBuffer.isView(value) || Array.isArray(value)) return view(new Uint8Array(value));
      if (value.type === "Buffer" && Array.isArray(value.data)) return view(new Uint8Array(value.data));
      const plain = value.valueOf?.();
      if (plain !== undefined && plain !== null && plain !== value) return Buffer.from(plain, second, length);
      if (typeof value[Symbol.toPrimitive] === "function")
        return Buffer.from(value[Symbol.toPrimitive]("string"), second);
      if (typeof value.length === "number") return view(Uint8Array.from({ ...value, length: value.length }));
    }
    throw invalidType(
      "first argument",
      "of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object",
      value,
    );
  }
  static alloc(size, fill, encoding) {
    mustBeSize(size);
    const made = new Buffer(size);
    return fill === undefined || fill === 0 ? made : made.fill(fill, encoding);
  }
  static allocUnsafe(size) {
    mustBeSize(size);
    return new Buffer(size);
  }
  static allocUnsafeSlow(size) {
    return Buffer.allocUnsafe(size);
  }
  static of(...items) {
    return Buffer.from(items);
  }
  static copyBytesFrom(source, offset = 0, length) {
    const part = source.subarray(offset, length === undefined ? undefined : offset + length);
    return Buffer.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
  }
  static isBuffer(value) {
    return value instanceof Buffer;
  }
  static isEncoding(name) {
    return typeof name === "string" && name !== "" && encodingOf(name) !== undefined;
  }
  static byteLength(value, encoding) {
    if (typeof value !== "string") {
      if (value?.byteLength === undefined)
        throw invalidType("string", "of type string or an instance of Buffer or ArrayBuffer", value);
      return value.byteLength;
    }
    return encode(value, encodingOf(encoding) ?? "utf8").length;
  }
  static compare(a, b) {
    mustBeBytes("buf1", a);
    mustBeBytes("buf2", b);
    return order(a, b);
  }
  static concat(list, total) {
    if (!Array.isArray(list)) throw invalidType("list", "an instance of Array", list);
    const out = new Buffer(total ?? list.reduce((sum, item) => sum + item.length, 0));
    let at = 0;
    for (const [i, item] of list.entries()) {
      mustBeBytes(`list[${i}]`, item);
      if (at >= out.length) break;
      out.set(at + item.length > out.length ? item.subarray(0, out.length - at) : item, at);
      at += item.length;
    }
    return out;
  }

  get parent() {
    return this.buffer;
  }
  get offset() {
    return this.byteOffset;
  }
  toString(encoding, start, end) {
    const from = clamp(start, 0, this.length, 0);
    const to = clamp(end, 0, this.length, this.length);
    return decode(
      from === 0 && to === this.length ? this : this.subarray(from, Math.max(from, to)),
      known(encoding),
    );
  }
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  }
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  }
  slice(start, end) {
    return this.subarray(start, end);
  }
  equals(other) {
    mustBeBytes("otherBuffer", other);
    return this.length === other.length && order(this, other) === 0;
  }
  compare(target, targetStart = 0, targetEnd = target?.length, start = 0, end = this.length) {
    mustBeBytes("target", target);
    return order(this.subarray(start, end), target.subarray(targetStart, targetEnd));
  }
  indexOfByte(byte, from) {
    return Uint8Array.prototype.indexOf.call(this, byte, from);
  }
  indexOf(value, from, encoding) {
    return search(this, value, from, encoding, false);
  }
  lastIndexOf(value, from, encoding) {
    return search(this, value, from, encoding, true);
  }
  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) !== -1;
  }
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + Math.max(0, target.length - targetStart)));
    target.set(part, targetStart);
    return part.length;
  }
  fill(value, offset, end, encoding) {
    if (typeof offset === "string") [offset, encoding] = [undefined, offset];
    else if (typeof end === "string") [end, encoding] = [undefined, end];
    const [from, to] = [clamp(offset, 0, this.length, 0), clamp(end, 0, this.length, this.length)];
    const pattern = typeof value === "string" ? encode(value, known(encoding)) : value;
    if (!(pattern instanceof Uint8Array))
      return Uint8Array.prototype.fill.call(this, Number(pattern) & 255, from, to);
    if (pattern.length === 0) return Uint8Array.prototype.fill.call(this, 0, from, to);
    for (let i = from; i < to; i++) this[i] = pattern[(i - from) % pattern.length];
    return this;
  }
  write(text, offset, length, encoding) {
    if (typeof offset === "string") [offset, encoding] = [undefined, offset];
    else if (typeof length === "string") [length, encoding] = [undefined, length];
    const from = clamp(offset, 0, this.length, 0);
    const name = known(encoding);
    const room = clamp(length, 0, this.length - from, this.length - from);
    let bytes = encode(text, name);
    if (bytes.length > room) {
      let cut = room;
      if (name === "utf8") while (cut > 0 && (bytes[cut] & 0xc0) === 0x80) cut -= 1;
      if (name === "utf16le") cut -= cut % 2;
      bytes = bytes.subarray(0, cut);
    }
    this.set(bytes, from);
    return bytes.length;
  }
  [Symbol.for("nodejs.util.inspect.custom")]() {
    const shown = Array.from(this.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const left = this.length - 50;
    return `<Buffer${shown && ` ${shown}`}${left > 0 ? ` ... ${left} more byte${left > 1 ? "s" : ""}` : ""}>`;
  }
}
Object.defineProperties(Buffer.prototype, numberMethods());
