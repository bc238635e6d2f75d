// Stats, Dirent and Dir: what the file functions give back.
import { join } from "haft:node/path";

const KINDS = {
  isFile: "file",
  isDirectory: "dir",
  isSymbolicLink: "symlink",
  isFIFO: "fifo",
  isSocket: "socket",
  isCharacterDevice: "char",
  isBlockDevice: "block",
};
const KIND = Symbol("kind");

function addTests(prototype) {
  for (const name in KINDS) {
    Object.defineProperty(prototype, name, {
      value() {
        return this[KIND] === KINDS[name];
      },
      writable: true,
      configurable: true,
    });
  }
}

const NUMBERS = ["dev", "mode", "nlink", "uid", "gid", "rdev", "blksize", "ino", "size", "blocks"];
const TIMES = ["atime", "mtime", "ctime", "birthtime"];

export class Stats {
  constructor(found, bigint) {
    const number = bigint ? (value) => BigInt(Math.trunc(value ?? 0)) : (value) => value ?? 0;
    Object.defineProperty(this, KIND, { value: found.kind });
    for (const key of NUMBERS) this[key] = number(found[key]);
    for (const key of TIMES) this[`${key}Ms`] = number(found[`${key}Ms`]);
    if (bigint)
      for (const key of TIMES) this[`${key}Ns`] = BigInt(Math.round(found[`${key}Ms`] * 1000)) * 1000n;
    for (const key of TIMES) this[key] = new Date(Math.round(found[`${key}Ms`]));
  }
}
addTests(Stats.prototype);

export class Dirent {
  constructor(name, parentPath, kind) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    Object.defineProperty(this, KIND, { value: kind });
  }
}
addTests(Dirent.prototype);

export class Dir {
  #entries;
  constructor(path, entries) {
    this.path = path;
    this.#entries = entries;
  }
  readSync() {
    return this.#entries.shift() ?? null;
  }
  async read(callback) {
    const entry = this.readSync();
    callback?.(null, entry);
    return entry;
  }
  closeSync() {}
  async close(callback) {
    callback?.(null);
  }
  async *entries() {
    for (let entry = this.readSync(); entry; entry = this.readSync()) yield entry;
  }
  [Symbol.asyncIterator]() {
    return this.entries();
  }
}

export const below = (entry) => join(entry.parentPath, entry.name);
