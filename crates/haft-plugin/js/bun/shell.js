// Bun's `$`. The script runs in bash (sh if there is none) as a child like any other, so haft's confinement
// holds for it. Differences from Bun, whose shell is its own: messages and the code of a missing command are
// bash's (127), and a glob without a match stays as it is.
import * as ops from "haft:ops";
import { braces } from "haft:bun/braces";
import { ShellError, ShellOutput } from "haft:bun/output";
import { escape, scriptOf, withVariables } from "haft:bun/script";
import { which } from "haft:bun/which";
import { Buffer } from "haft:node/parts/buffer";
import process from "haft:node/process";

// The kernel limits one argument to 128 KiB; a longer script goes through a file.
const LONGEST_ARGUMENT = 100_000;

const shellFile = () => which("bash") ?? which("sh") ?? "/bin/sh";

function levelLogger(level) {
  const decoder = new globalThis.TextDecoder();
  let held = "";
  return {
    feed(chunk) {
      const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
      held = lines.pop();
      for (const line of lines) ops.log(level, line);
    },
    end() {
      if (held) ops.log(level, held);
    },
  };
}

async function drain(id, which, logger) {
  const chunks = [];
  for (let chunk = await ops.childRead(id, which); chunk !== null; chunk = await ops.childRead(id, which)) {
    chunks.push(new Uint8Array(chunk));
    logger?.feed(chunk);
  }
  logger?.end();
  return Buffer.concat(chunks);
}

async function dataOf(value) {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (typeof value.getReader === "function") return new globalThis.Response(value).bytes();
  return new Uint8Array(await value.arrayBuffer());
}

// Files that stand in for the objects of redirections, in a folder of their own that is removed afterwards.
class Scratch {
  #folder = null;
  #outputs = [];
  file(name) {
    this.#folder ??= ops.mkdtemp(`${ops.tmpdir()}/haft-shell-`);
    return `${this.#folder}/${name}`;
  }
  async pathFor({ kind, value }, name) {
    // Bun.file(…) is a path already.
    if (typeof value.name === "string" && value.isBunFile) return value.name;
    const path = this.file(name);
    if (kind === "in") ops.writeFile(path, await dataOf(value), {});
    else {
      if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer))
        throw new Error("a shell command can write into a buffer or a Bun.file, not into this object");
      this.#outputs.push({
        path,
        target: new Uint8Array(value.buffer ?? value, value.byteOffset ?? 0, value.byteLength),
      });
    }
    return path;
  }
  finish() {
    for (const { path, target } of this.#outputs) {
      try {
        target.set(new Uint8Array(ops.readFile(path)).subarray(0, target.length));
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
      }
    }
  }
  remove() {
    if (this.#folder) ops.rm(this.#folder, { recursive: true, force: true });
  }
}

async function execute({ script: text, values, redirections }, { cwd, env, quiet, throws }) {
  const scratch = new Scratch();
  try {
    const filled = [...values];
    for (const redirection of redirections)
      filled[redirection.at] = await scratch.pathFor(redirection, `${redirection.at}`);
    const script = withVariables(text, filled);
    let args = ["-c", script];
    if (script.length > LONGEST_ARGUMENT) {
      const file = scratch.file("script");
      ops.writeFile(file, Buffer.from(script), { mode: 0o600 });
      args = [file];
    }
    const { id } = ops.spawn({
      file: shellFile(),
      args,
      cwd,
      env: { ...(env ?? process.env) },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, { code, signal }] = await Promise.all([
      drain(id, 1, quiet ? null : levelLogger("info")),
      drain(id, 2, quiet ? null : levelLogger("warn")),
      ops.childWait(id),
    ]);
    scratch.finish();
    const output = new ShellOutput(stdout, stderr, code ?? 128 + (SIGNALS[signal] ?? 0));
    if (throws && output.exitCode !== 0) throw new ShellError(output);
    return output;
  } finally {
    scratch.remove();
  }
}
const SIGNALS = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

export class ShellPromise extends Promise {
  #command;
  #settings;
  #started = false;
  #settle;
  constructor(command, settings) {
    // Derived promises (`finally`) are made by the engine with an executor: those are plain ones.
    if (typeof command === "function") return new Promise(command);
    let settle;
    super((done, fail) => void (settle = { done, fail }));
    this.#command = command;
    this.#settings = settings;
    this.#settle = settle;
  }
  static get [Symbol.species]() {
    return Promise;
  }
  #change(change) {
    if (this.#started) throw new Error("Shell is already running");
    Object.assign(this.#settings, change);
    return this;
  }
  cwd(path) {
    return this.#change({
      cwd: path === undefined || path === "" || path === "." ? ops.cwd() : String(path),
    });
  }
  env(env) {
    return this.#change({ env: env ?? undefined });
  }
  quiet(quiet = true) {
    return this.#change({ quiet });
  }
  nothrow() {
    return this.#change({ throws: false });
  }
  throws(throws = true) {
    return this.#change({ throws: Boolean(throws) });
  }
  // Nothing runs before somebody asks for the result.
  run() {
    if (!this.#started) {
      this.#started = true;
      execute(this.#command, this.#settings).then(this.#settle.done, this.#settle.fail);
    }
    return this;
  }
  // A getter, because `AsyncLocalStorage` looks at who reads `then`.
  get then() {
    const then = super.then;
    return (done, fail) => {
      this.run();
      return then.call(this, done, fail);
    };
  }
  async #read(name, ...args) {
    if (!this.#started) this.quiet();
    return (await this)[name](...args);
  }
  text(encoding) {
    return this.#read("text", encoding);
  }
  json() {
    return this.#read("json");
  }
  arrayBuffer() {
    return this.#read("arrayBuffer");
  }
  bytes() {
    return this.#read("bytes");
  }
  blob() {
    return this.#read("blob");
  }
  async *lines() {
    for (const line of (await this.text()).split("\n")) yield line;
  }
}

function makeShell() {
  const defaults = { cwd: undefined, env: undefined, throws: true, quiet: false };
  const $ = (strings, ...values) => {
    if (!Array.isArray(strings?.raw)) throw new Error("$ is a template tag: write $`command`");
    return new ShellPromise(scriptOf(strings, values), { ...defaults });
  };
  const set = (change) => {
    Object.assign(defaults, change);
    return $;
  };
  Object.assign($, {
    cwd: (path) =>
      set({
        cwd: path === undefined || path === "" || path === "." || path === "./" ? undefined : String(path),
      }),
    env: (env) => set({ env: env ?? undefined }),
    nothrow: () => set({ throws: false }),
    throws: (throws = true) => set({ throws: Boolean(throws) }),
  });
  return $;
}

export const $ = makeShell();
Object.assign($, {
  Shell: function Shell() {
    return makeShell();
  },
  ShellError,
  ShellOutput,
  ShellPromise,
  braces,
  escape,
});
