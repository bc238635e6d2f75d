// Timers to await.
import { coded } from "haft:node/parts/errors";
import * as timers from "haft:web/timers";

const stopped = (signal) =>
  coded(Error, "ABORT_ERR", "The operation was aborted", { name: "AbortError", cause: signal.reason });

function waitFor(start, clear, value, signal) {
  if (signal?.aborted) return Promise.reject(stopped(signal));
  return new Promise((done, fail) => {
    const stop = () => {
      clear(timer);
      fail(stopped(signal));
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", stop);
      done(value);
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export const setTimeout = (ms, value, { signal } = {}) =>
  waitFor((f) => timers.setTimeout(f, ms), timers.clearTimeout, value, signal);
export const setImmediate = (value, { signal } = {}) =>
  waitFor((f) => timers.setImmediate(f), timers.clearImmediate, value, signal);
export async function* setInterval(ms, value, { signal } = {}) {
  for (;;) yield await setTimeout(ms, value, { signal });
}
export const scheduler = {
  wait: (ms, options) => setTimeout(ms, undefined, options),
  yield: () => setImmediate(),
};
export default { scheduler, setImmediate, setInterval, setTimeout };
