// The file functions themselves. All are synchronous, because the engine's ops are; the callback and promise
// forms are made of these.
import * as ops from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { coded, invalidType } from "haft:node/parts/errors";
import {
  asEncoded,
  bytesOf,
  flagsOf,
  modeOf,
  nameAs,
  optionsOf,
  pathOf,
  secondsOf,
} from "haft:node/parts/fs-args";
import { Dir, Dirent, Stats } from "haft:node/parts/fs-stats";
import { basename, join, relative } from "haft:node/path";

export function readFileSync(path, options) {
  const { encoding, flag } = optionsOf(options);
  if (typeof path === "number") return asEncoded(readRest(path), encoding);
  const file = pathOf(path);
  if (flag === undefined || flag === "r") return asEncoded(ops.readFile(file), encoding);
  return withFile(file, flag, undefined, (fd) => asEncoded(readRest(fd), encoding));
}

export function readRest(fd) {
  const chunks = [];
  for (;;) {
    const chunk = new Uint8Array(ops.read(fd, 65536, null));
    if (chunk.length === 0) return Buffer.concat(chunks);
    chunks.push(chunk);
  }
}

function withFile(path, flag, mode, use) {
  const fd = ops.open(path, flagsOf(flag), modeOf(mode, 0o666));
  try {
    return use(fd);
  } finally {
    ops.close(fd);
  }
}

export function writeAll(fd, bytes, position = null) {
  for (let at = 0; at < bytes.length;)
    at += ops.write(fd, bytes.subarray(at), position === null ? null : position + at);
}

export function writeFileSync(path, data, options) {
  const { encoding, flag = "w", mode } = optionsOf(options);
  const bytes = bytesOf(data, encoding);
  if (typeof path === "number") return writeAll(path, bytes);
  const word = flagsOf(flag);
  const file = pathOf(path);
  if (/^(w|a)x?$/.test(word))
    return void ops.writeFile(file, bytes, {
      append: word[0] === "a",
      exclusive: word.endsWith("x"),
      mode: modeOf(mode, 0o666),
    });
  withFile(file, word, mode, (fd) => writeAll(fd, bytes));
}
export const appendFileSync = (path, data, options) =>
  writeFileSync(path, data, { flag: "a", ...optionsOf(options) });

export function existsSync(path) {
  try {
    ops.access(pathOf(path), 0);
    return true;
  } catch {
    return false;
  }
}
export const accessSync = (path, mode = 0) => void ops.access(pathOf(path), mode);

function statWith(path, options, follow) {
  try {
    return new Stats(ops.stat(pathOf(path), follow), options?.bigint);
  } catch (error) {
    if (options?.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
export const statSync = (path, options) => statWith(path, options, true);
export const lstatSync = (path, options) => statWith(path, options, false);
export const fstatSync = (fd, options) => new Stats(ops.fstat(fd), options?.bigint);

function listed(directory) {
  return ops
    .readdir(directory)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ name, kind }) => new Dirent(name, directory, kind));
}
function walked(directory) {
  const out = [];
  const waiting = [directory];
  while (waiting.length) {
    for (const entry of listed(waiting.shift())) {
      out.push(entry);
      if (entry.isDirectory()) waiting.push(join(entry.parentPath, entry.name));
    }
  }
  return out;
}
export function readdirSync(path, options) {
  const { encoding, withFileTypes, recursive } = optionsOf(options);
  const directory = pathOf(path);
  const entries = recursive ? walked(directory) : listed(directory);
  if (withFileTypes) return entries;
  return entries.map((entry) =>
    nameAs(recursive ? relative(directory, join(entry.parentPath, entry.name)) : entry.name, encoding),
  );
}
export const opendirSync = (path, options) =>
  new Dir(pathOf(path), options?.recursive ? walked(pathOf(path)) : listed(pathOf(path)));

export function mkdirSync(path, options) {
  const { recursive = false, mode } =
    typeof options === "object" && options !== null ? options : { mode: options };
  return ops.mkdir(pathOf(path), { recursive, mode: modeOf(mode, 0o777) }) ?? undefined;
}
export const mkdtempSync = (prefix, options) =>
  nameAs(ops.mkdtemp(pathOf(prefix, "prefix")), optionsOf(options).encoding);
export const rmSync = (path, options) =>
  void ops.rm(pathOf(path), { recursive: Boolean(options?.recursive), force: Boolean(options?.force) });
export const rmdirSync = (path, options) =>
  void (options?.recursive
    ? ops.rm(pathOf(path), { recursive: true, force: false })
    : ops.rmdir(pathOf(path)));
export const unlinkSync = (path) => void ops.unlink(pathOf(path));
export const renameSync = (from, to) => void ops.rename(pathOf(from, "oldPath"), pathOf(to, "newPath"));
export const linkSync = (from, to) => void ops.link(pathOf(from, "existingPath"), pathOf(to, "newPath"));
export const symlinkSync = (target, path) => void ops.symlink(pathOf(target, "target"), pathOf(path));
export const readlinkSync = (path, options) =>
  nameAs(ops.readlink(pathOf(path)), optionsOf(options).encoding);
