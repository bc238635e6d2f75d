// Streams over files. Loaded only when somebody asks for one.
import * as ops from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { flagsOf, modeOf, optionsOf, pathOf } from "haft:node/parts/fs-args";
import { Readable } from "haft:node/parts/readable";
import { Writable } from "haft:node/parts/writable";

const numberOf = (fd) => (typeof fd === "object" && fd !== null ? fd.fd : fd);

function opened(stream, path, { fd, flags, mode }) {
  stream.path = path === undefined || path === null ? undefined : pathOf(path);
  stream.pending = true;
  stream.bytesRead ??= 0;
  stream.fd = numberOf(fd) ?? null;
  Promise.resolve().then(() => {
    if (stream.destroyed) return;
    try {
      stream.fd ??= ops.open(stream.path, flagsOf(flags), modeOf(mode, 0o666));
    } catch (error) {
      return stream.destroy(error);
    }
    stream.pending = false;
    stream.emit("open", stream.fd);
    stream.emit("ready");
    stream.begin?.();
  });
}

function close(stream, autoClose, error, done) {
  const { fd } = stream;
  if (fd === null || !autoClose) return done(error);
  stream.fd = null;
  try {
    ops.close(fd);
    done(error);
  } catch (late) {
    done(error ?? late);
  }
}

export class ReadStream extends Readable {
  constructor(path, options) {
    const {
      start,
      end = Infinity,
      highWaterMark = 65536,
      autoClose = true,
      flags = "r",
      ...rest
    } = optionsOf(options);
    super({ ...rest, highWaterMark });
    this.bytesRead = 0;
    Object.defineProperty(this, "inner", {
      value: { at: start ?? null, left: end - (start ?? 0) + 1, autoClose },
      enumerable: false,
    });
    opened(this, path, { ...rest, flags });
  }
  begin() {
    if (this.waiting) this._read(this.waiting);
  }
  _read(size) {
    if (this.fd === null || this.pending) return void (this.waiting = size);
    try {
      const bytes = Buffer.from(ops.read(this.fd, Math.min(size, this.inner.left), this.inner.at));
      if (this.inner.at !== null) this.inner.at += bytes.length;
      this.inner.left -= bytes.length;
      this.bytesRead += bytes.length;
      this.push(bytes.length ? bytes : null);
    } catch (error) {
      this.destroy(error);
    }
  }
  _destroy(error, done) {
    close(this, this.inner.autoClose, error, done);
  }
  close(callback) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

export class WriteStream extends Writable {
  constructor(path, options) {
    const {
      start,
      autoClose = true,
      flags = start === undefined ? "w" : "r+",
      encoding,
      ...rest
    } = optionsOf(options);
    super({ ...rest, defaultEncoding: encoding });
    this.bytesWritten = 0;
    Object.defineProperty(this, "inner", { value: { at: start ?? null, autoClose }, enumerable: false });
    opened(this, path, { ...rest, flags });
  }
  begin() {
    this.waiting?.();
  }
  _write(chunk, _, done) {
    if (this.fd === null || this.pending) return void (this.waiting = () => this._write(chunk, _, done));
    try {
      for (let at = 0; at < chunk.length;)
        at += ops.write(this.fd, chunk.subarray(at), this.inner.at === null ? null : this.inner.at + at);
    } catch (error) {
      return done(error);
    }
    if (this.inner.at !== null) this.inner.at += chunk.length;
    this.bytesWritten += chunk.length;
    done();
  }
  _final(done) {
    // The file must exist even when nothing was written.
    if (this.pending) this.waiting = done;
    else done();
  }
  _destroy(error, done) {
    close(this, this.inner.autoClose, error, done);
  }
  close(callback) {
    if (callback) this.once("close", callback);
    this.end();
  }
}
