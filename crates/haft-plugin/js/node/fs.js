// The module `fs`: the synchronous functions, the same with callbacks, `fs.promises` and streams (loaded on
// first use).
import { internal } from "haft:ops";
import { mustBeFunction, unsupported } from "haft:node/parts/errors";
import { constants } from "haft:node/parts/fs-args";
import { Dir, Dirent, Stats } from "haft:node/parts/fs-stats";
import * as sync from "haft:node/parts/fs-sync";
import promises from "haft:node/fs/promises";

export * from "haft:node/parts/fs-sync";
export { Dir, Dirent, Stats, constants, promises };
export const { F_OK, R_OK, W_OK, X_OK } = constants;

const later = (f, ...args) => internal("node/process").default.nextTick(f, ...args);

// The last argument is the callback; wrong arguments throw at once, what the system refuses goes to the
// callback.
const called =
  (f) =>
  (...args) => {
    const callback = mustBeFunction("cb", args.pop());
    let value;
    try {
      value = f(...args);
    } catch (error) {
      if (error.code?.startsWith("ERR_") && !error.code.startsWith("ERR_FS")) throw error;
      return later(callback, error);
    }
    return later(callback, null, value);
  };

export const access = called(sync.accessSync);
export const appendFile = called(sync.appendFileSync);
export const chmod = called(sync.chmodSync);
export const chown = called(sync.chownSync);
export const close = (
  fd,
  callback = (error) => {
    if (error) throw error;
  },
) => called(sync.closeSync)(fd, callback);
export const copyFile = called(sync.copyFileSync);
export const cp = (from, to, options, callback) => {
  if (typeof options === "function") [callback, options] = [options, {}];
  promises.cp(from, to, options).then(() => callback(null), callback);
};
export const fdatasync = called(sync.fdatasyncSync);
export const fstat = called(sync.fstatSync);
export const fsync = called(sync.fsyncSync);
export const ftruncate = called(sync.ftruncateSync);
export const lchown = called(sync.lchownSync);
export const link = called(sync.linkSync);
export const lstat = called(sync.lstatSync);
export const lutimes = called(sync.lutimesSync);
export const mkdir = called(sync.mkdirSync);
export const mkdtemp = called(sync.mkdtempSync);
export const open = called(sync.openSync);
export const opendir = called(sync.opendirSync);
export const readFile = called(sync.readFileSync);
export const readdir = called(sync.readdirSync);
export const readlink = called(sync.readlinkSync);
export const realpath = called(sync.realpathSync);
realpath.native = realpath;
export const rename = called(sync.renameSync);
export const rm = called(sync.rmSync);
export const rmdir = called(sync.rmdirSync);
export const stat = called(sync.statSync);
export const symlink = called(sync.symlinkSync);
export const truncate = called(sync.truncateSync);
export const unlink = called(sync.unlinkSync);
export const utimes = called(sync.utimesSync);
export const writeFile = called(sync.writeFileSync);

const PROMISIFY = Symbol.for("nodejs.util.promisify.custom");
export function exists(path, callback) {
  later(mustBeFunction("cb", callback), sync.existsSync(path));
}
exists[PROMISIFY] = async (path) => sync.existsSync(path);

// Their callbacks get the buffer too.
const withBuffer = (f, name) => {
  const form = (fd, buffer, ...rest) => {
    const callback = mustBeFunction("cb", rest.pop());
    called(f)(fd, buffer, ...rest, (error, count) => callback(error, count, buffer));
  };
  form[PROMISIFY] = async (fd, buffer, ...rest) => ({ [name]: f(fd, buffer, ...rest), buffer });
  return form;
};
export const read = withBuffer(sync.readSync, "bytesRead");
export const write = withBuffer(sync.writeSync, "bytesWritten");
export const readv = withBuffer(sync.readvSync, "bytesRead");
export const writev = withBuffer(sync.writevSync, "bytesWritten");

const streams = () => internal("node/parts/fs-streams");
// The classes by name, for `instanceof` and `new`, without loading the streams before that.
const lazyClass = (name) =>
  new Proxy(function () {}, {
    construct: (_, args) => new (streams()[name])(...args),
    apply: (_, self, args) => new (streams()[name])(...args),
    get: (_, key) =>
      key === Symbol.hasInstance ? (value) => value instanceof streams()[name] : streams()[name][key],
  });
export const ReadStream = lazyClass("ReadStream");
export const WriteStream = lazyClass("WriteStream");
export const createReadStream = (path, options) => new (streams().ReadStream)(path, options);
export const createWriteStream = (path, options) => new (streams().WriteStream)(path, options);

export const watch = () => {
  throw unsupported("fs.watch", "look at the file's mtime instead");
};
export const watchFile = () => {
  throw unsupported("fs.watchFile", "look at the file's mtime instead");
};
export const unwatchFile = () => {};
export const openAsBlob = async (path, options) =>
  new (internal("web/blob").Blob)([sync.readFileSync(path)], options);

const { readRest, writeAll, ...syncForms } = sync;
const fs = {
  ...syncForms,
  Dir,
  Dirent,
  F_OK,
  R_OK,
  Stats,
  W_OK,
  X_OK,
  access,
  appendFile,
  chmod,
  chown,
  close,
  constants,
  copyFile,
  cp,
  createReadStream,
  createWriteStream,
  exists,
  fdatasync,
  fstat,
  fsync,
  ftruncate,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  mkdtemp,
  open,
  openAsBlob,
  opendir,
  promises,
  read,
  readFile,
  readdir,
  readlink,
  readv,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  truncate,
  unlink,
  unwatchFile,
  utimes,
  watch,
  watchFile,
  write,
  writeFile,
  writev,
  ReadStream,
  WriteStream,
};
export default fs;
