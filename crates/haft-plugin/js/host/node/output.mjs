// What code prints becomes lines of haft's log.
import { Writable } from "node:stream";
import { format } from "node:util";
import { log } from "./ops.mjs";

const LEVELS = { log: "info", info: "info", debug: "debug", warn: "warn", error: "error", trace: "error" };

export function redirectOutput() {
  for (const [method, level] of Object.entries(LEVELS)) {
    console[method] = (...values) => log(level, format(...values));
  }
  for (const [name, fd, level] of [
    ["stdout", 1, "info"],
    ["stderr", 2, "error"],
  ]) {
    const stream = logStream(fd, level);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream });
  }
}

// Text is gathered into lines; what has no newline yet waits for one or for the next turn.
function logStream(fd, level) {
  let held = "";
  const flush = () => {
    if (held) log(level, held);
    held = "";
  };
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      const lines = (held + chunk.toString()).split("\n");
      held = lines.pop();
      for (const line of lines) log(level, line);
      if (held) queueMicrotask(flush);
      done();
    },
  });
  return Object.assign(stream, {
    fd,
    isTTY: false,
    columns: 80,
    hasColors: () => false,
    getColorDepth: () => 1,
  });
}
