// Timers as Node has them. All wait behind one `ops.sleep`, so that equal times fire in the order they were
// set, whatever the host's clock does. Nothing here keeps the host alive: haft decides when it ends, so `ref`
// and `unref` only remember.
import { cancelSleep, hrtime, sleep } from "haft:ops";
import { reportError } from "haft:web/report";

const timers = new Map();
let queue = []; // sorted by due time, then by id
let immediates = [];
let nextId = 1;
let armed = null;

function arm() {
  const due = immediates.length ? 0 : queue[0]?.due;
  if (armed && (due === undefined || armed.due > due)) {
    cancelSleep(armed.id);
    armed = null;
  }
  if (armed || due === undefined) return;
  const { id, promise } = sleep(due === 0 ? 0 : Math.max(0, due - hrtime()));
  const mine = (armed = { id, due });
  const fire = () => {
    if (armed !== mine) return;
    armed = null;
    turn();
  };
  promise.then(fire, fire);
}

// Each callback is a job of its own, so that what it resolves runs before the next one, as in Node.
async function turn() {
  const now = hrtime();
  const ready = [];
  while (queue.length && queue[0].due <= now) ready.push(queue.shift());
  const soon = immediates;
  immediates = [];
  arm();
  for (const timer of [...ready, ...soon]) {
    if (timer._destroyed || (timer.due !== undefined && timer.due > now)) continue;
    if (timer._repeat !== null) insert(timer);
    else forget(timer);
    try {
      timer._callback(...timer._args);
    } catch (error) {
      reportError(error);
    }
    await null;
  }
  arm();
}

function insert(timer) {
  timer.due = hrtime() + timer._idleTimeout;
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (queue[middle].due <= timer.due) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, timer);
  timers.set(timer._id, timer);
}

function forget(timer) {
  timer._destroyed = true;
  timers.delete(timer._id);
}

export class Timeout {
  constructor(callback, ms, args, repeat) {
    const wait = Number(ms);
    this._id = nextId++;
    this._idleTimeout = wait >= 1 && wait <= 2147483647 ? Math.trunc(wait) : 1;
    this._callback = callback;
    this._args = args;
    this._repeat = repeat ? this._idleTimeout : null;
    this._destroyed = false;
    this._ref = true;
  }
  ref() {
    this._ref = true;
    return this;
  }
  unref() {
    this._ref = false;
    return this;
  }
  hasRef() {
    return this._ref;
  }
  refresh() {
    if (this._destroyed) return this;
    queue = queue.filter((timer) => timer !== this);
    insert(this);
    arm();
    return this;
  }
  close() {
    clearTimeout(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this._id;
  }
  [Symbol.for("nodejs.dispose")]() {
    clearTimeout(this);
  }
}

export class Immediate extends Timeout {
  refresh() {
    return this;
  }
}

for (const kind of [Timeout]) if (Symbol.dispose) kind.prototype[Symbol.dispose] = kind.prototype.close;

function mustCall(callback) {
  if (typeof callback === "function") return;
  const error = new TypeError(
    `The "callback" argument must be of type function. Received ${callback === null ? "null" : typeof callback}`,
  );
  error.code = "ERR_INVALID_ARG_TYPE";
  throw error;
}

// `async_hooks` puts itself here once it is in use, so that a callback sees the stores of where it was set.
let bind = (callback) => callback;
export const setBinder = (binder) => void (bind = binder);

function start(callback, ms, args, repeat) {
  mustCall(callback);
  const timer = new Timeout(bind(callback), ms, args, repeat);
  insert(timer);
  arm();
  return timer;
}

export const setTimeout = (callback, ms, ...args) => start(callback, ms, args, false);
export const setInterval = (callback, ms, ...args) => start(callback, ms, args, true);
export function setImmediate(callback, ...args) {
  mustCall(callback);
  const timer = new Immediate(bind(callback), 1, args, false);
  immediates.push(timer);
  timers.set(timer._id, timer);
  arm();
  return timer;
}

// `util.promisify(setTimeout)` is the timer to await.
const PROMISIFY = Symbol.for("nodejs.util.promisify.custom");
setTimeout[PROMISIFY] = (ms, value) => new Promise((done) => setTimeout(done, ms, value));
setImmediate[PROMISIFY] = (value) => new Promise((done) => setImmediate(done, value));

export function clearTimeout(handle) {
  const timer = typeof handle === "object" ? handle : timers.get(Number(handle));
  if (!timer || timer._destroyed || !timers.has(timer._id)) return;
  forget(timer);
  queue = queue.filter((other) => other !== timer);
  immediates = immediates.filter((other) => other !== timer);
  arm();
}
export const clearInterval = clearTimeout;
export const clearImmediate = clearTimeout;
