// `readline`: lines out of a stream. There is no terminal, so nothing of its editing.
import { internal } from "haft:ops";
import { EventEmitter } from "haft:node/events";
import { StringDecoder } from "haft:node/string_decoder";

export class Interface extends EventEmitter {
  closed = false;
  line = "";
  terminal = false;
  #held = "";
  #asked = [];
  #prompt;
  constructor(options, output) {
    super();
    const {
      input,
      prompt = "> ",
      signal,
      ...rest
    } = typeof options?.on === "function" ? { input: options, output } : options;
    this.input = input;
    this.output = rest.output;
    this.#prompt = prompt;
    const decoder = new StringDecoder("utf8");
    this.onData = (chunk) => this.#feed(typeof chunk === "string" ? chunk : decoder.write(chunk));
    this.onEnd = () => {
      this.#feed(decoder.end());
      if (this.#held) this.#give(this.#held);
      this.#held = "";
      this.close();
    };
    input.on("data", this.onData);
    input.on("end", this.onEnd);
    input.on("error", (error) => this.listenerCount("error") && this.emit("error", error));
    signal?.addEventListener("abort", () => this.close(), { once: true });
  }
  #feed(text) {
    // A lone \r at the very end may be half of \r\n.
    const whole = this.#held + text;
    const lines = whole.split(/\r\n|\n|\r(?!$)/);
    this.#held = lines.pop();
    for (const line of lines) this.#give(line);
  }
  #give(line) {
    if (this.closed) return;
    const waiting = this.#asked.shift();
    if (waiting) waiting(line);
    else this.emit("line", line);
  }
  setPrompt(prompt) {
    this.#prompt = prompt;
  }
  getPrompt() {
    return this.#prompt;
  }
  prompt() {
    this.output?.write(this.#prompt);
  }
  question(query, options, callback = options) {
    this.output?.write(query);
    this.#asked.push(callback);
  }
  write() {}
  pause() {
    this.input.pause();
    this.emit("pause");
    return this;
  }
  resume() {
    this.input.resume();
    this.emit("resume");
    return this;
  }
  close() {
    if (this.closed) return;
    this.closed = true;
    this.input.removeListener("data", this.onData);
    this.input.removeListener("end", this.onEnd);
    this.input.pause?.();
    this.emit("close");
  }
  async *[Symbol.asyncIterator]() {
    const lines = [];
    let wake = Promise.withResolvers();
    let failure = null;
    this.on("line", (line) => {
      lines.push(line);
      wake.resolve();
    });
    this.once("close", () => wake.resolve());
    this.input.once("error", (error) => {
      failure = error;
      wake.resolve();
    });
    try {
      for (;;) {
        while (lines.length) yield lines.shift();
        if (failure) throw failure;
        if (this.closed) return;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      this.close();
    }
  }
  [Symbol.dispose ?? Symbol.for("nodejs.dispose")]() {
    this.close();
  }
}

export const createInterface = (options, output) => new Interface(options, output);
const done = (args) => {
  args.find((arg) => typeof arg === "function")?.();
  return true;
};
export const clearLine = (...args) => done(args);
export const clearScreenDown = (...args) => done(args);
export const cursorTo = (...args) => done(args);
export const moveCursor = (...args) => done(args);
export const emitKeypressEvents = () => {};
const readline = {
  Interface,
  clearLine,
  clearScreenDown,
  createInterface,
  cursorTo,
  emitKeypressEvents,
  moveCursor,
  get promises() {
    return internal("node/readline/promises").default;
  },
};
export default readline;
