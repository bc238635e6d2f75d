// ReadableStream: default readers, pulling under back-pressure, tee, pipes and async iteration. Byte streams
// (`type: "bytes"`) are read by default readers only; there are no "bring your own buffer" readers.

const STATE = Symbol("state");

class Controller {
  constructor(stream, strategy) {
    Object.defineProperty(this, STATE, { value: { stream, strategy } });
  }
  get desiredSize() {
    const { state, queued, highWaterMark } = this[STATE].stream[STATE];
    return state === "errored" ? null : state === "closed" ? 0 : highWaterMark - queued;
  }
  get byobRequest() {
    return null;
  }
  enqueue(chunk) {
    const inner = this[STATE].stream[STATE];
    if (inner.state !== "readable" || inner.closing)
      throw new TypeError("Invalid state: Controller is already closed");
    if (inner.waiting.length) inner.waiting.shift().done({ value: chunk, done: false });
    else {
      const size = this[STATE].strategy?.size?.(chunk) ?? 1;
      inner.queue.push({ chunk, size });
      inner.queued += size;
    }
    pull(inner);
  }
  close() {
    const inner = this[STATE].stream[STATE];
    if (inner.state !== "readable" || inner.closing)
      throw new TypeError("Invalid state: Controller is already closed");
    inner.closing = true;
    if (inner.queue.length === 0) finish(inner);
  }
  error(reason) {
    fail(this[STATE].stream[STATE], reason);
  }
}

function finish(inner) {
  inner.state = "closed";
  for (const { done } of inner.waiting.splice(0)) done({ value: undefined, done: true });
  inner.closed.resolve();
}

function fail(inner, reason) {
  if (inner.state !== "readable") return;
  Object.assign(inner, { state: "errored", reason, queue: [], queued: 0 });
  for (const { fail } of inner.waiting.splice(0)) fail(reason);
  inner.closed.reject(reason);
}

function pull(inner) {
  if (!inner.started || inner.state !== "readable" || inner.closing || !inner.source.pull) return;
  if (inner.waiting.length === 0 && inner.queued >= inner.highWaterMark) return;
  if (inner.pulling) return void (inner.again = true);
  inner.pulling = true;
  Promise.resolve()
    .then(() => inner.source.pull(inner.controller))
    .then(
      () => {
        inner.pulling = false;
        if (inner.again) {
          inner.again = false;
          pull(inner);
        }
      },
      (reason) => fail(inner, reason),
    );
}

async function cancel(inner, reason) {
  if (inner.state === "errored") throw inner.reason;
  if (inner.state === "closed") return;
  inner.queue = [];
  inner.queued = 0;
  finish(inner);
  await inner.source.cancel?.(reason);
}

