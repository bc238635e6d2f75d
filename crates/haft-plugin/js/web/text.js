// TextEncoder and TextDecoder, and the two short forms the rest of our modules use.
import { decode, encodeUtf8, encodingName } from "haft:ops";

export const utf8 = (text) => new Uint8Array(encodeUtf8(text.isWellFormed() ? text : text.toWellFormed()));
export const fromUtf8 = (bytes) => decode("utf-8", bytes, { ignoreBOM: true });

// Bytes of any ArrayBuffer or view, without a copy.
export function viewOf(source) {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (
    source instanceof ArrayBuffer ||
    Object.prototype.toString.call(source) === "[object SharedArrayBuffer]"
  )
    return new Uint8Array(source);
  const error = new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView.');
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

export class TextEncoder {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return utf8(String(text));
  }
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const char of String(text)) {
      const bytes = utf8(char);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += char.length;
    }
    return { read, written };
  }
}

// How many bytes at the end belong to a character that is not complete yet.
function unfinished(encoding, bytes) {
  if (encoding.startsWith("utf-16")) {
    const odd = bytes.length % 2;
    const last = bytes.length - odd - (encoding === "utf-16le" ? 1 : 2);
    return odd + (last >= 0 && (bytes[last] & 0xfc) === 0xd8 ? 2 : 0);
  }
  if (encoding !== "utf-8") return 0;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back];
    if (byte >= 0xc2 && byte <= 0xf4) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80 || byte >= 0xc0) return 0;
  }
  return 0;
}

export class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #pending = new Uint8Array(0);
  #begun = false;
  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    const name = encodingName(String(label));
    if (!name) {
      const error = new RangeError(`The "${label}" encoding is not supported`);
      error.code = "ERR_ENCODING_NOT_SUPPORTED";
      throw error;
    }
    this.#encoding = name;
    this.#fatal = Boolean(fatal);
    this.#ignoreBOM = Boolean(ignoreBOM);
  }
  get encoding() {
    return this.#encoding;
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#ignoreBOM;
  }
  decode(input, { stream = false } = {}) {
    let bytes = input === undefined ? new Uint8Array(0) : viewOf(input);
    if (this.#pending.length) {
      const joined = new Uint8Array(this.#pending.length + bytes.length);
      joined.set(this.#pending);
      joined.set(bytes, this.#pending.length);
      bytes = joined;
    }
    const keep = stream ? unfinished(this.#encoding, bytes) : 0;
    this.#pending = keep ? bytes.slice(bytes.length - keep) : new Uint8Array(0);
    const whole = keep ? bytes.subarray(0, bytes.length - keep) : bytes;
    const text = decode(this.#encoding, whole, {
      fatal: this.#fatal,
      ignoreBOM: this.#ignoreBOM || this.#begun,
    });
    this.#begun = stream && (this.#begun || whole.length > 0);
    return text;
  }
}
