// AsyncLocalStorage. With the engine's promise hook each promise remembers the stores of where it was made, so they hold across
// `await`, `.then`, timers and microtasks. Not carried: emitters (a listener sees the stores of who emits) and, on an engine without
// the hook, `await` on native promises. `createHook` and async ids are accepted and never fire.
import * as ops from "haft:ops";
import { setBinder } from "haft:web/timers";

let current = null; // an immutable Map of storage to store, or null
let tracking = false;
const made = new WeakMap();
const stack = [];

function track() {
  if (tracking) return;
  tracking = true;
  setBinder((callback) => AsyncResource.bind(callback));
  if (!ops.promiseHook) return trackThen();
  ops.promiseHook((kind, promise) => {
    if (kind === 0) current && made.set(promise, current);
    else if (kind === 1) {
      stack.push(current);
      current = made.get(promise) ?? null;
    } else if (kind === 2 && stack.length) current = stack.pop();
  });
}

function trackThen() {
  const { then } = Promise.prototype;
  Promise.prototype.then = function (done, fail) {
    return then.call(this, typeof done === "function" ? AsyncResource.bind(done) : done, typeof fail === "function" ? AsyncResource.bind(fail) : fail);
  };
}

function within(stores, f, self, args) {
  const before = current;
  current = stores;
  try {
    return f.apply(self, args);
  } finally {
    current = before;
  }
}

export class AsyncResource {
  #stores = current;
  constructor(type) {
    this.type = type;
  }
  runInAsyncScope(f, self, ...args) { return within(this.#stores, f, self, args); }
  bind(f, self) {
    const resource = this;
    return function (...args) { return resource.runInAsyncScope(f, self ?? this, ...args); };
  }
  emitDestroy() { return this; }
  asyncId() { return 1; }
  triggerAsyncId() { return 0; }
  static bind(f, _type, self) { return new AsyncResource("bound").bind(f, self); }
}

export class AsyncLocalStorage {
  run(store, f, ...args) {
    track();
    return within(new Map(current).set(this, store), f, undefined, args);
  }
  exit(f, ...args) {
    const without = new Map(current);
    without.delete(this);
    return within(without, f, undefined, args);
  }
  getStore() { return current?.get(this); }
  enterWith(store) {
    track();
    current = new Map(current).set(this, store);
  }
  disable() {
    const without = new Map(current);
    without.delete(this);
    current = without;
  }
  static bind(f) { return AsyncResource.bind(f); }
  static snapshot() {
    const resource = new AsyncResource("snapshot");
    return (f, ...args) => resource.runInAsyncScope(f, undefined, ...args);
  }
}

export const createHook = () => ({ enable() { return this; }, disable() { return this; } });
export const executionAsyncId = () => 1;
export const triggerAsyncId = () => 0;
export const executionAsyncResource = () => ({});
export default { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, executionAsyncResource, triggerAsyncId };
