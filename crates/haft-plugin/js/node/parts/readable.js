// Readable streams: a buffer filled by `_read`/`push` and emptied by `read`, `data` events, pipes or `for
// await`.
import { Buffer } from "haft:node/parts/buffer";
import { coded, invalidType } from "haft:node/parts/errors";
import { Stream, soon } from "haft:node/parts/stream-base";
import { StringDecoder } from "haft:node/string_decoder";
import { internal } from "haft:ops";

const sizeOf = (inner, chunk) => (inner.objectMode ? 1 : chunk.length);

function asChunk(inner, chunk, encoding) {
  if (inner.objectMode) return chunk;
  if (typeof chunk === "string") {
    if (inner.decoder && (encoding ?? "utf8") === inner.encoding) return chunk;
    chunk = Buffer.from(chunk, encoding);
  } else if (chunk instanceof Uint8Array) {
    if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  } else
    throw invalidType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
  return inner.decoder ? inner.decoder.write(chunk) : chunk;
}

function gave(stream) {
  const inner = stream._readableState;
  if (inner.flowing) return flowSoon(stream);
  if (stream.listenerCount("readable") && !inner.announced) {
    inner.announced = true;
    soon(() => {
      inner.announced = false;
      if (!stream.destroyed && (inner.length || inner.ended)) stream.emit("readable");
      maybeEnd(stream);
    });
  }
}

function flowSoon(stream) {
  const inner = stream._readableState;
  if (inner.scheduled) return;
  inner.scheduled = true;
  soon(() => {
    inner.scheduled = false;
    while (inner.flowing && !stream.destroyed && stream.read() !== null);
  });
}

function maybeEnd(stream) {
  const inner = stream._readableState;
  if (!inner.ended || inner.length || inner.endEmitted || inner.ending || stream.destroyed) return;
  inner.ending = true;
  soon(() => {
    if (stream.destroyed || stream.errored) return;
    inner.endEmitted = true;
    stream.readable = false;
    stream.emit("end");
    if (stream._autoDestroy && (!stream._writableState || stream._writableState.finished)) stream.destroy();
    else if (stream._writableState && !stream.allowHalfOpen) stream.end();
  });
}

// Fills the buffer up to the mark; `_read` may push at once or later.
function fill(stream) {
  const inner = stream._readableState;
  if (inner.reading || inner.ended || stream.destroyed || inner.length >= Math.max(1, inner.highWaterMark))
    return;
  inner.reading = true;
  try {
    stream._read(inner.highWaterMark);
  } catch (error) {
    stream.destroy(error);
  }
}

export class Readable extends Stream {
  constructor(options = {}) {
    super(options);
    Readable.prepare(this, options);
  }
  static prepare(stream, options) {
    const objectMode = Boolean(options.objectMode || options.readableObjectMode);
    const inner = {
      objectMode,
      buffer: [],
      length: 0,
      flowing: null,
      ended: false,
      endEmitted: false,
      ending: false,
      reading: false,
      announced: false,
      scheduled: false,
      highWaterMark: options.readableHighWaterMark ?? options.highWaterMark ?? (objectMode ? 16 : 65536),
      decoder: null,
      encoding: null,
    };
    Object.defineProperty(stream, "_readableState", { value: inner, enumerable: false });
    Object.defineProperty(stream, "readable", { value: true, writable: true, enumerable: false });
    if (options.encoding) stream.setEncoding(options.encoding);
  }
  _read() {
    throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _read() method is not implemented");
  }
  setEncoding(encoding) {
    const inner = this._readableState;
    inner.decoder = new StringDecoder(encoding);
    inner.encoding = inner.decoder.encoding;
    const text = inner.buffer.map((chunk) => inner.decoder.write(chunk)).join("");
    inner.buffer = text ? [text] : [];
    inner.length = text.length;
    return this;
  }
  push(chunk, encoding) {
    const inner = this._readableState;
    inner.reading = false;
    if (chunk === null) {
      const left = inner.decoder?.end();
      if (left) {
        inner.buffer.push(left);
        inner.length += sizeOf(inner, left);
      }
      inner.ended = true;
      gave(this);
      maybeEnd(this);
      return false;
    }
    if (inner.ended) {
      this.destroy(coded(Error, "ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF"));
      return false;
    }
    let made;
    try {
      made = asChunk(inner, chunk, encoding);
    } catch (error) {
      this.destroy(error);
      return false;
    }
    if (inner.objectMode || made.length) {
      inner.buffer.push(made);
      inner.length += sizeOf(inner, made);
      gave(this);
    } else fillSoon(this);
    return inner.length < inner.highWaterMark;
  }
  unshift(chunk, encoding) {
    const inner = this._readableState;
    const made = inner.objectMode ? chunk : asChunk({ ...inner, decoder: null }, chunk, encoding);
    inner.buffer.unshift(inner.decoder && typeof made !== "string" ? inner.decoder.write(made) : made);
    inner.length += sizeOf(inner, made);
    gave(this);
    return inner.length < inner.highWaterMark;
  }
  read(count) {
    const inner = this._readableState;
    if (count === 0) {
      fill(this);
      if (!inner.flowing && (inner.length || inner.ended)) gave(this);
      return null;
    }
    fill(this);
    if (inner.length === 0) {
      maybeEnd(this);
      return null;
    }
    let chunk;
    if (inner.objectMode) chunk = inner.buffer.shift();
    else if (count === undefined || Number.isNaN(count)) {
      // Flowing gives chunk by chunk; a plain read() gives all there is.
      chunk =
        inner.flowing || inner.buffer.length === 1
          ? inner.buffer.shift()
          : joined(inner, inner.buffer.splice(0));
    } else {
      if (count > inner.length) {
        if (!inner.ended) return null;
        count = inner.length;
      }
      const all = joined(inner, inner.buffer.splice(0));
      chunk = all.slice(0, count);
      if (count < all.length) inner.buffer.push(all.slice(count));
    }
    inner.length -= sizeOf(inner, chunk);
    if (inner.length === 0) fillSoon(this);
    this.emit("data", chunk);
    maybeEnd(this);
    return chunk;
  }
  on(event, listener) {
    super.on(event, listener);
    const inner = this._readableState;
    if (event === "data" && inner.flowing !== false) this.resume();
    if (event === "readable") {
      inner.flowing = false;
      if (inner.length || inner.ended) gave(this);
      else soon(() => this.read(0));
    }
    return this;
  }
  addListener(event, listener) {
    return this.on(event, listener);
  }
  pause() {
    if (this._readableState.flowing !== false) {
      this._readableState.flowing = false;
      this.emit("pause");
    }
    return this;
  }
  resume() {
    const inner = this._readableState;
    if (!inner.flowing) {
      inner.flowing = true;
      soon(() => this.emit("resume"));
      flowSoon(this);
    }
    return this;
  }
  isPaused() {
    return this._readableState.flowing === false;
  }
  unpipe(target) {
    for (const entry of [...(this._pipes ?? [])]) {
      if (target && entry.target !== target) continue;
      entry.undo();
      entry.target.emit("unpipe", this);
    }
    if (!this._pipes?.length) this.pause();
    return this;
  }
  wrap(old) {
    old.on("data", (chunk) => this.push(chunk) || old.pause?.());
    old.on("end", () => this.push(null));
    old.on("error", (error) => this.destroy(error));
    this._read = () => old.resume?.();
    return this;
  }
  get readableFlowing() {
    return this._readableState.flowing;
  }
  get readableLength() {
    return this._readableState.length;
  }
  get readableEnded() {
    return this._readableState.endEmitted;
  }
  get readableObjectMode() {
    return this._readableState.objectMode;
  }
  get readableHighWaterMark() {
    return this._readableState.highWaterMark;
  }
  get readableEncoding() {
    return this._readableState.encoding;
  }
  get readableDidRead() {
    return this._readableState.flowing !== null;
  }
  get readableAborted() {
    return this.destroyed && !this._readableState.endEmitted;
  }

