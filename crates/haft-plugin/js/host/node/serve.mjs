// The host for Node and Bun: it serves the protocol that the embedded engine's host serves in Rust. What a
// file offers and how its tools and hooks are run is shared with that; what is here is the order of things
// around it.
import { $ } from "haft:bun/shell";
import * as auth from "../auth.js";
import * as files from "../files.js";
import { pluginInput } from "../input.js";
import { abort, call, hook, load, part } from "../main.js";
import { endChildren, forgetChildren, watchChildren } from "./children.mjs";
import { describe, ofHook, ofLoad, ofValue } from "./failure.mjs";
import { redirectFetch } from "./fetch.mjs";
import { abortAsks, answered, entered, keep, log, provide } from "./ops.mjs";
import { redirectOutput } from "./output.mjs";
import { filesRead, importFile, importFor, prepare } from "./runtime.mjs";
import { listen, send } from "./wire.mjs";

const PACKAGES = ["@opencode-ai/plugin", "zod"];
let served = "";

function heard(message) {
  if (message.answer !== undefined) return answered(message);
  switch (message.do) {
    case "ping":
      return send({ id: message.id, ok: null });
    case "abort":
      return stop(message.id);
    case "load":
      return work(message, loadFile, (error) => ofLoad(error, message.file));
    case "call":
      return work(message, callTool, ofValue);
    case "hook":
      return work(message, runHook, (error) => ofHook(error, message.name, served));
    case "part":
      return work(message, doPart, (error) => ofHook(error, message.hook, served));
    default:
      send({ id: message.id ?? null, error: { kind: "protocol", message: `unknown order: ${message.do}` } });
  }
}

/** Does what an order says, and answers it. */
async function work(order, doing, failed) {
  const { id } = order;
  try {
    send({ id, ...(await entered(id, () => doing(order))) });
  } catch (error) {
    send({ id, error: failed(error) });
  } finally {
    forgetChildren(id);
  }
}

async function loadFile({ as, file, options, input }) {
  served = file;
  if (input?.directory) process.chdir(input.directory);
  await prepare(file);
  const namespace = await importFile(file);
  if (as !== "module") await keepPackages(file);
  const found = await load(as, file, namespace, options ?? undefined, input);
  return { ok: { ...found, modules: await filesRead(file) } };
}

/** Arguments are described by the copy of zod that they were made with. */
async function keepPackages(file) {
  let installed = 0;
  for (const name of PACKAGES) {
    const found = await importFor(name, file);
    if (found === undefined) continue;
    keep(name, found, true);
    installed++;
  }
  if (installed < PACKAGES.length) keep("ours", await import("haft:zod/index"), false);
}

async function callTool({ id, tool, args, context }) {
  const done = await call(id, tool, args, context);
  if (done.ok) return { ok: done.ok };
  if (done.input) return { error: { kind: "input", ...done.input } };
  return { error: { kind: "failure", name: "TypeError", message: done.bad, code: "ERR_TOOL_RESULT" } };
}

async function runHook({ id, name, input, output }) {
  return { ok: (await hook(id, name, input, output ?? null)) ?? null };
}

async function doPart({ id, hook, with: given }) {
  return { ok: await part(id, hook, given) };
}

function stop(id) {
  abortAsks(id);
  endChildren(id);
  try {
    abort(id);
  } catch (error) {
    log("error", `a listener of the abort threw: ${describe(error)}`);
  }
}

// One call's mistake must not end the others; whoever listens for such things themselves hears them instead.
function survive(event, words) {
  process.on(event, (error) => {
    if (process.listenerCount(event) === 1) log("error", `${words}: ${describe(error)}`);
  });
}

provide("host/auth", auth);
provide("host/files", files);
provide("host/input", { pluginInput });
provide("bun/index", globalThis.Bun ?? { $ });
redirectOutput();
redirectFetch();
watchChildren();
survive("unhandledRejection", "unhandled rejection");
survive("uncaughtException", "uncaught exception");
// What a runtime thinks of its own features is nothing that a person has to read.
process.removeAllListeners("warning");
process.on("warning", (warning) => log("debug", describe(warning)));
process.exit = (code = process.exitCode ?? 0) => {
  process.emit("exit", Number(code));
  const words = `process.exit(${code}) was called: a tool ends by returning or throwing`;
  throw Object.assign(new Error(words), { code: "ERR_PROCESS_EXIT" });
};
listen(heard);
