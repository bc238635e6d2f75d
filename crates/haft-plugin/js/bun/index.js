// The module `bun` and the global `Bun`. What is not here is undefined, as feature detection expects; parts
// load on first use.
import * as ops from "haft:ops";
import { $ } from "haft:bun/shell";
import { which } from "haft:bun/which";
import { Glob } from "haft:bun/glob";
import { deepEqual } from "haft:node/parts/deep-equal";
import { inspect } from "haft:node/parts/inspect";
import process from "haft:node/process";

export { $, Glob, inspect, which };
// The Bun whose behaviour was compared; plugins test it for being there.
export const version = "1.4.4";
export const revision = "haft";
export const env = process.env;
export const argv = process.argv;
export const main = ops.argv()[1] ?? "";
export const isMainThread = true;
export const file = (path, options) => ops.internal("bun/file").file(path, options);
export const write = (target, data, options) => ops.internal("bun/file").write(target, data, options);
export const spawn = (first, second) => ops.internal("bun/spawn").spawn(first, second);
export const spawnSync = (first, second) => ops.internal("bun/spawn").spawnSync(first, second);
export const sleep = (ms) =>
  new Promise((done) => globalThis.setTimeout(done, ms instanceof Date ? ms.getTime() - Date.now() : ms));
export const nanoseconds = () => Math.round(ops.hrtime() * 1e6);
export const deepEquals = (a, b, strict = false) => deepEqual(a, b, strict);
export const fileURLToPath = (url) => ops.internal("node/url").fileURLToPath(url);
export const pathToFileURL = (path) => ops.internal("node/url").pathToFileURL(path);
export const resolveSync = (specifier, from) => ops.resolve(specifier, `${from}/_`).path ?? specifier;
export const stripANSI = (text) => ops.internal("node/util").stripVTControlCharacters(text);
export const stringWidth = (text) =>
  [...stripANSI(String(text))].reduce(
    (sum, char) =>
      sum +
      (/\p{M}|\p{Cf}/u.test(char)
        ? 0
        : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u.test(
              char,
            )
          ? 2
          : 1),
    0,
  );
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
export const escapeHTML = (value) => String(value).replace(/[&<>"']/g, (char) => ENTITIES[char]);

export const readableStreamToText = (stream) => new globalThis.Response(stream).text();
export const readableStreamToJSON = (stream) => new globalThis.Response(stream).json();
export const readableStreamToBytes = (stream) => new globalThis.Response(stream).bytes();
export const readableStreamToArrayBuffer = (stream) => new globalThis.Response(stream).arrayBuffer();
export const readableStreamToBlob = (stream) => new globalThis.Response(stream).blob();
export const readableStreamToArray = (stream) => Array.fromAsync(stream);

export function randomUUIDv7() {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${ops.uuid().slice(15)}`;
}

export class CryptoHasher {
  #inner;
  constructor(algorithm, key) {
    const crypto = ops.internal("node/crypto");
    this.algorithm = algorithm;
    this.#inner = key === undefined ? crypto.createHash(algorithm) : crypto.createHmac(algorithm, key);
  }
  update(data, encoding) {
    this.#inner.update(data instanceof ArrayBuffer ? new Uint8Array(data) : data, encoding);
    return this;
  }
  digest(encoding) {
    return this.#inner.digest(encoding);
  }
  static hash(algorithm, data, encoding) {
    return new CryptoHasher(algorithm).update(data).digest(encoding);
  }
}

const Bun = {
  $,
  CryptoHasher,
  Glob,
  argv,
  deepEquals,
  env,
  escapeHTML,
  file,
  fileURLToPath,
  inspect,
  isMainThread,
  main,
  nanoseconds,
  pathToFileURL,
  randomUUIDv7,
  readableStreamToArray,
  readableStreamToArrayBuffer,
  readableStreamToBlob,
  readableStreamToBytes,
  readableStreamToJSON,
  readableStreamToText,
  resolveSync,
  revision,
  sleep,
  spawn,
  spawnSync,
  stringWidth,
  stripANSI,
  version,
  which,
  write,
  get cwd() {
    return ops.cwd();
  },
};
export default Bun;
