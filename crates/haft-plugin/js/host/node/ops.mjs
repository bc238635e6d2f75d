// What `haft:ops` is to the host's modules in Node and Bun: questions to haft, and the parts that these
// runtimes have themselves.
import { AsyncLocalStorage } from "node:async_hooks";
import { send, waitFor } from "./wire.mjs";

const { assign, create } = Object;
const orders = new AsyncLocalStorage();
const pending = new Map();
const copies = create(null);
const provided = create(null);
let asked = 0;

/** Runs code on behalf of an order, so that what it asks is asked for that. */
export function entered(id, run) {
  return orders.run(id, run);
}

/** The order that code runs for, if it is known. */
export function current() {
  return orders.getStore() ?? null;
}

/** Asks haft, and promises the answer. */
export function request(op, given, order) {
  const about = order ?? current();
  const ask = ++asked;
  return new Promise((resolve, reject) => {
    send({ ask, op, for: about, with: given ?? null });
    pending.set(ask, { about, resolve, reject });
  });
}

/** Asks haft and waits: nothing else runs meanwhile. */
export function requestSync(op, given, order) {
  const ask = ++asked;
  send({ ask, op, for: order ?? current(), with: given ?? null });
  const answer = waitFor((message) => message.answer === ask);
  if (answer.error) throw refused(answer.error);
  return answer.ok;
}

/** Settles what waits for an answer; late answers are dropped. */
export function answered(message) {
  const waiting = pending.get(message.answer);
  pending.delete(message.answer);
  if (message.error) waiting?.reject(refused(message.error));
  else waiting?.resolve(message.ok ?? null);
}

/** Rejects what an aborted order still waits for. */
export function abortAsks(order) {
  for (const [ask, { about, reject }] of pending) {
    if (about !== order) continue;
    pending.delete(ask);
    reject(assign(new Error("the call was aborted"), { name: "AbortError", code: "ABORT_ERR" }));
  }
}

export function base64Encode(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

export function log(level, text) {
  send({ say: "log", level, text: `${text}` });
}

export function metadata(order, update) {
  send({ say: "metadata", for: order, ...update });
}

/** Keeps a package that a file has, or the one of ours by that name, for those who cannot wait for it. */
export function keep(name, namespace, isInstalled) {
  copies[name] = { namespace, isInstalled };
}

export function resolve(name) {
  return copies[name]?.isInstalled ? { kind: "file", path: name } : { kind: "internal", name };
}

export function importFile(name) {
  return copies[name].namespace;
}

/** Gives one of the host's modules to those that it imports itself. */
export function provide(name, module) {
  provided[name] = module;
}

/** What are our own modules in the embedded engine. */
export function internal(name) {
  if (name in provided) return provided[name];
  switch (name) {
    case "web/url":
      return { URL };
    case "web/abort":
      return { AbortController };
    case "zod/index":
      return copies.ours.namespace;
    default:
      throw new Error(`there is no ${name} here`);
  }
}

function refused({ name, message, code }) {
  const error = new Error(message);
  if (name) error.name = name;
  return code ? assign(error, { code }) : error;
}