  async *[Symbol.asyncIterator]() {
    const inner = this._readableState;
    let wake = Promise.withResolvers();
    const poke = () => wake.resolve();
    let failure = null;
    const failed = (error) => {
      failure = error;
      poke();
    };
    this.on("readable", poke).on("end", poke).on("close", poke).on("error", failed);
    try {
      for (;;) {
        const chunk = this.destroyed ? null : this.read();
        if (chunk !== null) {
          yield chunk;
          continue;
        }
        if (failure ?? this.errored) throw failure ?? this.errored;
        if (inner.endEmitted) return;
        if (this.closed) throw coded(Error, "ERR_STREAM_PREMATURE_CLOSE", "Premature close");
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      for (const event of ["readable", "end", "close"]) this.removeListener(event, poke);
      this.removeListener("error", failed);
      if (!failure && !this.destroyed) this.once("error", () => {}).destroy();
    }
  }
  iterator() {
    return this[Symbol.asyncIterator]();
  }
  async toArray() {
    return Array.fromAsync(this);
  }
  async forEach(f) {
    for await (const chunk of this) await f(chunk);
  }
  map(f) {
    return Readable.from(mapped(this, f));
  }
  filter(f) {
    return Readable.from(filtered(this, f));
  }
  async reduce(f, value) {
    for await (const chunk of this) value = value === undefined ? chunk : await f(value, chunk);
    return value;
  }
  static from(source, options) {
    if (typeof source === "string" || source instanceof Uint8Array) {
      return new Readable({
        objectMode: true,
        ...options,
        read() {
          this.push(source);
          this.push(null);
        },
      });
    }
    const iterator = source?.[Symbol.asyncIterator]?.() ?? source?.[Symbol.iterator]?.();
    if (!iterator) throw invalidType("iterable", "an instance of Iterable", source);
    return new Readable({
      objectMode: true,
      highWaterMark: 1,
      ...options,
      async read() {
        try {
          const { value, done } = await iterator.next();
          if (this.destroyed) return;
          this.push(done ? null : await value);
        } catch (error) {
          this.destroy(error);
        }
      },
      destroy(error, done) {
        Promise.resolve(iterator.return?.()).then(
          () => done(error),
          (late) => done(error ?? late),
        );
      },
    });
  }
  static fromWeb(stream, options) {
    return Readable.from(stream, { objectMode: false, ...options });
  }
  static toWeb(stream) {
    const { ReadableStream } = internal("web/readable");
    return ReadableStream.from(stream);
  }
  static isDisturbed(stream) {
    return Boolean(stream.readableDidRead);
  }
}

const fillSoon = (stream) => soon(() => fill(stream));
const joined = (inner, chunks) => (inner.decoder ? chunks.join("") : Buffer.concat(chunks));
async function* mapped(stream, f) {
  for await (const chunk of stream) yield await f(chunk);
}
async function* filtered(stream, f) {
  for await (const chunk of stream) if (await f(chunk)) yield chunk;
}