export const realpathSync = (path, options) =>
  nameAs(ops.realpath(pathOf(path)), optionsOf(options).encoding);
realpathSync.native = realpathSync;
export const copyFileSync = (from, to, mode = 0) =>
  void ops.copyFile(pathOf(from, "src"), pathOf(to, "dest"), (mode & 1) !== 0);
export const chmodSync = (path, mode) => void ops.chmod(pathOf(path), modeOf(mode));
export const chownSync = (path, uid, gid) => void ops.chown(pathOf(path), uid, gid, true);
export const lchownSync = (path, uid, gid) => void ops.chown(pathOf(path), uid, gid, false);
export const utimesSync = (path, atime, mtime) =>
  void ops.utimes(pathOf(path), secondsOf(atime, "atime"), secondsOf(mtime, "mtime"), true);
export const lutimesSync = (path, atime, mtime) =>
  void ops.utimes(pathOf(path), secondsOf(atime, "atime"), secondsOf(mtime, "mtime"), false);
export const truncateSync = (path, length = 0) =>
  void (typeof path === "number" ? ops.ftruncate(path, length) : ops.truncate(pathOf(path), length));

export const openSync = (path, flags = "r", mode) =>
  ops.open(pathOf(path), flagsOf(flags), modeOf(mode, 0o666));
export function closeSync(fd) {
  if (typeof fd !== "number") throw invalidType("fd", "of type number", fd);
  ops.close(fd);
}
export const ftruncateSync = (fd, length = 0) => void ops.ftruncate(fd, length);
export const fsyncSync = (fd) => void ops.fsync(fd);
export const fdatasyncSync = fsyncSync;

export function readSync(fd, buffer, offset, length, position) {
  if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
  const start = offset ?? 0;
  const most = length ?? buffer.byteLength - start;
  const at = position === undefined || position === null || position === -1 ? null : Number(position);
  const bytes = new Uint8Array(ops.read(fd, most, at));
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(bytes, start);
  return bytes.length;
}
export function writeSync(fd, data, offset, length, position) {
  if (typeof data === "string")
    return ops.write(fd, Buffer.from(data, length ?? "utf8"), typeof offset === "number" ? offset : null);
  if (typeof offset === "object" && offset !== null) ({ offset, length, position } = offset);
  const bytes = bytesOf(data);
  const start = offset ?? 0;
  return ops.write(
    fd,
    bytes.subarray(start, start + (length ?? bytes.length - start)),
    typeof position === "number" ? position : null,
  );
}
export const readvSync = (fd, buffers, position) =>
  buffers.reduce(
    (total, buffer) =>
      total +
      readSync(fd, buffer, 0, buffer.byteLength, typeof position === "number" ? position + total : null),
    0,
  );
export const writevSync = (fd, buffers, position) =>
  buffers.reduce(
    (total, buffer) =>
      total +
      writeSync(fd, buffer, 0, buffer.byteLength, typeof position === "number" ? position + total : null),
    0,
  );

export function cpSync(from, to, options = {}) {
  copyTree(pathOf(from, "src"), pathOf(to, "dest"), { recursive: false, force: true, ...options });
}
function copyTree(from, to, options) {
  if (options.filter && !options.filter(from, to)) return;
  const source = statWith(from, {}, Boolean(options.dereference));
  const target = statWith(to, { throwIfNoEntry: false }, false);
  if (source.isDirectory()) {
    if (!options.recursive)
      throw coded(
        Error,
        "ERR_FS_EISDIR",
        `Recursive option not enabled, cannot copy a directory: cp returned EISDIR (${from} is a directory (not copied)) ${from}`,
      );
    if (target && !target.isDirectory())
      throw coded(Error, "ERR_FS_CP_DIR_TO_NON_DIR", `Cannot overwrite non-directory with directory: ${to}`);
    if (`${to}/`.startsWith(`${from}/`))
      throw coded(Error, "ERR_FS_CP_EINVAL", `Cannot copy ${from} to a subdirectory of self ${to}`);
    if (!target) ops.mkdir(to, { recursive: true, mode: source.mode & 0o777 });
    for (const { name } of listed(from)) copyTree(join(from, name), join(to, name), options);
    return;
  }
  if (target?.isDirectory())
    throw coded(Error, "ERR_FS_CP_NON_DIR_TO_DIR", `Cannot overwrite directory with non-directory: ${to}`);
  if (target && options.errorOnExist && !options.force)
    throw coded(
      Error,
      "ERR_FS_CP_EEXIST",
      `Target already exists: cp returned EEXIST (${basename(to)} already exists) ${to}`,
    );
  if (target && !options.force) return;
  const parent = join(to, "..");
  if (!existsSync(parent)) ops.mkdir(parent, { recursive: true, mode: 0o777 });
  if (source.isSymbolicLink()) {
    if (target) ops.unlink(to);
    ops.symlink(ops.readlink(from), to);
  } else ops.copyFile(from, to, false);
  if (options.preserveTimestamps) ops.utimes(to, source.atimeMs / 1000, source.mtimeMs / 1000, false);
}
