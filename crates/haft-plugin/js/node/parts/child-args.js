// The arguments of the process functions, and their standard streams, in all the forms Node accepts.
import { coded, invalidType, mustBeString } from "haft:node/parts/errors";
import { pathOf } from "haft:node/parts/fs-args";
import { signalName } from "haft:node/parts/numbers";
import process from "haft:node/process";

// (file, args?, options?) with the middle one optional.
export function commandOf(file, args, options) {
  mustBeString("file", file);
  if (file === "")
    throw coded(TypeError, "ERR_INVALID_ARG_VALUE", "The argument 'file' cannot be empty. Received ''");
  if (!Array.isArray(args)) {
    if (typeof args === "object" && args !== null) options = args;
    else if (args !== undefined && args !== null) throw invalidType("args", "an instance of Array", args);
    args = [];
  }
  const given = { ...options };
  const words = args.map(String);
  if (!given.shell) return { file, args: words, options: given };
  const shell = typeof given.shell === "string" ? given.shell : "/bin/sh";
  return { file: shell, args: ["-c", [file, ...words].join(" ")], options: given };
}

export function envOf(options) {
  const out = {};
  const source = options.env ?? process.env;
  for (const key in source) if (source[key] !== undefined) out[key] = String(source[key]);
  return out;
}

export const cwdOf = (options) =>
  options.cwd === undefined || options.cwd === null ? undefined : pathOf(options.cwd, "options.cwd");

// Each of the three: how the system sees it, and whether its output is copied to haft's log.
export function stdioOf(stdio = "pipe") {
  const list = Array.isArray(stdio) ? stdio : [stdio, stdio, stdio];
  return [0, 1, 2].map((i) => {
    const kind = list[i] ?? "pipe";
    if (kind === "pipe" || kind === "overlapped") return { system: "pipe", mode: "pipe" };
    if (kind === "ignore") return { system: "ignore", mode: "ignore" };
    if (kind === "inherit" || kind === process.stdout || kind === process.stderr || kind === i)
      return { system: i === 0 ? "ignore" : "pipe", mode: "log" };
    if (kind === 1 || kind === 2) return { system: "pipe", mode: "log" };
    const fd = typeof kind === "number" ? kind : kind?.fd;
    if (typeof fd === "number") return { system: fd, mode: "file" };
    throw coded(
      TypeError,
      "ERR_INVALID_ARG_VALUE",
      `The argument 'stdio' is invalid. Received ${String(kind)}`,
    );
  });
}

export function mustBeSignal(signal) {
  const name = signalName(signal);
  if (!name) throw coded(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${signal}`);
  return name;
}