export class ReadableStreamDefaultReader {
  #inner;
  #lost = null;
  constructor(stream) {
    if (stream.locked) throw new TypeError("Invalid state: ReadableStream is locked");
    this.#inner = stream[STATE];
    this.#inner.reader = this;
  }
  #mustHold() {
    if (!this.#inner) throw this.#lost;
  }
  get closed() {
    return this.#inner ? this.#inner.closed.promise : Promise.reject(this.#lost);
  }
  async read() {
    this.#mustHold();
    const inner = this.#inner;
    inner.disturbed = true;
    if (inner.queue.length) {
      const { chunk, size } = inner.queue.shift();
      inner.queued -= size;
      if (inner.closing && inner.queue.length === 0) finish(inner);
      else pull(inner);
      return { value: chunk, done: false };
    }
    if (inner.state === "closed") return { value: undefined, done: true };
    if (inner.state === "errored") throw inner.reason;
    const answer = new Promise((done, fail) => inner.waiting.push({ done, fail }));
    pull(inner);
    return answer;
  }
  async cancel(reason) {
    this.#mustHold();
    this.#inner.disturbed = true;
    return cancel(this.#inner, reason);
  }
  releaseLock() {
    if (!this.#inner) return;
    this.#lost = new TypeError("Invalid state: The reader is not attached to a stream");
    for (const { fail } of this.#inner.waiting.splice(0)) fail(this.#lost);
    this.#inner.reader = null;
    this.#inner = null;
  }
}

export class ReadableStream {
  constructor(source = {}, strategy = {}) {
    const closed = Promise.withResolvers();
    closed.promise.catch(() => {});
    const inner = {
      source,
      closed,
      state: "readable",
      reason: undefined,
      queue: [],
      queued: 0,
      waiting: [],
      reader: null,
      started: false,
      closing: false,
      pulling: false,
      again: false,
      disturbed: false,
      highWaterMark: strategy.highWaterMark ?? (source.type === "bytes" ? 0 : 1),
    };
    Object.defineProperty(this, STATE, { value: inner });
    inner.controller = new Controller(this, strategy);
    const begun = source.start?.(inner.controller);
    Promise.resolve(begun).then(
      () => {
        inner.started = true;
        pull(inner);
      },
      (reason) => fail(inner, reason),
    );
  }
  get locked() {
    return this[STATE].reader !== null;
  }
  getReader(options) {
    if (options?.mode === "byob")
      throw new TypeError("byob readers are not offered by haft's own engine; use getReader()");
    return new ReadableStreamDefaultReader(this);
  }
  async cancel(reason) {
    if (this.locked) throw new TypeError("Invalid state: ReadableStream is locked");
    this[STATE].disturbed = true;
    return cancel(this[STATE], reason);
  }
  async *values({ preventCancel = false } = {}) {
    const reader = this.getReader();
    let ended = false;
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) {
          ended = true;
          return;
        }
        yield value;
      }
    } catch (error) {
      ended = true;
      throw error;
    } finally {
      if (!ended && !preventCancel) await reader.cancel();
      reader.releaseLock();
    }
  }
  [Symbol.asyncIterator](options) {
    return this.values(options);
  }
  tee() {
    const reader = this.getReader();
    const reasons = [];
    const cancelled = Promise.withResolvers();
    let reading = false;
    const branches = [];
    const step = async () => {
      if (reading) return;
      reading = true;
      try {
        const { value, done } = await reader.read();
        reading = false;
        branches.forEach(
          ({ controller }, i) => !(i in reasons) && (done ? controller.close() : controller.enqueue(value)),
        );
      } catch (error) {
        for (const { controller } of branches) controller.error(error);
      }
    };
    const make = (i) => {
      const branch = { controller: null };
      branches.push(branch);
      return new ReadableStream(
        {
          start: (controller) => void (branch.controller = controller),
          pull: step,
          cancel(reason) {
            reasons[i] = reason;
            if (0 in reasons && 1 in reasons)
              reader.cancel(reasons).then(cancelled.resolve, cancelled.reject);
            return cancelled.promise;
          },
        },
        { highWaterMark: 0 },
      );
    };
    return [make(0), make(1)];
  }
  async pipeTo(target, { preventClose, preventAbort, preventCancel, signal } = {}) {
    const reader = this.getReader();
    const writer = target.getWriter();
    try {
      for (;;) {
        signal?.throwIfAborted();
        await writer.ready;
        const { value, done } = await reader.read();
        if (done) break;
        await writer.write(value);
      }
      if (!preventClose) await writer.close();
    } catch (error) {
      if (!preventCancel) await reader.cancel(error).catch(() => {});
      if (!preventAbort) await writer.abort(error).catch(() => {});
      throw error;
    } finally {
      reader.releaseLock();
      writer.releaseLock();
    }
  }
  pipeThrough({ writable, readable }, options) {
    this.pipeTo(writable, options).catch(() => {});
    return readable;
  }
  static from(source) {
    const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]();
    return new ReadableStream(
      {
        async pull(controller) {
          const { value, done } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(await value);
        },
        cancel: (reason) => iterator.return?.(reason),
      },
      { highWaterMark: 0 },
    );
  }
  get [Symbol.toStringTag]() {
    return "ReadableStream";
  }
}

// Whether somebody has read from it: a body may be used once only.
export const disturbed = (stream) => stream[STATE].disturbed;
