// AsyncLocalStorage. The engine tells nobody when an async function goes on, so the stores travel with the
// promises: while a store is set, reading `then` off a promise remembers it, and `await` is made to read
// `then` (see `track`). They hold across `await` of a promise, `.then`, timers and `nextTick`. They do not
// hold across `await` of a value that is no promise, nor into the listeners of an emitter, which see the
// stores of who emits. `createHook` and async ids are accepted and never fire.
import { setBinder } from "haft:web/timers";

let current = null; // an immutable Map of storage to store, or null
let tracking = false;

// Until the first store is set, promises stay as the engine made them.
function track() {
  if (tracking) return;
  tracking = true;
  setBinder((callback) => (current ? AsyncResource.bind(callback) : callback));
  const { then } = Promise.prototype;
  const job = (f) => void then.call(Promise.resolve(), f);
  // `await p` takes a short cut past `then` if p.constructor is Promise: for a moment it is not.
  const Other = Object.defineProperty(function () {}, "name", { value: "Promise" });
  Object.defineProperty(Other, Symbol.species, { value: Promise });
  const later = (f, stores) =>
    typeof f !== "function"
      ? f
      : (value) => {
          // f resumes an async function by one job: that job, and no other, runs between these two.
          job(() => (current = stores));
          f(value);
          job(() => (current = null));
        };
  Object.defineProperties(Promise.prototype, {
    constructor: { configurable: true, get: () => (current ? Other : Promise), set: own("constructor") },
    then: {
      configurable: true,
      get() {
        const stores = current;
        if (!stores) return then;
        return function (done, fail) {
          if (current !== stores) return then.call(this, later(done, stores), later(fail, stores));
          return then.call(this, bound(done), bound(fail));
        };
      },
      set: own("then"),
    },
  });
}
// Assigning on a promise itself must go on working.
const own = (name) =>
  function (value) {
    Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
  };
const bound = (f) => (typeof f === "function" ? AsyncResource.bind(f) : f);

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
  runInAsyncScope(f, self, ...args) {
    return within(this.#stores, f, self, args);
  }
  bind(f, self) {
    const resource = this;
    return function (...args) {
      return resource.runInAsyncScope(f, self ?? this, ...args);
    };
  }
  emitDestroy() {
    return this;
  }
  asyncId() {
    return 1;
  }
  triggerAsyncId() {
    return 0;
  }
  static bind(f, _type, self) {
    return new AsyncResource("bound").bind(f, self);
  }
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
  getStore() {
    return current?.get(this);
  }
  enterWith(store) {
    track();
    current = new Map(current).set(this, store);
  }
  disable() {
    const without = new Map(current);
    without.delete(this);
    current = without;
  }
  static bind(f) {
    return AsyncResource.bind(f);
  }
  static snapshot() {
    const resource = new AsyncResource("snapshot");
    return (f, ...args) => resource.runInAsyncScope(f, undefined, ...args);
  }
}

export const createHook = () => ({
  enable() {
    return this;
  },
  disable() {
    return this;
  },
});
export const executionAsyncId = () => 1;
export const triggerAsyncId = () => 0;
export const executionAsyncResource = () => ({});
export default {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
  triggerAsyncId,
};
