// `process`. The environment is read once and then belongs to JavaScript; children are given it explicitly.
// Output goes to haft's log, never to the host's own stdout, which carries the protocol.
import * as ops from "haft:ops";
import { EventEmitter } from "haft:node/events";
import { coded, invalidType, mustBeFunction } from "haft:node/parts/errors";
import { signalName } from "haft:node/parts/numbers";
import { reportError } from "haft:web/report";

// Every value is text, as in a real environment.
const env = new Proxy(ops.env(), {
  set: (target, key, value) => typeof key === "string" && Reflect.set(target, key, String(value)),
  defineProperty: (target, key, found) =>
    Reflect.defineProperty(target, key, { ...found, value: String(found.value) }),
});

const began = ops.hrtime();
const argv = ops.argv();
const VERSION = "22.12.0";

function hrtime(before) {
  const now = ops.hrtime();
  const [seconds, nanos] = [Math.floor(now / 1000), Math.round((now % 1000) * 1e6) % 1e9];
  if (!before) return [seconds, nanos];
  const [s, n] = [seconds - before[0], nanos - before[1]];
  return n < 0 ? [s - 1, n + 1e9] : [s, n];
}
hrtime.bigint = () => BigInt(Math.round(ops.hrtime() * 1e6));

// Text on these is gathered into lines; what has no newline yet waits for one or for the next turn.
function logStream(fd, level) {
  const { Writable } = ops.internal("node/stream");
  let held = "";
  const flush = () => {
    if (held) ops.log(level, held);
    held = "";
  };
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      const lines = (held + chunk.toString()).split("\n");
      held = lines.pop();
      for (const line of lines) ops.log(level, line);
      if (held) Promise.resolve().then(flush);
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

function emptyInput() {
  const { Readable } = ops.internal("node/stream");
  return Object.assign(
    new Readable({
      read() {
        this.push(null);
      },
    }),
    {
      fd: 0,
      isTTY: false,
      setRawMode() {
        return this;
      },
    },
  );
}

const streams = {};
const lazy = (name, make) => ({
  get: () => (streams[name] ??= make()),
  set: (value) => void (streams[name] = value),
  configurable: true,
  enumerable: true,
});

class Process extends EventEmitter {
  title = "haft";
  version = `v${VERSION}`;
  versions = { node: VERSION, haft: ops.version(), quickjs: "ng", modules: "0" };
  release = { name: "node" };
  argv = argv;
  argv0 = argv[0];
  execPath = argv[0];
  execArgv = [];
  env = env;
  pid = ops.pid();
  platform = ops.platform();
  arch = ops.arch();
  exitCode = undefined;
  config = { variables: {} };
  features = {};
  get ppid() {
    return ops.ppid();
  }
  cwd() {
    return ops.cwd();
  }
  chdir(directory) {
    ops.chdir(directory);
  }
  umask() {
    return 0o22;
  }
  uptime() {
    return (ops.hrtime() - began) / 1000;
  }
  hrtime = hrtime;
  memoryUsage = Object.assign(() => ({ external: 0, arrayBuffers: 0, ...ops.memory() }), {
    rss: () => ops.memory().rss,
  });
  cpuUsage() {
    const micros = Math.round((ops.hrtime() - began) * 1000);
    return { user: micros, system: 0 };
  }
  resourceUsage() {
    return {
      userCPUTime: this.cpuUsage().user,
      systemCPUTime: 0,
      maxRSS: Math.round(ops.memory().rss / 1024),
    };
  }
  getuid() {
    return ops.user().uid;
  }
  geteuid() {
    return ops.user().uid;
  }
  getgid() {
    return ops.user().gid;
  }
  getegid() {
    return ops.user().gid;
  }
  nextTick(callback, ...args) {
    mustBeFunction("callback", callback);
    Promise.resolve().then(() => {
      try {
        callback(...args);
      } catch (error) {
        reportError(error);
      }
    });
  }
  // The host serves several calls; one of them may not end it.
  exit(code = this.exitCode ?? 0) {
    this.emit("exit", Number(code));
    throw coded(
      Error,
      "ERR_PROCESS_EXIT",
      `process.exit(${code}) was called: a tool ends by returning or throwing`,
      { exitCode: Number(code) },
    );
  }
  abort() {
    this.exit(134);
  }
  kill(pid, signal = "SIGTERM") {
    if (typeof pid !== "number") throw invalidType("pid", "of type number", pid);
    const name = signal === 0 ? 0 : signalName(signal);
    if (name === undefined) throw coded(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${signal}`);
    ops.kill(pid, name);
    return true;
  }
  emitWarning(warning, options, code) {
    const name = typeof options === "string" ? options : (options?.type ?? "Warning");
    const error =
      warning instanceof Error
        ? warning
        : Object.assign(
            new Error(warning),
            { name },
            code || options?.code ? { code: code ?? options.code } : {},
          );
    ops.log("warn", `${error.code ? `[${error.code}] ` : ""}${error.name}: ${error.message}`);
    this.emit("warning", error);
  }
  setUncaughtExceptionCaptureCallback() {}
  hasUncaughtExceptionCaptureCallback() {
    return false;
  }
  getBuiltinModule(id) {
    return ops.internal("node/module").builtin(id);
  }
  get [Symbol.toStringTag]() {
    return "process";
  }
}

const process = new Process();
Object.defineProperties(process, {
  stdout: lazy("stdout", () => logStream(1, "info")),
  stderr: lazy("stderr", () => logStream(2, "warn")),
  stdin: lazy("stdin", emptyInput),
});

// `import { stdout } from "process"` must not load the streams: these stand for them until somebody uses one.
const standIn = (name) =>
  new Proxy(
    {},
    {
      get(_, key) {
        const value = process[name][key];
        return typeof value === "function" ? value.bind(process[name]) : value;
      },
      set: (_, key, value) => Reflect.set(process[name], key, value),
      has: (_, key) => key in process[name],
      getPrototypeOf: () => Object.getPrototypeOf(process[name]),
    },
  );
export const stdin = standIn("stdin");
export const stdout = standIn("stdout");
export const stderr = standIn("stderr");

// The engine calls this for a promise that nobody caught; true if the person's code took it.
export const emitUnhandled = (reason, promise) => process.emit("unhandledRejection", reason, promise);

export default process;
export { env, argv, hrtime };
export const {
  version,
  versions,
  platform,
  arch,
  pid,
  execPath,
  execArgv,
  argv0,
  release,
  title,
  memoryUsage,
} = process;
const bound = (name) => process[name].bind(process);
export const cwd = bound("cwd");
export const chdir = bound("chdir");
export const exit = bound("exit");
export const kill = bound("kill");
export const nextTick = bound("nextTick");
export const umask = bound("umask");
export const uptime = bound("uptime");
export const cpuUsage = bound("cpuUsage");
export const emitWarning = bound("emitWarning");
export const getuid = bound("getuid");
export const getgid = bound("getgid");
export const on = bound("on");
export const once = bound("once");
export const off = bound("off");
export const emit = bound("emit");
export const abort = bound("abort");
export const geteuid = bound("geteuid");
export const getegid = bound("getegid");
export const resourceUsage = bound("resourceUsage");
export const getBuiltinModule = bound("getBuiltinModule");
