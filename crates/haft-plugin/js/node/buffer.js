// The module `buffer`.
import { Buffer, kMaxLength } from "haft:node/parts/buffer";
import { decode as decodeBytes, encodingOf } from "haft:node/parts/encodings";
import { decode } from "haft:ops";
import { Blob, File } from "haft:web/blob";
import { viewOf } from "haft:web/text";

export { Blob, Buffer, File, kMaxLength };
export const atob = (text) => globalThis.atob(text);
export const btoa = (text) => globalThis.btoa(text);
export const SlowBuffer = Buffer;
export const kStringMaxLength = 2 ** 30 - 2;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
export const INSPECT_MAX_BYTES = 50;
export const isAscii = (input) => viewOf(input).every((byte) => byte < 128);
export function isUtf8(input) {
  try {
    decode("utf-8", viewOf(input), { fatal: true });
    return true;
  } catch {
    return false;
  }
}
export const transcode = (source, from, to) => Buffer.from(decodeBytes(source, encodingOf(from)), to);
export default {
  Blob,
  Buffer,
  File,
  INSPECT_MAX_BYTES,
  SlowBuffer,
  atob,
  btoa,
  constants,
  isAscii,
  isUtf8,
  kMaxLength,
  kStringMaxLength,
  transcode,
};
