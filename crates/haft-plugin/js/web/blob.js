// Blob and File: bytes in memory with a type.
import { fromUtf8, utf8, viewOf } from "haft:web/text";
import { ReadableStream } from "haft:web/readable";

// Bun's files are Blobs whose bytes are read late: they put a getter here.
export const BYTES = Symbol("bytes");

export function joined(chunks) {
  const out = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

export const blobBytes = (blob) => blob[BYTES];

export class Blob {
  constructor(parts = [], { type = "" } = {}) {
    const chunks = Array.from(parts, (part) =>
      part instanceof Blob
        ? part[BYTES]
        : ArrayBuffer.isView(part) || part instanceof ArrayBuffer
          ? viewOf(part)
          : utf8(String(part)),
    );
    Object.defineProperty(this, BYTES, { value: joined(chunks), configurable: true });
    Object.defineProperty(this, "type", {
      value: /[^\x20-\x7e]/.test(type) ? "" : String(type).toLowerCase(),
      enumerable: true,
      configurable: true,
    });
  }
  get size() {
    return this[BYTES].length;
  }
  slice(start = 0, end = this.size, type = "") {
    return new Blob([this[BYTES].slice(start, end)], { type });
  }
  async text() {
    return fromUtf8(this[BYTES]);
  }
  async arrayBuffer() {
    return this[BYTES].slice().buffer;
  }
  async bytes() {
    return this[BYTES].slice();
  }
  async json() {
    return JSON.parse(await this.text());
  }
  stream() {
    const bytes = this[BYTES];
    return new ReadableStream({
      start(controller) {
        if (bytes.length) controller.enqueue(bytes.slice());
        controller.close();
      },
    });
  }
  get [Symbol.toStringTag]() {
    return "Blob";
  }
}

export class File extends Blob {
  constructor(parts, name, options = {}) {
    if (arguments.length < 2)
      throw new TypeError('The "fileBits" and "fileName" arguments must be specified');
    super(parts, options);
    Object.defineProperty(this, "name", { value: String(name), enumerable: true });
    Object.defineProperty(this, "lastModified", {
      value: options.lastModified ?? Date.now(),
      enumerable: true,
    });
  }
  get [Symbol.toStringTag]() {
    return "File";
  }
}
