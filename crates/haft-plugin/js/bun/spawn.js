// `Bun.spawn` and `Bun.spawnSync`.
import * as ops from "haft:ops";
import { which } from "haft:bun/which";
import { Buffer } from "haft:node/parts/buffer";
import { coded } from "haft:node/parts/errors";
import { signalName, signals } from "haft:node/parts/numbers";
import process from "haft:node/process";
import { ReadableStream } from "haft:web/readable";
import { Response } from "haft:web/response";
import { utf8, viewOf } from "haft:web/text";

// (cmd, options) or ({cmd, ...options}).
function commandOf(first, second = {}) {
  const { cmd, ...options } = Array.isArray(first) ? { ...second, cmd: first } : { ...second, ...first };
  if (!Array.isArray(cmd) || cmd.length === 0) throw new TypeError("cmd must be an array of strings");
  const [name, ...args] = cmd.map(String);
  const env = Object.fromEntries(
    Object.entries(options.env ?? process.env)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, String(value)]),
  );
  const file = which(name, { PATH: env.PATH ?? process.env.PATH, cwd: options.cwd ?? ops.cwd() });
  if (!file)
    throw coded(Error, "ENOENT", `Executable not found in $PATH: "${name}"`, { path: name, errno: -2 });
  const [stdin, stdout, stderr] = [0, 1, 2].map(
    (i) => options.stdio?.[i] ?? options[["stdin", "stdout", "stderr"][i]],
  );
  return {
    file,
    argv0: options.argv0 ?? name,
    args,
    env,
    cwd: options.cwd,
    options,
    stdin: stdin ?? "ignore",
    stdout: stdout ?? "pipe",
    stderr: stderr ?? "inherit",
  };
}

const systemOf = (kind) =>
  kind === "ignore" || kind === null ? "ignore" : typeof kind === "number" && kind > 2 ? kind : "pipe";
const logged = (kind) => kind === "inherit" || kind === 1 || kind === 2;

async function copyToLog(id, which) {
  const text = await new Response(streamOf(id, which)).text();
  if (text) ops.log(which === 1 ? "info" : "warn", text.replace(/\n$/, ""));
}

function streamOf(id, which) {
  const stream = new ReadableStream(
    {
      async pull(controller) {
        const chunk = await ops.childRead(id, which);
        if (chunk === null) controller.close();
        else controller.enqueue(new Uint8Array(chunk));
      },
    },
    { highWaterMark: 0 },
  );
  for (const name of ["text", "json", "bytes", "blob"])
    Object.defineProperty(stream, name, { value: () => new Response(stream)[name]() });
  return stream;
}

const sinkOf = (id) => ({
  write(data) {
    const bytes = typeof data === "string" ? utf8(data) : viewOf(data).slice();
    ops.childWrite(id, bytes).catch(() => {});
    return bytes.length;
  },
  flush: () => 0,
  end: () => void ops.childEnd(id),
  ref() {},
  unref() {},
});

async function feed(id, source) {
  const bytes =
    ArrayBuffer.isView(source) || source instanceof ArrayBuffer
      ? viewOf(source)
      : await new Response(source).bytes();
  try {
    await ops.childWrite(id, bytes);
  } catch {
    /* the child may end without reading it all */
  }
  ops.childEnd(id);
}

export class Subprocess {
  #id;
  #killed = false;
  exitCode = null;
  signalCode = null;
  constructor(command) {
    const { options, stdin, stdout, stderr } = command;
    const hasInput = stdin !== null && stdin !== "ignore" && stdin !== "inherit" && typeof stdin !== "number";
    const { id, pid } = ops.spawn({
      file: command.file,
      argv0: command.argv0,
      args: command.args,
      cwd: command.cwd,
      env: command.env,
      stdin: hasInput ? "pipe" : typeof stdin === "number" && stdin > 2 ? stdin : "ignore",
      stdout: systemOf(stdout),
      stderr: systemOf(stderr),
      detached: Boolean(options.detached),
    });
    this.#id = id;
    this.pid = pid;
    this.stdin = stdin === "pipe" ? sinkOf(id) : undefined;
    if (hasInput && stdin !== "pipe") feed(id, stdin);
    this.stdout = stdout === "pipe" ? streamOf(id, 1) : undefined;
    this.stderr = stderr === "pipe" ? streamOf(id, 2) : undefined;
    const copies = [
      [stdout, 1],
      [stderr, 2],
    ]
      .filter(([kind]) => logged(kind))
      .map(([, which]) => copyToLog(id, which).catch(() => {}));
    const timer =
      options.timeout > 0
        ? globalThis.setTimeout(() => this.kill(options.killSignal), options.timeout)
        : null;
    const stop = () => this.kill(options.killSignal);
    options.signal?.aborted ? stop() : options.signal?.addEventListener("abort", stop, { once: true });
    this.exited = Promise.all([ops.childWait(id), ...copies]).then(([{ code, signal }]) => {
      globalThis.clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
      this.exitCode = code;
      this.signalCode = signal;
      options.onExit?.(this, code, signal, null);
      return code ?? 128 + (signals[signal] ?? 0);
    });
  }
  get killed() {
    return this.#killed || this.exitCode !== null || this.signalCode !== null;
  }
  get readable() {
    return this.stdout;
  }
  kill(signal = "SIGTERM") {
    if (this.killed) return;
    this.#killed = ops.childKill(this.#id, signalName(signal) ?? "SIGTERM");
  }
  ref() {}
  unref() {}
  [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    this.kill();
    return this.exited;
  }
}

export const spawn = (first, second) => new Subprocess(commandOf(first, second));

export function spawnSync(first, second) {
  const { file, argv0, args, cwd, env, stdin, stdout, stderr, options } = commandOf(first, {
    stderr: "pipe",
    ...second,
  });
  const input = typeof stdin === "string" || stdin === null ? undefined : viewOf(stdin);
  const made = ops.spawnSync({
    file,
    argv0,
    args,
    cwd,
    env,
    input,
    stdout: systemOf(stdout),
    stderr: systemOf(stderr),
    timeoutMs: options.timeout,
    maxBuffer: options.maxBuffer,
  });
  const [out, err] = [made.stdout, made.stderr].map((bytes) => Buffer.from(bytes));
  if (logged(stdout) && out.length) ops.log("info", out.toString().replace(/\n$/, ""));
  if (logged(stderr) && err.length) ops.log("warn", err.toString().replace(/\n$/, ""));
  const exitCode = made.status ?? 128 + (signals[made.signal] ?? 0);
  return {
    exitCode,
    stdout: stdout === "pipe" ? out : undefined,
    stderr: stderr === "pipe" ? err : undefined,
    success: exitCode === 0,
    resourceUsage: undefined,
    pid: made.pid,
    ...(made.signal ? { signalCode: made.signal } : {}),
    ...(made.error?.code === "ETIMEDOUT" ? { exitedDueToTimeout: true } : {}),
  };
}
