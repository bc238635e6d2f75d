// `Bun.file` and `Bun.write`: a file as a Blob that is read when asked for.
import * as ops from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { pathOf } from "haft:node/parts/fs-args";
import { Stats } from "haft:node/parts/fs-stats";
import { dirname, extname, resolve } from "haft:node/path";
import { BYTES, Blob } from "haft:web/blob";
import { utf8, viewOf } from "haft:web/text";

const SCRIPT = "text/javascript;charset=utf-8";
const TYPES = {
  ".js": SCRIPT,
  ".mjs": SCRIPT,
  ".cjs": SCRIPT,
  ".jsx": SCRIPT,
  ".ts": SCRIPT,
  ".mts": SCRIPT,
  ".cts": SCRIPT,
  ".tsx": SCRIPT,
  ".json": "application/json;charset=utf-8",
  ".html": "text/html;charset=utf-8",
  ".htm": "text/html;charset=utf-8",
  ".css": "text/css;charset=utf-8",
  ".txt": "text/plain;charset=utf-8",
  ".md": "text/markdown",
  ".xml": "application/xml",
  ".yaml": "text/yaml",
  ".yml": "text/yaml",
  ".toml": "application/toml",
  ".csv": "text/csv",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".gz": "application/gzip",
  ".wasm": "application/wasm",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
};

const statOf = (path) => {
  try {
    return ops.stat(path, true);
  } catch {
    return null;
  }
};

export class BunFile extends Blob {
  #range;
  constructor(path, { type } = {}, range = null) {
    super();
    this.#range = range;
    Object.defineProperty(this, "name", { value: path, enumerable: true });
    Object.defineProperty(this, "type", {
      value: type ?? TYPES[extname(path).toLowerCase()] ?? "application/octet-stream",
      enumerable: true,
    });
    Object.defineProperty(this, BYTES, { get: () => this.#read() });
    Object.defineProperty(this, "isBunFile", { value: range === null });
  }
  #read() {
    const bytes = new Uint8Array(ops.readFile(this.name));
    return this.#range ? bytes.subarray(...this.#range) : bytes;
  }
  get size() {
    const whole = statOf(this.name)?.size ?? 0;
    if (!this.#range) return whole;
    const [start, end] = this.#range.map((at) =>
      at === undefined ? whole : Math.min(at < 0 ? whole + at : at, whole),
    );
    return Math.max(0, end - start);
  }
  get lastModified() {
    return statOf(this.name)?.mtimeMs ?? 0;
  }
  async exists() {
    return !["dir", undefined].includes(statOf(this.name)?.kind);
  }
  async stat() {
    return new Stats(ops.stat(this.name, true));
  }
  async delete() {
    ops.unlink(this.name);
  }
  async unlink() {
    ops.unlink(this.name);
  }
  async write(data) {
    return write(this, data);
  }
  slice(start = 0, end, type) {
    if (typeof end === "string") [end, type] = [undefined, end];
    const base = this.#range?.[0] ?? 0;
    return new BunFile(this.name, { type: type ?? this.type }, [
      base + start,
      end === undefined ? this.#range?.[1] : base + end,
    ]);
  }
  stream() {
    const bytes = () => this.#read();
    return new globalThis.ReadableStream({
      start(controller) {
        const all = bytes();
        for (let at = 0; at < all.length; at += 65536) controller.enqueue(all.slice(at, at + 65536));
        controller.close();
      },
    });
  }
  writer() {
    return new FileSink(this.name);
  }
}

// Writes gather here; `flush` and `end` put them into the file.
class FileSink {
  #chunks = [];
  #begun = false;
  #path;
  constructor(path) {
    this.#path = path;
  }
  write(data) {
    const bytes = typeof data === "string" ? utf8(data) : viewOf(data).slice();
    this.#chunks.push(bytes);
    return bytes.length;
  }
  flush() {
    const bytes = Buffer.concat(this.#chunks.splice(0));
    ops.writeFile(this.#path, bytes, { append: this.#begun });
    this.#begun = true;
    return bytes.length;
  }
  end(error) {
    return error ? 0 : this.#chunks.length || !this.#begun ? this.flush() : 0;
  }
  start() {}
  ref() {}
  unref() {}
}

export const file = (path, options) =>
  new BunFile(path instanceof BunFile ? path.name : pathOf(path), options);

async function bytesOf(data) {
  if (typeof data === "string") return utf8(data);
  if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return viewOf(data);
  if (typeof data?.arrayBuffer === "function") return new Uint8Array(await data.arrayBuffer());
  if (Array.isArray(data)) return viewOf(await new Blob(data).arrayBuffer());
  return utf8(String(data));
}

export async function write(target, data, { mode, createPath = true } = {}) {
  const path = target instanceof BunFile ? target.name : pathOf(target);
  const bytes = await bytesOf(data);
  const put = () => ops.writeFile(path, bytes, { mode });
  try {
    put();
  } catch (error) {
    if (error.code !== "ENOENT" || !createPath) throw error;
    ops.mkdir(dirname(resolve(path)), { recursive: true, mode: 0o777 });
    put();
  }
  return bytes.length;
}
