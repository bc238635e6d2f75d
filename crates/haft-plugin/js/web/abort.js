// AbortController and AbortSignal.
import { DOMException } from "haft:web/dom-exception";
import { Event, EventTarget, handlerAttribute } from "haft:web/event";
import { setTimeout } from "haft:web/timers";

const KEY = Symbol("only the controller makes signals");
const ABORT = Symbol("abort");

export class AbortSignal extends EventTarget {
  #aborted = false;
  #reason = undefined;
  constructor(key) {
    if (key !== KEY) throw new TypeError("Illegal constructor");
    super();
  }
  get aborted() {
    return this.#aborted;
  }
  get reason() {
    return this.#reason;
  }
  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }
  [ABORT](reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason =
      reason === undefined ? new DOMException("This operation was aborted", "AbortError") : reason;
    this.dispatchEvent(new Event("abort"));
  }
  get [Symbol.toStringTag]() {
    return "AbortSignal";
  }

  static abort(reason) {
    const signal = new AbortSignal(KEY);
    signal[ABORT](reason);
    return signal;
  }
  static timeout(ms) {
    const signal = new AbortSignal(KEY);
    setTimeout(
      () => signal[ABORT](new DOMException("The operation was aborted due to timeout", "TimeoutError")),
      ms,
    );
    return signal;
  }
  static any(signals) {
    const any = new AbortSignal(KEY);
    for (const signal of signals) {
      if (signal.aborted) {
        any[ABORT](signal.reason);
        break;
      }
      signal.addEventListener("abort", () => any[ABORT](signal.reason), { once: true, signal: any });
    }
    return any;
  }
}
handlerAttribute(AbortSignal.prototype, "abort");

export class AbortController {
  #signal = new AbortSignal(KEY);
  get signal() {
    return this.#signal;
  }
  abort(reason) {
    this.#signal[ABORT](reason);
  }
  get [Symbol.toStringTag]() {
    return "AbortController";
  }
}

// A promise that the signal can reject; `undo` runs then.
export function withSignal(promise, signal, undo) {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    undo?.();
    return Promise.reject(signal.reason);
  }
  return new Promise((done, fail) => {
    const stop = () => {
      undo?.();
      fail(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    promise.then(done, fail).finally(() => signal.removeEventListener("abort", stop));
  });
}
