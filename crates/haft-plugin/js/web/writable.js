// WritableStream and TransformStream, with writes in order and back-pressure between the two halves.
import { ReadableStream } from "haft:web/readable";

const STATE = Symbol("state");

class Writer {
  #inner;
  constructor(stream) {
    if (stream.locked) throw new TypeError("Invalid state: WritableStream is locked");
    this.#inner = stream[STATE];
    this.#inner.writer = this;
  }
  get closed() {
    return this.#inner.closed.promise;
  }
  get ready() {
    return this.#inner.pending >= this.#inner.highWaterMark
      ? this.#inner.chain.then(() => {})
      : Promise.resolve();
  }
  get desiredSize() {
    return this.#inner.state === "errored" ? null : this.#inner.highWaterMark - this.#inner.pending;
  }
  write(chunk) {
    return push(this.#inner, chunk);
  }
  close() {
    return close(this.#inner);
  }
  abort(reason) {
    return abort(this.#inner, reason);
  }
  releaseLock() {
    this.#inner.writer = null;
  }
}

function broken(inner, reason) {
  if (inner.state === "errored") return;
  inner.state = "errored";
  inner.reason = reason;
  inner.closed.reject(reason);
}

// Runs after everything before it; a failure fails the stream for all that follows.
function after(inner, step) {
  const turn = inner.chain.then(async () => {
    if (inner.state === "errored") throw inner.reason;
    try {
      return await step();
    } catch (error) {
      broken(inner, error);
      throw error;
    }
  });
  inner.chain = turn.catch(() => {});
  turn.catch(() => {});
  return turn;
}

function push(inner, chunk) {
  if (inner.state === "errored") return Promise.reject(inner.reason);
  if (inner.state !== "writable")
    return Promise.reject(new TypeError("Invalid state: WritableStream is closed"));
  inner.pending += 1;
  return after(inner, async () => {
    try {
      await inner.sink.write?.(chunk, inner.controller);
    } finally {
      inner.pending -= 1;
    }
  });
}

function close(inner) {
  if (inner.state === "errored") return Promise.reject(inner.reason);
  if (inner.state !== "writable")
    return Promise.reject(new TypeError("Invalid state: WritableStream is closed"));
  inner.state = "closing";
  return after(inner, async () => {
    await inner.sink.close?.();
    inner.state = "closed";
    inner.closed.resolve();
  });
}

async function abort(inner, reason) {
  if (inner.state === "errored" || inner.state === "closed") return;
  broken(inner, reason);
  inner.aborter.abort?.(reason);
  await inner.sink.abort?.(reason);
}

export class WritableStream {
  constructor(sink = {}, strategy = {}) {
    const closed = Promise.withResolvers();
    closed.promise.catch(() => {});
    const inner = {
      sink,
      closed,
      state: "writable",
      reason: undefined,
      writer: null,
      pending: 0,
      highWaterMark: strategy.highWaterMark ?? 1,
      aborter: {},
    };
    inner.controller = {
      error: (reason) => broken(inner, reason),
      get signal() {
        return (inner.aborter = new globalThis.AbortController()).signal;
      },
    };
    Object.defineProperty(this, STATE, { value: inner });
    inner.chain = Promise.resolve(sink.start?.(inner.controller)).then(
      () => {},
      (reason) => broken(inner, reason),
    );
  }
  get locked() {
    return this[STATE].writer !== null;
  }
  getWriter() {
    return new Writer(this);
  }
  abort(reason) {
    return abort(this[STATE], reason);
  }
  close() {
    return close(this[STATE]);
  }
  get [Symbol.toStringTag]() {
    return "WritableStream";
  }
}

export class TransformStream {
  constructor(transformer = {}, writableStrategy, readableStrategy = { highWaterMark: 0 }) {
    let out;
    let wanted = Promise.withResolvers();
    const controller = {
      enqueue: (chunk) => out.enqueue(chunk),
      error: (reason) => {
        out.error(reason);
        broken(this.writable[STATE], reason);
      },
      terminate: () => {
        out.close();
        broken(this.writable[STATE], new TypeError("Invalid state: TransformStream has been terminated"));
      },
      get desiredSize() {
        return out.desiredSize;
      },
    };
    this.readable = new ReadableStream(
      {
        start: (made) => void (out = made),
        pull: () => wanted.resolve(),
        cancel: async (reason) => {
          await transformer.cancel?.(reason);
          broken(this.writable[STATE], reason);
          wanted.resolve();
        },
      },
      readableStrategy,
    );
    this.writable = new WritableStream(
      {
        start: () => transformer.start?.(controller),
        async write(chunk) {
          await wanted.promise;
          if (out.desiredSize === null) return;
          try {
            if (transformer.transform) await transformer.transform(chunk, controller);
            else controller.enqueue(chunk);
          } catch (error) {
            out.error(error);
            throw error;
          }
          if (out.desiredSize <= 0) wanted = Promise.withResolvers();
        },
        async close() {
          try {
            await transformer.flush?.(controller);
          } catch (error) {
            out.error(error);
            throw error;
          }
          try {
            out.close();
          } catch {
            /* terminated */
          }
        },
        abort: (reason) => out.error(reason),
      },
      writableStrategy,
    );
  }
  get [Symbol.toStringTag]() {
    return "TransformStream";
  }
}

export class CountQueuingStrategy {
  constructor({ highWaterMark }) {
    this.highWaterMark = highWaterMark;
  }
  size() {
    return 1;
  }
}
export class ByteLengthQueuingStrategy extends CountQueuingStrategy {
  size(chunk) {
    return chunk.byteLength;
  }
}
