// What `haft:ops` is to our shell in Node: files and child processes, in the forms that the embedded engine
// gives them.
import * as fs from "node:fs";
import * as os from "node:os";
import * as processes from "node:child_process";
import * as ops from "./ops.mjs";

export const { log } = ops;
export const { tmpdir } = os;
export const access = fs.accessSync;
export const mkdtemp = fs.mkdtempSync;
export const readFile = fs.readFileSync;
export const rm = fs.rmSync;
export const writeFile = fs.writeFileSync;

export function cwd() {
  return process.cwd();
}

export function stat(file) {
  return { kind: fs.statSync(file).isFile() ? "file" : "other" };
}

export function internal() {
  return { Blob };
}

/** Starts a program. What it is known by holds what is read of it. */
export function spawn({ file, args, cwd, env, stdin, stdout, stderr }) {
  const child = processes.spawn(file, args, { cwd, env, stdio: [stdin, stdout, stderr] });
  const chunks = [child.stdout, child.stderr].map((stream) => stream[Symbol.asyncIterator]());
  const ended = new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done({ code, signal }));
  });
  return { id: { chunks, ended } };
}

export async function childRead({ chunks }, which) {
  const { done, value } = await chunks[which - 1].next();
  return done ? null : value;
}

export function childWait({ ended }) {
  return ended;
}
