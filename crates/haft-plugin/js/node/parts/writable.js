// Writable streams: writes go to `_write` one after another; `false` from `write` asks the writer to wait for
// `drain`.
import { Buffer } from "haft:node/parts/buffer";
import { coded, invalidType } from "haft:node/parts/errors";
import { Stream, noop, soon } from "haft:node/parts/stream-base";
import { internal } from "haft:ops";

function next(stream) {
  const inner = stream._writableState;
  if (inner.writing || inner.corked || stream.destroyed) return;
  if (inner.queue.length === 0) return maybeFinish(stream);
  const batch = stream._writev && inner.queue.length > 1 ? inner.queue.splice(0) : [inner.queue.shift()];
  inner.writing = true;
  let sync = true;
  const done = (error) => {
    if (!inner.writing) return;
    inner.writing = false;
    inner.length -= batch.reduce((sum, { size }) => sum + size, 0);
    const settle = () => {
      for (const { callback } of batch) callback(error ?? null);
      if (error) return void stream.destroy(error);
      if (inner.needDrain && inner.length === 0 && !inner.ending && !stream.destroyed) {
        inner.needDrain = false;
        stream.emit("drain");
      }
      next(stream);
    };
    sync ? soon(settle) : settle();
  };
  try {
    if (batch.length > 1)
      stream._writev(
        batch.map(({ chunk, encoding }) => ({ chunk, encoding })),
        done,
      );
    else stream._write(batch[0].chunk, batch[0].encoding, done);
  } catch (error) {
    inner.writing = false;
    stream.destroy(error);
  }
  sync = false;
}

function maybeFinish(stream) {
  const inner = stream._writableState;
  if (!inner.ending || inner.finishing || inner.writing || inner.queue.length || stream.destroyed) return;
  inner.finishing = true;
  const finish = (error) => {
    if (error) {
      for (const callback of inner.onEnd.splice(0)) callback(error);
      return void stream.destroy(error);
    }
    soon(() => {
      if (stream.destroyed) return;
      inner.finished = true;
      for (const callback of inner.onEnd.splice(0)) callback();
      stream.emit("finish");
      if (stream._autoDestroy && (!stream._readableState || stream._readableState.endEmitted))
        stream.destroy();
    });
  };
  if (!stream._final) return finish();
  try {
    stream._final(finish);
  } catch (error) {
    finish(error);
  }
}

// Shared with Duplex, which has two parents.
export const writableMethods = {
  _write() {
    throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _write() method is not implemented");
  },
  write(chunk, encoding, callback) {
    if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
    const inner = this._writableState;
    const done = callback ?? noop;
    if (chunk === null)
      throw coded(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
    if (!inner.objectMode) {
      if (typeof chunk === "string") {
        if (inner.decodeStrings)
          [chunk, encoding] = [Buffer.from(chunk, encoding ?? inner.defaultEncoding), "buffer"];
      } else if (ArrayBuffer.isView(chunk)) {
        if (!Buffer.isBuffer(chunk)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        encoding = "buffer";
      } else
        throw invalidType("chunk", "of type string or an instance of Buffer, TypedArray, or DataView", chunk);
    }
    const refused = inner.ending
      ? coded(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end")
      : this.destroyed
        ? coded(Error, "ERR_STREAM_DESTROYED", "Cannot call write after a stream was destroyed")
        : null;
    if (refused) {
      soon(done, refused);
      if (inner.ending) this.destroy(refused);
      return false;
    }
    const size = inner.objectMode ? 1 : chunk.length;
    inner.length += size;
    const room = inner.length < inner.highWaterMark;
    if (!room) inner.needDrain = true;
    inner.queue.push({ chunk, encoding: encoding ?? inner.defaultEncoding, callback: done, size });
    next(this);
    return room;
  },
  end(chunk, encoding, callback) {
    if (typeof chunk === "function") [callback, chunk, encoding] = [chunk];
    else if (typeof encoding === "function") [callback, encoding] = [encoding];
    const inner = this._writableState;
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    inner.corked = 0;
    if (callback) {
      if (inner.finished)
        soon(
          callback,
          coded(Error, "ERR_STREAM_ALREADY_FINISHED", "Cannot call end after a stream was finished"),
        );
      else inner.onEnd.push(callback);
    }
    if (!inner.ending) {
      inner.ending = true;
      this.writable = false;
      next(this);
    }
    return this;
  },
  cork() {
    this._writableState.corked += 1;
  },
  uncork() {
    const inner = this._writableState;
    inner.corked = Math.max(0, inner.corked - 1);
    next(this);
  },
  setDefaultEncoding(encoding) {
    this._writableState.defaultEncoding = encoding;
    return this;
  },
};

const getters = {
  writableLength() {
    return this._writableState.length;
  },
  writableEnded() {
    return this._writableState.ending;
  },
  writableFinished() {
    return this._writableState.finished;
  },
  writableObjectMode() {
    return this._writableState.objectMode;
  },
  writableHighWaterMark() {
    return this._writableState.highWaterMark;
  },
  writableNeedDrain() {
    return this._writableState.needDrain;
  },
  writableCorked() {
    return this._writableState.corked;
  },
  writableAborted() {
    return this.destroyed && !this._writableState.finished;
  },
};

export function addWritable(prototype) {
  for (const name in writableMethods)
    Object.defineProperty(prototype, name, {
      value: writableMethods[name],
      writable: true,
      configurable: true,
    });
  for (const name in getters)
    Object.defineProperty(prototype, name, { get: getters[name], configurable: true });
}

export function prepareWritable(stream, options) {
  const objectMode = Boolean(options.objectMode || options.writableObjectMode);
  const inner = {
    objectMode,
    queue: [],
    length: 0,
    writing: false,
    corked: 0,
    needDrain: false,
    ending: false,
    finishing: false,
    finished: false,
    onEnd: [],
    highWaterMark: options.writableHighWaterMark ?? options.highWaterMark ?? (objectMode ? 16 : 65536),
    decodeStrings: options.decodeStrings !== false,
    defaultEncoding: options.defaultEncoding ?? "utf8",
  };
  Object.defineProperty(stream, "_writableState", { value: inner, enumerable: false });
  Object.defineProperty(stream, "writable", { value: true, writable: true, enumerable: false });
}

export class Writable extends Stream {
  constructor(options = {}) {
    super(options);
    prepareWritable(this, options);
  }
  pipe() {
    this.destroy(coded(Error, "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable"));
  }
  static toWeb(stream) {
    const { WritableStream } = internal("web/writable");
    return new WritableStream({
      write: (chunk) =>
        new Promise((done, fail) => stream.write(chunk, (error) => (error ? fail(error) : done()))),
      close: () => new Promise((done) => stream.end(done)),
      abort: (reason) => void stream.destroy(reason),
    });
  }
  static fromWeb(stream, options) {
    const writer = stream.getWriter();
    return new Writable({
      ...options,
      write: (chunk, _, done) => void writer.write(chunk).then(() => done(), done),
      final: (done) => void writer.close().then(() => done(), done),
    });
  }
}
addWritable(Writable.prototype);
