// What readable and writable streams share: being destroyed once, with `error` before `close`.
import { EventEmitter } from "haft:node/events";
import { coded } from "haft:node/parts/errors";

export const soon = (f, ...args) =>
  void Promise.resolve()
    .then(() => f(...args))
    .catch((error) => globalThis.reportError(error));
export const noop = () => {};

export class Stream extends EventEmitter {
  destroyed = false;
  closed = false;
  errored = null;
  _autoDestroy = true;
  constructor(options = {}) {
    super();
    for (const name of ["read", "write", "writev", "final", "transform", "flush", "destroy", "construct"]) {
      if (typeof options[name] === "function") this[`_${name}`] = options[name];
    }
    this._autoDestroy = options.autoDestroy !== false;
    this._emitClose = options.emitClose !== false;
    for (const name of ["destroyed", "closed", "errored", "_autoDestroy", "_emitClose"])
      Object.defineProperty(this, name, { enumerable: false });
    const { signal } = options;
    if (signal) addAbortSignal(signal, this);
  }
  destroy(error, callback) {
    if (this.destroyed) return this;
    this.destroyed = true;
    if (error) this.errored = error;
    const settle = (late) => {
      const failure = late ?? error;
      if (failure) this.errored = failure;
      soon(() => {
        this.closed = true;
        callback?.(failure);
        try {
          if (failure) this.emit("error", failure);
        } finally {
          if (this._emitClose) this.emit("close");
        }
      });
    };
    try {
      this._destroy(error ?? null, settle);
    } catch (thrown) {
      settle(thrown);
    }
    return this;
  }
  _destroy(error, done) {
    done(error);
  }
  pipe(target, options) {
    return pipe(this, target, options);
  }
  [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    if (!this.destroyed) this.destroy();
    return new Promise((done) => (this.closed ? done() : this.once("close", done)));
  }
}

export function pipe(source, target, { end = true } = {}) {
  const onData = (chunk) => {
    if (target.write(chunk) === false) {
      source.pause();
      target.once("drain", () => source.resume());
    }
  };
  const onEnd = () => target.end();
  source.on("data", onData);
  if (end && target !== globalThis.process?.stdout && target !== globalThis.process?.stderr)
    source.once("end", onEnd);
  const undo = () => {
    source.removeListener("data", onData);
    source.removeListener("end", onEnd);
    source._pipes = source._pipes?.filter((entry) => entry.target !== target);
  };
  (source._pipes ??= []).push({ target, undo });
  Object.defineProperty(source, "_pipes", { enumerable: false });
  target.once("unpipe", (from) => from === source && undo());
  target.emit("pipe", source);
  source.resume?.();
  return target;
}

export function addAbortSignal(signal, stream) {
  const stop = () =>
    stream.destroy(
      coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason }),
    );
  if (signal.aborted) soon(stop);
  else {
    signal.addEventListener("abort", stop, { once: true });
    stream.once("close", () => signal.removeEventListener("abort", stop));
  }
  return stream;
}
