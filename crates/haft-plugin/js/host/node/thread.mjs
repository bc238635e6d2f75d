// Node's loader hooks, as Node before 22.15 has them: in a thread of their own, which asks haft through the
// host's.
import { fileOf, planFor } from "./loading.mjs";
import { resolveElse, resolveOwn } from "./resolving.mjs";

const waiting = new Map();
let port;
let asked = 0;

export function initialize(given) {
  port = given;
  port.on("message", ({ id, ok, error, isLast }) => {
    if (isLast) return port.postMessage({ isLast });
    const { answer, fail } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer(ok);
    else fail(new Error(error));
  });
}

export async function resolve(specifier, context, next) {
  const own = resolveOwn(specifier, context.parentURL);
  if (own?.instead) return next(own.instead.name, { ...context, parentURL: own.instead.file });
  if (own !== undefined) return own;
  try {
    return await next(specifier, context);
  } catch (error) {
    return resolveElse(specifier, context.parentURL, error);
  }
}

export async function load(url, context, next) {
  const file = fileOf(url);
  if (file !== undefined) port.postMessage({ read: file });
  const plan = planFor(url, context.importAttributes);
  if (plan === undefined) return next(url, context);
  const { format, source } = plan.done ?? plan.finish(await ask(plan.op, plan.with));
  // CommonJS is loaded in the host's thread, by its own hooks.
  return { format, source: format === "commonjs" ? undefined : source, shortCircuit: true };
}

function ask(op, given) {
  const id = ++asked;
  port.postMessage({ id, op, with: given });
  return new Promise((answer, fail) => waiting.set(id, { answer, fail }));
}
