// Node: its loader is taught what haft's own engine and Bun know. New ones have hooks that run on the spot,
// older ones in a thread, which sends its questions here.
import Module from "node:module";
import { pathToFileURL } from "node:url";
import threads from "node:worker_threads";
import { thread } from "haft:texts";
import { fileOf, planFor } from "./loading.mjs";
import { request, requestSync } from "./ops.mjs";
import { FOR, resolveElse, resolveOwn } from "./resolving.mjs";

const files = new Set();
let port;
let heardAll;

export function prepare() {
  process.setSourceMapsEnabled(true);
  if (Module.registerHooks) Module.registerHooks({ resolve: resolveNow, load: loadNow });
  else beginThread();
  giveWorkersTheirOwnOptions();
  for (const extension of [".ts", ".cts", ".mts"]) Module._extensions[extension] = requireTypeScript;
}

export function importFile(file) {
  return import(pathToFileURL(file).href);
}

/** A package, if it is installed where a file would find it. */
export async function importFor(name, file) {
  try {
    return await import(
      `${FOR}${encodeURIComponent(JSON.stringify({ name, file: pathToFileURL(file).href }))}`
    );
  } catch {
    return undefined;
  }
}

/** Every file that was read so far. */
export async function filesRead() {
  // What the thread said before is here once it answers.
  if (port !== undefined)
    await new Promise((done) => {
      heardAll = done;
      port.postMessage({ isLast: true });
    });
  for (const file of Object.keys(Module._cache)) files.add(file);
  return [...files];
}

function resolveNow(specifier, context, next) {
  const own = resolveOwn(specifier, context.parentURL);
  if (own?.instead) return next(own.instead.name, { ...context, parentURL: own.instead.file });
  if (own !== undefined) return own;
  try {
    return next(specifier, context);
  } catch (error) {
    return resolveElse(specifier, context.parentURL, error);
  }
}

function loadNow(url, context, next) {
  const file = fileOf(url);
  if (file !== undefined) files.add(file);
  const plan = planFor(url, context.importAttributes);
  if (plan === undefined) return next(url, context);
  const { format, source } = plan.done ?? plan.finish(requestSync(plan.op, plan.with));
  return { format, source, shortCircuit: true };
}

function beginThread() {
  const { port1, port2 } = new threads.MessageChannel();
  port = port1;
  port.on("message", ({ id, op, with: given, read, isLast }) => {
    if (isLast) return heardAll();
    if (read !== undefined) return files.add(read);
    const answer = (ok) => port.postMessage({ id, ok });
    request(op, given).then(answer, (error) => port.postMessage({ id, error: error.message }));
  });
  Module.register(`data:text/javascript,${encodeURIComponent(thread)}`, {
    data: port2,
    transferList: [port2],
  });
}

// Threads inherit how this program was started: that its text is an ES module, which theirs need not be.
function giveWorkersTheirOwnOptions() {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      super(file, { execArgv: [], ...options });
    }
  };
  Module.syncBuiltinESMExports();
}

function requireTypeScript(module, file) {
  const plan = planFor(pathToFileURL(file).href);
  const { format, source } = plan.finish(requestSync(plan.op, plan.with));
  if (format === "module") {
    throw Object.assign(new Error(`${file} is an ES module and cannot be required; use import()`), {
      code: "ERR_REQUIRE_ESM",
    });
  }
  module._compile(source, file);
}
