// ChildProcess: a running process with its pipes as streams.
import * as ops from "haft:ops";
import { EventEmitter } from "haft:node/events";
import { Buffer } from "haft:node/parts/buffer";
import { coded } from "haft:node/parts/errors";
import { commandOf, cwdOf, envOf, mustBeSignal, stdioOf } from "haft:node/parts/child-args";
import { Readable } from "haft:node/parts/readable";
import { soon } from "haft:node/parts/stream-base";
import { Writable } from "haft:node/parts/writable";

function outputOf(id, which) {
  return new Readable({
    async read() {
      try {
        const chunk = await ops.childRead(id, which);
        if (!this.destroyed) this.push(chunk === null ? null : Buffer.from(chunk));
      } catch (error) {
        this.destroy(error);
      }
    },
  });
}

const inputOf = (id) =>
  new Writable({
    write: (chunk, _, done) => void ops.childWrite(id, chunk).then(() => done(), done),
    final(done) {
      ops.childEnd(id);
      done();
    },
    destroy(error, done) {
      ops.childEnd(id);
      done(error);
    },
  });

// What the parent's own stream would have shown goes to the log, line by line.
async function copyToLog(id, which) {
  const text = new TextDecoder();
  let held = "";
  const level = which === 1 ? "info" : "warn";
  for (let chunk = await ops.childRead(id, which); chunk !== null; chunk = await ops.childRead(id, which)) {
    const lines = (held + text.decode(chunk, { stream: true })).split("\n");
    held = lines.pop();
    for (const line of lines) ops.log(level, line);
  }
  if (held) ops.log(level, held);
}

export class ChildProcess extends EventEmitter {
  #id = null;
  pid = undefined;
  exitCode = null;
  signalCode = null;
  killed = false;
  connected = false;
  stdin = null;
  stdout = null;
  stderr = null;
  stdio = [null, null, null];
  constructor(file, args, options) {
    super();
    this.spawnfile = file;
    this.spawnargs = [options.argv0 ?? file, ...args];
    const streams = stdioOf(options.stdio);
    try {
      const { id, pid } = ops.spawn({
        file,
        args,
        argv0: options.argv0,
        cwd: cwdOf(options),
        env: envOf(options),
        detached: Boolean(options.detached),
        stdin: streams[0].system,
        stdout: streams[1].system,
        stderr: streams[2].system,
      });
      this.#id = id;
      this.pid = pid;
    } catch (error) {
      soon(() => this.emit("error", Object.assign(error, { spawnargs: args })));
      return;
    }
    this.#connect(streams);
    this.#limit(options);
    soon(() => this.emit("spawn"));
  }
  #connect(streams) {
    const id = this.#id;
    if (streams[0].mode === "pipe") this.stdin = inputOf(id);
    const ends = [1, 2].map((which) => {
      const { mode } = streams[which];
      if (mode === "log") return copyToLog(id, which).catch(() => {});
      if (mode !== "pipe") return null;
      const stream = outputOf(id, which);
      this[which === 1 ? "stdout" : "stderr"] = stream;
      return new Promise((done) => stream.once("close", done));
    });
    this.stdio = [this.stdin, this.stdout, this.stderr];
    const ended = ops.childWait(id).then(({ code, signal }) => {
      this.exitCode = code;
      this.signalCode = signal;
      this.stdin?.destroy();
      this.emit("exit", code, signal);
      // Output that nobody reads must not keep `close` away.
      for (const stream of [this.stdout, this.stderr])
        if (stream && stream.readableFlowing === null && !stream.listenerCount("readable")) stream.resume();
    });
    Promise.all([ended, ...ends])
      .then(() => this.emit("close", this.exitCode, this.signalCode))
      .catch((error) => globalThis.reportError(error));
  }
  #limit({ timeout, signal, killSignal = "SIGTERM" }) {
    if (timeout > 0) {
      const timer = globalThis.setTimeout(() => this.kill(killSignal), timeout);
      this.once("exit", () => globalThis.clearTimeout(timer));
    }
    if (!signal) return;
    const stop = () => {
      if (this.kill(killSignal))
        this.emit(
          "error",
          coded(Error, "ABORT_ERR", "The operation was aborted", {
            name: "AbortError",
            cause: signal.reason,
          }),
        );
    };
    if (signal.aborted) soon(stop);
    else {
      signal.addEventListener("abort", stop, { once: true });
      this.once("exit", () => signal.removeEventListener("abort", stop));
    }
  }
  kill(signal = "SIGTERM") {
    if (this.#id === null || this.exitCode !== null || this.signalCode !== null) return false;
    if (signal === 0) return true;
    const sent = ops.childKill(this.#id, mustBeSignal(signal));
    if (sent) this.killed = true;
    return sent;
  }
  ref() {}
  unref() {}
  disconnect() {}
  [Symbol.dispose ?? Symbol.for("nodejs.dispose")]() {
    this.kill();
  }
}

export function spawn(file, args, options) {
  const command = commandOf(file, args, options);
  return new ChildProcess(command.file, command.args, command.options);
}
