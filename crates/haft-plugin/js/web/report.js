// Errors that nobody catches: a listener of the person's process hears them, else they are logged. They never
// end the host.
import { internal, log } from "haft:ops";

export function reportError(error) {
  const process = internal("node/process").default;
  if (process.listenerCount("uncaughtException"))
    process.emit("uncaughtException", error, "uncaughtException");
  else log("error", `Uncaught ${internal("node/parts/inspect").inspect(error)}`);
}

export function queueMicrotask(task) {
  if (typeof task !== "function") throw new TypeError('The "callback" argument must be of type function.');
  Promise.resolve().then(() => {
    try {
      task();
    } catch (error) {
      reportError(error);
    }
  });
}
