// Event, CustomEvent and EventTarget: no tree, so neither capturing nor bubbling means anything here.
import { reportError } from "haft:web/report";

const INNER = Symbol("inner");

export class Event {
  constructor(type, { bubbles = false, cancelable = false, composed = false } = {}) {
    if (arguments.length === 0) throw new TypeError('The "type" argument must be specified');
    this[INNER] = {
      type: String(type),
      bubbles,
      cancelable,
      composed,
      prevented: false,
      stopped: false,
      target: null,
      time: Date.now(),
    };
    Object.defineProperty(this, INNER, { enumerable: false });
  }
  get type() {
    return this[INNER].type;
  }
  get bubbles() {
    return this[INNER].bubbles;
  }
  get cancelable() {
    return this[INNER].cancelable;
  }
  get composed() {
    return this[INNER].composed;
  }
  get defaultPrevented() {
    return this[INNER].prevented;
  }
  get returnValue() {
    return !this[INNER].prevented;
  }
  get target() {
    return this[INNER].target;
  }
  get currentTarget() {
    return this[INNER].target;
  }
  get srcElement() {
    return this[INNER].target;
  }
  get timeStamp() {
    return this[INNER].time;
  }
  get isTrusted() {
    return false;
  }
  get eventPhase() {
    return this[INNER].target ? 2 : 0;
  }
  get cancelBubble() {
    return this[INNER].stopped;
  }
  composedPath() {
    return this[INNER].target ? [this[INNER].target] : [];
  }
  preventDefault() {
    if (this[INNER].cancelable) this[INNER].prevented = true;
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this[INNER].stopped = true;
  }
  get [Symbol.toStringTag]() {
    return "Event";
  }
  static NONE = 0;
  static CAPTURING_PHASE = 1;
  static AT_TARGET = 2;
  static BUBBLING_PHASE = 3;
}

export class CustomEvent extends Event {
  #detail;
  constructor(type, options = {}) {
    super(type, options);
    this.#detail = options.detail ?? null;
  }
  get detail() {
    return this.#detail;
  }
  get [Symbol.toStringTag]() {
    return "CustomEvent";
  }
}

export class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener, options) {
    if (listener == null) return;
    const { once = false, signal } = typeof options === "object" && options ? options : {};
    const capture = typeof options === "boolean" ? options : Boolean(options?.capture);
    if (signal?.aborted) return;
    const list = this.#listeners.get(type) ?? [];
    if (list.some((entry) => entry.listener === listener && entry.capture === capture)) return;
    this.#listeners.set(type, [...list, { listener, once, capture }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, listener, { capture }), {
      once: true,
    });
  }
  removeEventListener(type, listener, options) {
    const capture = typeof options === "boolean" ? options : Boolean(options?.capture);
    const list = this.#listeners.get(type);
    if (list)
      this.#listeners.set(
        type,
        list.filter((entry) => entry.listener !== listener || entry.capture !== capture),
      );
  }
  dispatchEvent(event) {
    if (!(event instanceof Event)) throw new TypeError('The "event" argument must be an instance of Event');
    const inner = event[INNER];
    inner.target = this;
    for (const entry of this.#listeners.get(event.type) ?? []) {
      // One removed by an earlier listener of this very event must not run.
      if (!this.#listeners.get(event.type).includes(entry)) continue;
      if (entry.once) this.removeEventListener(event.type, entry.listener, entry.capture);
      try {
        if (typeof entry.listener === "function") entry.listener.call(this, event);
        else entry.listener.handleEvent(event);
      } catch (error) {
        reportError(error);
      }
      if (inner.stopped) break;
    }
    return !inner.prevented;
  }
  get [Symbol.toStringTag]() {
    return "EventTarget";
  }
}

// `target.onNAME = f` as an attribute that is one listener among the others.
export function handlerAttribute(prototype, name) {
  const held = new WeakMap();
  Object.defineProperty(prototype, `on${name}`, {
    configurable: true,
    enumerable: true,
    get() {
      return held.get(this)?.handler ?? null;
    },
    set(handler) {
      const before = held.get(this);
      if (before) this.removeEventListener(name, before.listener);
      if (typeof handler !== "function") return void held.delete(this);
      const listener = (event) => handler.call(this, event);
      held.set(this, { handler, listener });
      this.addEventListener(name, listener);
    },
  });
}
