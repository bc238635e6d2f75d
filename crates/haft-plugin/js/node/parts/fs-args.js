// The arguments of file functions: paths, encodings, data, times and open flags in all the forms Node
// accepts.
import { Buffer } from "haft:node/parts/buffer";
import { encodingOf } from "haft:node/parts/encodings";
import { coded, invalidType, invalidValue } from "haft:node/parts/errors";
import { internal } from "haft:ops";

export function pathOf(path, name = "path") {
  let text = path;
  if (path instanceof Uint8Array) text = Buffer.from(path).toString();
  else if (typeof path === "object" && path !== null && typeof path.href === "string")
    text = internal("node/url").fileURLToPath(path);
  if (typeof text !== "string")
    throw invalidType(name, "of type string or an instance of Buffer or URL", path);
  if (text.includes("\0"))
    throw invalidValue(name, text, "must be a string, Uint8Array, or URL without null bytes");
  return text;
}

// Options may be an encoding alone.
export function optionsOf(options, defaults = {}) {
  if (options === undefined || options === null || typeof options === "function") return { ...defaults };
  const given = typeof options === "string" ? { encoding: options } : options;
  if (typeof given !== "object") throw invalidType("options", "one of type string or object", options);
  const { encoding } = given;
  if (encoding !== undefined && encoding !== null && encoding !== "buffer" && !encodingOf(encoding))
    throw invalidValue("encoding", encoding, "is invalid encoding");
  return { ...defaults, ...given };
}

export const asEncoded = (bytes, encoding) => {
  const buffer = Buffer.from(bytes);
  return encoding && encoding !== "buffer" ? buffer.toString(encoding) : buffer;
};
export const nameAs = (name, encoding) =>
  encoding === "buffer"
    ? Buffer.from(name)
    : encoding && encodingOf(encoding) !== "utf8"
      ? Buffer.from(name).toString(encoding)
      : name;

export function bytesOf(data, encoding) {
  if (typeof data === "string")
    return Buffer.from(data, encoding === "buffer" ? "utf8" : (encoding ?? "utf8"));
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw invalidType("data", "of type string or an instance of Buffer, TypedArray, or DataView", data);
}

export function secondsOf(time, name = "time") {
  if (time instanceof Date) return time.getTime() / 1000;
  const number = typeof time === "bigint" ? Number(time) : typeof time === "string" ? Number(time) : time;
  if (typeof number !== "number" || Number.isNaN(number))
    throw invalidType(name, "one of type number or string or an instance of Date", time);
  return number;
}

export function modeOf(mode, fallback) {
  if (mode === undefined || mode === null) return fallback;
  return typeof mode === "string" ? parseInt(mode, 8) : mode;
}

export const constants = {
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
  COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 64,
  O_EXCL: 128,
  O_NOCTTY: 256,
  O_TRUNC: 512,
  O_APPEND: 1024,
  O_NONBLOCK: 2048,
  O_DSYNC: 4096,
  O_DIRECTORY: 65536,
  O_NOFOLLOW: 131072,
  O_SYNC: 1052672,
  S_IFMT: 61440,
  S_IFREG: 32768,
  S_IFDIR: 16384,
  S_IFCHR: 8192,
  S_IFBLK: 24576,
  S_IFIFO: 4096,
  S_IFLNK: 40960,
  S_IFSOCK: 49152,
  S_IRWXU: 448,
  S_IRUSR: 256,
  S_IWUSR: 128,
  S_IXUSR: 64,
  S_IRWXG: 56,
  S_IRGRP: 32,
  S_IWGRP: 16,
  S_IXGRP: 8,
  S_IRWXO: 7,
  S_IROTH: 4,
  S_IWOTH: 2,
  S_IXOTH: 1,
};

const FLAGS = ["r", "r+", "w", "wx", "w+", "wx+", "a", "ax", "a+", "ax+"];

// Numbers are Linux's own, which our `constants` promise on every platform; the op takes the words.
export function flagsOf(flags = "r") {
  if (typeof flags === "number") {
    const has = (bit) => (flags & bit) !== 0;
    const both = (flags & 3) === constants.O_RDWR ? "+" : "";
    if (has(constants.O_APPEND)) return `a${has(constants.O_EXCL) ? "x" : ""}${both}`;
    if (has(constants.O_CREAT) && (has(constants.O_TRUNC) || has(constants.O_EXCL)))
      return `w${has(constants.O_EXCL) ? "x" : ""}${both}`;
    if (has(constants.O_TRUNC)) return `w${both}`;
    if (has(constants.O_CREAT)) return `a${both}`;
    return (flags & 3) === constants.O_RDONLY ? "r" : "r+";
  }
  const word = String(flags).replace("s", "").replace(/^x(.)/, "$1x");
  if (!FLAGS.includes(word)) throw invalidValue("flags", flags);
  return word;
}

export const closedHandle = () => coded(Error, "EBADF", "file closed", { syscall: "close", errno: -9 });
