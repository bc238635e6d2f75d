// `diagnostics_channel`: named channels between libraries; nothing of the engine publishes on them.
import { mustBeFunction } from "haft:node/parts/errors";
import { reportError } from "haft:web/report";

const channels = new Map();

export class Channel {
  #listeners = [];
  constructor(name) {
    this.name = name;
  }
  get hasSubscribers() {
    return this.#listeners.length > 0;
  }
  subscribe(listener) {
    this.#listeners = [...this.#listeners, mustBeFunction("subscription", listener)];
  }
  unsubscribe(listener) {
    const before = this.#listeners.length;
    this.#listeners = this.#listeners.filter((other) => other !== listener);
    return this.#listeners.length < before;
  }
  publish(message) {
    for (const listener of this.#listeners) {
      try {
        listener(message, this.name);
      } catch (error) {
        reportError(error);
      }
    }
  }
  bindStore() {}
  unbindStore() {
    return false;
  }
  runStores(message, f, self, ...args) {
    this.publish(message);
    return f.apply(self, args);
  }
}

export function channel(name) {
  if (!channels.has(name)) channels.set(name, new Channel(name));
  return channels.get(name);
}
export const hasSubscribers = (name) => channels.get(name)?.hasSubscribers ?? false;
export const subscribe = (name, listener) => channel(name).subscribe(listener);
export const unsubscribe = (name, listener) => channel(name).unsubscribe(listener);

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"];
export function tracingChannel(names) {
  const made =
    typeof names === "string"
      ? Object.fromEntries(EVENTS.map((event) => [event, channel(`tracing:${names}:${event}`)]))
      : { ...names };
  const traced = (f, context, self, args, finish) => {
    made.start.publish(context);
    try {
      return finish(f.apply(self, args));
    } catch (error) {
      context.error = error;
      made.error.publish(context);
      throw error;
    } finally {
      made.end.publish(context);
    }
  };
  return Object.assign(made, {
    subscribe: (listeners) => {
      for (const event of EVENTS) if (listeners[event]) made[event].subscribe(listeners[event]);
    },
    unsubscribe: (listeners) =>
      EVENTS.every((event) => !listeners[event] || made[event].unsubscribe(listeners[event])),
    traceSync: (f, context = {}, self, ...args) =>
      traced(f, context, self, args, (result) => (context.result = result)),
    tracePromise: (f, context = {}, self, ...args) =>
      traced(f, context, self, args, (promise) =>
        Promise.resolve(promise).then(
          (result) => {
            context.result = result;
            made.asyncStart.publish(context);
            made.asyncEnd.publish(context);
            return result;
          },
          (error) => {
            context.error = error;
            made.error.publish(context);
            throw error;
          },
        ),
      ),
    traceCallback: (f, position, context, self, ...args) => f.apply(self, args),
  });
}
export default { Channel, channel, hasSubscribers, subscribe, tracingChannel, unsubscribe };
