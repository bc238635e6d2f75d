// The module `child_process`. What it starts inherits the host's confinement; `fork` needs a second engine
// and is refused.
import * as ops from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { ChildProcess, spawn } from "haft:node/parts/child";
import { commandOf, cwdOf, envOf, mustBeSignal, stdioOf } from "haft:node/parts/child-args";
import { coded, mustBeString, unsupported } from "haft:node/parts/errors";
import { bytesOf } from "haft:node/parts/fs-args";
import { errno } from "haft:node/parts/numbers";

export { ChildProcess, spawn };
const MAX_BUFFER = 1024 * 1024;
const PROMISIFY = Symbol.for("nodejs.util.promisify.custom");
const encoded = (buffer, encoding) =>
  encoding && encoding !== "buffer" ? buffer.toString(encoding) : buffer;

// Runs to the end, keeping what it says.
export function execFile(file, ...rest) {
  const callback = typeof rest.at(-1) === "function" ? rest.pop() : undefined;
  const { file: program, args, options } = commandOf(file, ...rest);
  const { encoding = "utf8", maxBuffer = MAX_BUFFER, killSignal = "SIGTERM" } = options;
  const child = new ChildProcess(program, args, { ...options, stdio: "pipe" });
  const shown = options.shell ? args[1] : [file, ...args].join(" ");
  const kept = { stdout: [], stderr: [] };
  let failure = null;
  const finish = (code, signal) => {
    const [stdout, stderr] = ["stdout", "stderr"].map((name) => encoded(Buffer.concat(kept[name]), encoding));
    if (!failure && code !== 0) {
      failure = Object.assign(new Error(`Command failed: ${shown}\n${stderr}`), {
        code,
        killed: child.killed,
        signal,
        cmd: shown,
      });
    }
    if (failure) Object.assign(failure, { stdout, stderr });
    callback?.(failure, stdout, stderr);
  };
  for (const name of ["stdout", "stderr"]) {
    let size = 0;
    child[name]?.on("data", (chunk) => {
      size += chunk.length;
      if (size <= maxBuffer) return void kept[name].push(chunk);
      kept[name].push(chunk.subarray(0, Math.max(0, chunk.length - (size - maxBuffer))));
      failure ??= coded(
        RangeError,
        "ERR_CHILD_PROCESS_STDIO_MAXBUFFER",
        `${name} maxBuffer length exceeded`,
        { cmd: shown },
      );
      child.kill(killSignal);
    });
  }
  child.once("close", finish);
  child.on("error", (error) => {
    failure ??= Object.assign(error, { cmd: shown });
    if (child.pid === undefined) finish(null, null);
  });
  return child;
}

export function exec(command, ...rest) {
  const callback = typeof rest.at(-1) === "function" ? rest.pop() : undefined;
  mustBeString("command", command);
  const options = { ...rest[0], shell: typeof rest[0]?.shell === "string" ? rest[0].shell : true };
  return execFile(command, [], options, ...(callback ? [callback] : []));
}

const promisedForm =
  (f) =>
  (...args) => {
    let child;
    const promise = new Promise((done, fail) => {
      child = f(...args, (error, stdout, stderr) => (error ? fail(error) : done({ stdout, stderr })));
    });
    promise.child = child;
    return promise;
  };
Object.defineProperty(exec, PROMISIFY, { value: promisedForm(exec) });
Object.defineProperty(execFile, PROMISIFY, { value: promisedForm(execFile) });

function run({ file, args, options }) {
  const streams = stdioOf(options.stdio);
  const { input, timeout, maxBuffer, killSignal } = options;
  const made = ops.spawnSync({
    file,
    args,
    argv0: options.argv0,
    cwd: cwdOf(options),
    env: envOf(options),
    input: input === undefined || input === null ? undefined : bytesOf(input),
    stdin: streams[0].system === "pipe" ? undefined : streams[0].system,
    stdout: streams[1].system,
    stderr: streams[2].system,
    timeoutMs: timeout || undefined,
    maxBuffer: maxBuffer ?? MAX_BUFFER,
    killSignal: killSignal === undefined ? undefined : mustBeSignal(killSignal),
  });
  const output = [
    null,
    ...["stdout", "stderr"].map((name, i) => {
      const { mode } = streams[i + 1];
      const buffer = Buffer.from(made[name]);
      if (mode === "log" && buffer.length)
        ops.log(i === 0 ? "info" : "warn", buffer.toString().replace(/\n$/, ""));
      return mode === "pipe" ? encoded(buffer, options.encoding) : null;
    }),
  ];
  const result = {
    pid: made.pid ?? 0,
    output,
    stdout: output[1],
    stderr: output[2],
    status: made.status ?? null,
    signal: made.signal ?? null,
  };
  if (made.error) {
    const { code } = made.error;
    result.error = Object.assign(new Error(`spawnSync ${file} ${code}`), {
      errno: -(errno[code] ?? 0),
      code,
      syscall: `spawnSync ${file}`,
      path: file,
      spawnargs: args,
    });
  }
  return result;
}

export const spawnSync = (file, args, options) => run(commandOf(file, args, options));

// stderr goes to the log unless the caller says otherwise, as Node shows it on its own.
function checked(command, shown) {
  const { stdio } = command.options;
  const result = run(command);
  if (stdio === undefined && result.stderr?.length)
    ops.log("warn", result.stderr.toString().replace(/\n$/, ""));
  if (result.error) throw Object.assign(result.error, { ...result, error: undefined });
  if (result.status !== 0) {
    const stderr = result.stderr?.length ? `\n${result.stderr.toString()}` : "";
    throw Object.assign(new Error(`Command failed: ${shown}${stderr}`), result);
  }
  return result.stdout;
}

export function execFileSync(file, args, options) {
  const command = commandOf(file, args, options);
  return checked(command, [file, ...(Array.isArray(args) ? args : [])].join(" "));
}
export function execSync(command, options) {
  return checked(
    commandOf(mustBeString("command", command), [], { ...options, shell: options?.shell ?? true }),
    command,
  );
}
export const fork = () => {
  throw unsupported("child_process.fork", "spawn a program, or run this plugin with Bun or Node");
};

export default { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
