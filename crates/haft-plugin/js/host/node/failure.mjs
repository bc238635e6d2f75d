// What code threw, as haft is told it. Anything can be thrown, and reading it may throw again.
import { fileURLToPath } from "node:url";

const FRAMES_MAX = 20;
const MESSAGE_CHARS_MAX = 20_000;

/** What a call threw. */
export function ofValue(value) {
  const { name, message, stack, code } = read(value);
  return { kind: "failure", name, message, stack, code };
}

/** What a hook threw: haft does not say which it was. */
export function ofHook(value, hook, file) {
  const failure = ofValue(value);
  return { ...failure, message: `${failure.message} (the hook \`${hook}\` of ${file})` };
}

/** What loading a file threw. */
export function ofLoad(value, file) {
  const found = read(value);
  const told = field(value, "file");
  const place = told
    ? { file: told, line: field(value, "line", Number), column: field(value, "column", Number) }
    : firstFrame(found.stack);
  const fix = field(value, "fix");
  // Both runtimes name what they missed in their own way.
  const module =
    field(value, "module") ??
    field(value, "specifier") ??
    /^Cannot find (?:module|package) ['"](.+?)['"]/.exec(found.message)?.[1];
  const isMissing = ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_MODULE"].includes(
    found.code,
  );
  if (module && isMissing) {
    const unsupported = found.code === "ERR_UNSUPPORTED_MODULE";
    return { kind: "module", message: found.message, module, unsupported, ...(place ?? { file }), fix };
  }
  const message = ["Error", "SyntaxError"].includes(found.name)
    ? found.message
    : `${found.name}: ${found.message}`;
  const known = { kind: "load", message, fix, stack: found.stack, export: field(value, "export") };
  return { ...known, ...(place ?? { file }) };
}

/** One text for the log. */
export function describe(value) {
  const { name, message, stack } = read(value);
  return stack ? `${name}: ${message}\n${stack}` : `${name}: ${message}`;
}

function read(value) {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) {
    const message = typeof value === "string" ? value : `threw ${shown(value)}`;
    return { name: "Error", message: cut(message) };
  }
  let message = field(value, "message") ?? "";
  if (message === "" && !isError(value)) message = thrownObject(value);
  const cause = causeOf(value);
  if (cause) message = `${message} (cause: ${cause})`;
  return {
    name: field(value, "name") || "Error",
    message: cut(message),
    stack: readable(field(value, "stack")),
    code: field(value, "code", (code) => (typeof code === "string" ? code : undefined)),
  };
}

function isError(value) {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

function thrownObject(value) {
  try {
    return `threw ${JSON.stringify(value) ?? shown(value)}`;
  } catch {
    const text = shown(value);
    return text === undefined ? "threw an object that cannot be read" : `threw ${text}`;
  }
}

/** A property, whatever it is, and whatever reading it does. */
function field(value, name, as = String) {
  try {
    const found = value?.[name];
    return found === undefined || found === null ? undefined : as(found);
  } catch {
    return undefined;
  }
}

function causeOf(value) {
  try {
    const { cause } = value;
    return typeof cause === "string" ? cause : field(cause, "message") || undefined;
  } catch {
    return undefined;
  }
}

function shown(value) {
  try {
    return String(value);
  } catch {
    return undefined;
  }
}

/** The frames in the person's files, by their paths. */
function readable(stack) {
  const frames = [];
  for (const line of (stack ?? "").split("\n")) {
    const isFile = /^\s+at (?:[^/]*\()?(?:file:\/\/)?\/.*:\d+:\d+\)?$/.test(line);
    if (!isFile || /\/\[eval\d*\]/.test(line)) continue;
    frames.push(line.replace(/file:\/\/[^\s)]+?(?=:\d+:\d+\)?$)/, pathOf));
    if (frames.length === FRAMES_MAX) break;
  }
  return frames.length ? frames.join("\n") : undefined;
}

function firstFrame(stack) {
  const [, file, line, column] = /(?:\(|at )(\/[^\n]*?):(\d+):(\d+)\)?(?:\n|$)/.exec(stack ?? "") ?? [];
  return file ? { file, line: Number(line), column: Number(column) } : undefined;
}

function pathOf(url) {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

function cut(message) {
  return message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX)}…` : message;
}
