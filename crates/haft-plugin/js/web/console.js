// console: everything becomes a log line of haft, never text on the host's own output, which carries the
// protocol.
import { hrtime, log } from "haft:ops";
import { format, formatWithOptions } from "haft:node/parts/format";
import { inspect } from "haft:node/parts/inspect";
import { tableOf } from "haft:node/parts/table";

export class Console {
  #indent = "";
  #counts = new Map();
  #times = new Map();
  #write;
  // Node's `new Console({stdout, stderr})`: lines then go to those streams.
  constructor(options) {
    const { stdout, stderr = stdout } = options?.write ? { stdout: options } : (options ?? {});
    this.#write = stdout
      ? (level, text) => (level === "warn" || level === "error" ? stderr : stdout).write(`${text}\n`)
      : log;
    for (const name of Object.getOwnPropertyNames(Console.prototype)) {
      if (name !== "constructor")
        Object.defineProperty(this, name, {
          value: this[name].bind(this),
          writable: true,
          configurable: true,
          enumerable: true,
        });
    }
  }
  #say(level, text) {
    this.#write(
      level,
      this.#indent
        ? text
            .split("\n")
            .map((line) => this.#indent + line)
            .join("\n")
        : text,
    );
  }
  log(...args) {
    this.#say("info", format(...args));
  }
  info(...args) {
    this.#say("info", format(...args));
  }
  debug(...args) {
    this.#say("debug", format(...args));
  }
  warn(...args) {
    this.#say("warn", format(...args));
  }
  error(...args) {
    this.#say("error", format(...args));
  }
  trace(...args) {
    const stack = (new Error().stack ?? "")
      .split("\n")
      .filter((line) => /^\s*at /.test(line))
      .slice(1);
    this.#say("error", [`Trace${args.length ? `: ${format(...args)}` : ""}`, ...stack].join("\n"));
  }
  dir(value, options) {
    this.#say("info", inspect(value, { customInspect: false, ...options }));
  }
  dirxml(...args) {
    this.log(...args);
  }
  assert(holds, ...args) {
    if (holds) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    this.warn(...args);
  }
  clear() {}
  count(label = "default") {
    const next = (this.#counts.get(`${label}`) ?? 0) + 1;
    this.#counts.set(`${label}`, next);
    this.log(`${label}: ${next}`);
  }
  countReset(label = "default") {
    this.#counts.delete(`${label}`);
  }
  group(...args) {
    if (args.length) this.log(...args);
    this.#indent += "  ";
  }
  groupCollapsed(...args) {
    this.group(...args);
  }
  groupEnd() {
    this.#indent = this.#indent.slice(2);
  }
  table(data, columns) {
    typeof data === "object" && data !== null ? this.log(tableOf(data, columns)) : this.log(data);
  }
  time(label = "default") {
    this.#times.set(`${label}`, hrtime());
  }
  timeLog(label = "default", ...args) {
    const since = this.#times.get(`${label}`);
    if (since === undefined) return this.warn(`No such label '${label}' for console.timeLog()`);
    const ms = hrtime() - since;
    const shown = ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`;
    this.#say("info", `${label}: ${shown}${args.length ? ` ${formatWithOptions({}, ...args)}` : ""}`);
  }
  timeEnd(label = "default") {
    this.timeLog(label);
    this.#times.delete(`${label}`);
  }
  timeStamp() {}
}

export const console = new Console();
console.Console = Console;
