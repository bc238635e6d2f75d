// EventEmitter, and `once`/`on` for waiting on its events.
import { coded, invalidType, mustBeFunction } from "haft:node/parts/errors";
import { inspect } from "haft:node/parts/inspect";

const LISTENERS = Symbol("listeners");
const abortError = (signal) =>
  coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason });

// A plain function, so that old code may call `EventEmitter.call(this)` and inherit from it.
export function EventEmitter(options) {
  if (options?.captureRejections) this._captureRejections = true;
}
const listenersOf = (emitter) => {
  if (!Object.hasOwn(emitter, LISTENERS))
    Object.defineProperty(emitter, LISTENERS, { value: new Map(), enumerable: false });
  return emitter[LISTENERS];
};
const bare = (listener) => listener.listener ?? listener;

function add(emitter, event, listener, first) {
  mustBeFunction("listener", listener);
  const map = listenersOf(emitter);
  if (map.has("newListener")) emitter.emit("newListener", event, bare(listener));
  const list = map.get(event) ?? [];
  map.set(event, first ? [listener, ...list] : [...list, listener]);
  return emitter;
}

function onceWrapper(emitter, event, listener) {
  mustBeFunction("listener", listener);
  const wrapper = function (...args) {
    emitter.removeListener(event, wrapper);
    return listener.apply(emitter, args);
  };
  wrapper.listener = listener;
  return wrapper;
}

const methods = {
  on(event, listener) {
    return add(this, event, listener, false);
  },
  prependListener(event, listener) {
    return add(this, event, listener, true);
  },
  once(event, listener) {
    return this.on(event, onceWrapper(this, event, listener));
  },
  prependOnceListener(event, listener) {
    return this.prependListener(event, onceWrapper(this, event, listener));
  },
  removeListener(event, listener) {
    mustBeFunction("listener", listener);
    const map = listenersOf(this);
    const list = map.get(event) ?? [];
    const at = list.findLastIndex((item) => item === listener || item.listener === listener);
    if (at < 0) return this;
    const rest = list.toSpliced(at, 1);
    if (rest.length) map.set(event, rest);
    else map.delete(event);
    if (map.has("removeListener")) this.emit("removeListener", event, bare(list[at]));
    return this;
  },
  removeAllListeners(event) {
    const map = listenersOf(this);
    if (event === undefined) map.clear();
    else map.delete(event);
    return this;
  },
  emit(event, ...args) {
    const map = listenersOf(this);
    const list = map.get(event);
    if (event === "error") {
      for (const monitor of map.get(errorMonitor) ?? []) monitor.apply(this, args);
      if (!list) {
        if (args[0] instanceof Error) throw args[0];
        throw coded(
          Error,
          "ERR_UNHANDLED_ERROR",
          `Unhandled error. (${typeof args[0] === "string" ? `'${args[0]}'` : inspect(args[0])})`,
          { context: args[0] },
        );
      }
    }
    if (!list) return false;
    for (const listener of list) {
      const result = listener.apply(this, args);
      if (this._captureRejections && typeof result?.then === "function")
        result.then(undefined, (error) => this.emit("error", error));
    }
    return true;
  },
  eventNames() {
    return [...listenersOf(this).keys()];
  },
  listeners(event) {
    return (listenersOf(this).get(event) ?? []).map(bare);
  },
  rawListeners(event) {
    return [...(listenersOf(this).get(event) ?? [])];
  },
  listenerCount(event, listener) {
    const list = listenersOf(this).get(event) ?? [];
    return listener ? list.filter((item) => bare(item) === listener).length : list.length;
  },
  setMaxListeners(count) {
    this._maxListeners = count;
    return this;
  },
  getMaxListeners() {
    return this._maxListeners ?? EventEmitter.defaultMaxListeners;
  },
};
methods.addListener = methods.on;
methods.off = methods.removeListener;
for (const name in methods)
  Object.defineProperty(EventEmitter.prototype, name, {
    value: methods[name],
    writable: true,
    configurable: true,
    enumerable: true,
  });

export const errorMonitor = Symbol("events.errorMonitor");
export const captureRejectionSymbol = Symbol.for("nodejs.rejection");
export const defaultMaxListeners = 10;

export function once(emitter, event, { signal } = {}) {
  return new Promise((done, fail) => {
    if (signal?.aborted) return fail(abortError(signal));
    const target = typeof emitter.addEventListener === "function";
    const undo = () => {
      if (target) emitter.removeEventListener(event, ok);
      else {
        emitter.removeListener(event, ok);
        emitter.removeListener("error", bad);
      }
      signal?.removeEventListener("abort", stop);
    };
    const ok = (...args) => {
      undo();
      done(args);
    };
    const bad = (error) => {
      undo();
      fail(error);
    };
    const stop = () => bad(abortError(signal));
    if (target) emitter.addEventListener(event, ok, { once: true });
    else {
      emitter.once(event, ok);
      if (event !== "error") emitter.once("error", bad);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export function on(emitter, event, { signal, close = [] } = {}) {
  if (signal?.aborted) throw abortError(signal);
  const ready = [];
  const waiting = [];
  let ended = null;
  const push = (...args) =>
    waiting.length ? waiting.shift().done({ value: args, done: false }) : ready.push(args);
  const finish = (error) => {
    if (ended) return;
    ended = { error };
    emitter.removeListener(event, push);
    emitter.removeListener("error", finish);
    for (const { done, fail } of waiting.splice(0))
      error ? fail(error) : done({ value: undefined, done: true });
    if (error && waiting.length === 0) ended.pending = true;
  };
  emitter.on(event, push);
  if (event !== "error") emitter.on("error", finish);
  for (const name of close) emitter.once(name, () => finish());
  signal?.addEventListener("abort", () => finish(abortError(signal)), { once: true });
  return {
    next() {
      if (ready.length) return Promise.resolve({ value: ready.shift(), done: false });
      if (ended?.error && ended.pending) {
        ended.pending = false;
        return Promise.reject(ended.error);
      }
      if (ended) return Promise.resolve({ value: undefined, done: true });
      return new Promise((done, fail) => waiting.push({ done, fail }));
    },
    return() {
      finish();
      return Promise.resolve({ value: undefined, done: true });
    },
    throw(error) {
      if (!(error instanceof Error))
        throw invalidType("EventEmitter.AsyncIterator", "an instance of Error", error);
      finish(error);
      return Promise.resolve({ value: undefined, done: true });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

export const listenerCount = (emitter, event) => emitter.listenerCount(event);
export const getEventListeners = (emitter, event) => emitter.listeners(event);
export const getMaxListeners = (emitter) => emitter.getMaxListeners();
export function setMaxListeners(count, ...emitters) {
  for (const emitter of emitters) emitter.setMaxListeners?.(count);
}
export function addAbortListener(signal, listener) {
  signal.addEventListener("abort", listener, { once: true });
  return {
    [Symbol.dispose ?? Symbol.for("nodejs.dispose")]: () => signal.removeEventListener("abort", listener),
  };
}

Object.assign(EventEmitter, {
  EventEmitter,
  defaultMaxListeners,
  errorMonitor,
  captureRejectionSymbol,
  once,
  on,
  listenerCount,
  getEventListeners,
  getMaxListeners,
  setMaxListeners,
  addAbortListener,
});
export default EventEmitter;
