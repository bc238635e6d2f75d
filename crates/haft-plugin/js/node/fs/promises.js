// `fs/promises`: the file functions as promises, and FileHandle.
import * as ops from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { coded, unsupported } from "haft:node/parts/errors";
import { closedHandle, constants, optionsOf, asEncoded, bytesOf } from "haft:node/parts/fs-args";
import { Stats } from "haft:node/parts/fs-stats";
import * as sync from "haft:node/parts/fs-sync";

const promised =
  (f) =>
  async (...args) =>
    f(...args);
const fileOf = (path) => (path instanceof FileHandle ? path.fd : path);

function mustNotAbort(signal) {
  if (signal?.aborted)
    throw coded(Error, "ABORT_ERR", "The operation was aborted", {
      name: "AbortError",
      cause: signal.reason,
    });
}

// Data for a file may also come as a stream or an iterable of chunks.
async function gathered(data, encoding) {
  if (
    typeof data === "string" ||
    ArrayBuffer.isView(data) ||
    typeof (data?.[Symbol.asyncIterator] ?? data?.[Symbol.iterator]) !== "function"
  )
    return data;
  const chunks = [];
  for await (const chunk of data) chunks.push(bytesOf(chunk, encoding));
  return Buffer.concat(chunks);
}

export class FileHandle {
  #fd;
  #closing = null;
  constructor(fd) {
    this.#fd = fd;
  }
  get fd() {
    return this.#fd;
  }
  #open() {
    if (this.#fd === -1) throw closedHandle();
    return this.#fd;
  }
  async readFile(options) {
    const { encoding, signal } = optionsOf(options);
    mustNotAbort(signal);
    return asEncoded(sync.readRest(this.#open()), encoding);
  }
  async writeFile(data, options) {
    sync.writeAll(this.#open(), bytesOf(await gathered(data, options), optionsOf(options).encoding));
  }
  async appendFile(data, options) {
    return this.writeFile(data, options);
  }
  async read(buffer, offset, length, position) {
    if (buffer === undefined || !ArrayBuffer.isView(buffer))
      ({ buffer = Buffer.alloc(16384), offset, length, position } = buffer ?? {});
    return { bytesRead: sync.readSync(this.#open(), buffer, offset, length, position), buffer };
  }
  async write(data, ...rest) {
    return { bytesWritten: sync.writeSync(this.#open(), data, ...rest), buffer: data };
  }
  async readv(buffers, position) {
    return { bytesRead: sync.readvSync(this.#open(), buffers, position), buffers };
  }
  async writev(buffers, position) {
    return { bytesWritten: sync.writevSync(this.#open(), buffers, position), buffers };
  }
  async stat(options) {
    return new Stats(ops.fstat(this.#open()), options?.bigint);
  }
  async truncate(length = 0) {
    ops.ftruncate(this.#open(), length);
  }
  async sync() {
    ops.fsync(this.#open());
  }
  async datasync() {
    ops.fsync(this.#open());
  }
  createReadStream(options) {
    return new (ops.internal("node/parts/fs-streams").ReadStream)(null, {
      ...optionsOf(options),
      fd: this.#open(),
    });
  }
  createWriteStream(options) {
    return new (ops.internal("node/parts/fs-streams").WriteStream)(null, {
      ...optionsOf(options),
      fd: this.#open(),
    });
  }
  readLines(options) {
    return ops
      .internal("node/readline")
      .createInterface({ input: this.createReadStream(options), crlfDelay: Infinity });
  }
  async close() {
    return (this.#closing ??= (async () => {
      const fd = this.#open();
      this.#fd = -1;
      ops.close(fd);
    })());
  }
  [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    return this.close();
  }
}

export async function readFile(path, options) {
  mustNotAbort(options?.signal);
  return sync.readFileSync(fileOf(path), options);
}
export async function writeFile(path, data, options) {
  mustNotAbort(options?.signal);
  return sync.writeFileSync(fileOf(path), await gathered(data, optionsOf(options).encoding), options);
}
export async function appendFile(path, data, options) {
  return sync.appendFileSync(fileOf(path), await gathered(data, optionsOf(options).encoding), options);
}
export const open = async (path, flags, mode) => new FileHandle(sync.openSync(path, flags, mode));
export const access = promised(sync.accessSync);
export const chmod = promised(sync.chmodSync);
export const chown = promised(sync.chownSync);
export const copyFile = promised(sync.copyFileSync);
export const lchown = promised(sync.lchownSync);
export const link = promised(sync.linkSync);
export const lstat = promised(sync.lstatSync);
export const lutimes = promised(sync.lutimesSync);
export const mkdir = promised(sync.mkdirSync);
export const mkdtemp = promised(sync.mkdtempSync);
export const opendir = promised(sync.opendirSync);
export const readdir = promised(sync.readdirSync);
export const readlink = promised(sync.readlinkSync);
export const realpath = promised(sync.realpathSync);
export const rename = promised(sync.renameSync);
export const rm = promised(sync.rmSync);
export const rmdir = promised(sync.rmdirSync);
export const stat = promised(sync.statSync);
export const symlink = promised(sync.symlinkSync);
export const truncate = promised(sync.truncateSync);
export const unlink = promised(sync.unlinkSync);
export const utimes = promised(sync.utimesSync);
export async function cp(from, to, options = {}) {
  if (!options.filter) return sync.cpSync(from, to, options);
  const answers = new Map();
  // An async filter is asked beforehand for the whole tree, since the copy itself does not wait.
  const ask = async (a, b) => {
    answers.set(a, Boolean(await options.filter(a, b)));
    if (answers.get(a) && sync.lstatSync(a).isDirectory())
      for (const name of sync.readdirSync(a)) await ask(`${a}/${name}`, `${b}/${name}`);
  };
  await ask(from, to);
  return sync.cpSync(from, to, { ...options, filter: (a) => answers.get(a) ?? true });
}
export const watch = () => {
  throw unsupported("fs.promises.watch", "look at the file's mtime instead");
};
export { constants };

export default {
  FileHandle,
  access,
  appendFile,
  chmod,
  chown,
  constants,
  copyFile,
  cp,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  open,
  opendir,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  watch,
  writeFile,
};
