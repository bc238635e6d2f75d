// `crypto`: random values, digests, HMAC, PBKDF2 and constant-time comparison. Ciphers and keys are refused when used.
import * as ops from "haft:ops";
import * as keys from "haft:node/parts/crypto-keys";
import { Buffer } from "haft:node/parts/buffer";
import { coded, invalidType, outOfRange } from "haft:node/parts/errors";
import { bytesOf } from "haft:node/parts/fs-args";
import { crypto as webcrypto, getRandomValues, randomUUID, subtle } from "haft:web/crypto";

export * from "haft:node/parts/crypto-keys";
export { getRandomValues, randomUUID, subtle, webcrypto };

const HASHES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
const hashName = (name) => {
  const plain = String(name)
    .toLowerCase()
    .replace("-", "")
    .replace(/^rsasha/, "sha");
  if (!HASHES.includes(plain))
    throw coded(Error, "ERR_OSSL_EVP_UNSUPPORTED", `Digest method not supported: ${name}`);
  return plain;
};

// Chunks wait until digest(), which the engine computes in one go.
class Digest {
  #chunks = [];
  #finish;
  #done = false;
  constructor(finish) {
    this.#finish = finish;
  }
  update(data, encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.#chunks.push(Buffer.from(bytesOf(data, encoding)));
    return this;
  }
  digest(encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.#done = true;
    const made = Buffer.from(this.#finish(Buffer.concat(this.#chunks)));
    return encoding && encoding !== "buffer" ? made.toString(encoding) : made;
  }
  copy() {
    const twin = new this.constructor(this.#finish);
    twin.#chunks = [...this.#chunks];
    return twin;
  }
  // Enough of a stream to be piped into.
  write(chunk, encoding) {
    this.update(chunk, typeof encoding === "string" ? encoding : undefined);
    return true;
  }
  end(chunk) {
    if (chunk !== undefined) this.update(chunk);
    this.#ended.forEach((f) => f());
    return this;
  }
  #ended = [];
  on(event, f) {
    if (event === "finish") this.#ended.push(f);
    return this;
  }
  once(event, f) {
    return this.on(event, f);
  }
  emit() {
    return false;
  }
  removeListener() {
    return this;
  }
  read() {
    return this.digest();
  }
}
export class Hash extends Digest {}
export class Hmac extends Digest {}

export function createHash(name) {
  const algorithm = hashName(name);
  return new Hash((bytes) => ops.hash(algorithm, bytes));
}
export function createHmac(name, key) {
  const algorithm = hashName(name);
  const secret = bytesOf(key instanceof ArrayBuffer ? new Uint8Array(key) : key);
  return new Hmac((bytes) => ops.hmac(algorithm, secret, bytes));
}
export const hash = (name, data, encoding = "hex") => createHash(name).update(data).digest(encoding);
export const getHashes = () => [...HASHES];

export function randomBytes(size, callback) {
  if (typeof size !== "number") throw invalidType("size", "of type number", size);
  if (!(size >= 0 && size <= 2 ** 31 - 1)) throw outOfRange("size", ">= 0 && <= 2147483647", size);
  const made = Buffer.from(ops.randomBytes(size));
  if (!callback) return made;
  Promise.resolve().then(() => callback(null, made));
}
export function randomFillSync(target, offset = 0, size = target.byteLength - offset) {
  new Uint8Array(target.buffer ?? target, (target.byteOffset ?? 0) + offset, size).set(
    new Uint8Array(ops.randomBytes(size)),
  );
  return target;
}
export function randomFill(target, ...rest) {
  const callback = rest.pop();
  randomFillSync(target, ...rest);
  Promise.resolve().then(() => callback(null, target));
}

export function randomInt(low, high, callback) {
  if (high === undefined || typeof high === "function") [low, high, callback] = [0, low, high];
  if (!Number.isSafeInteger(low)) throw invalidType("min", "a safe integer", low);
  if (!Number.isSafeInteger(high)) throw invalidType("max", "a safe integer", high);
  if (high <= low) throw outOfRange("max", `greater than the value of "min" (${low})`, high);
  const range = high - low;
  if (range > 2 ** 48 - 1) throw outOfRange("max - min", "<= 281474976710655", range);
  // Values past the last whole multiple are thrown away, else the low ones would come more often.
  const limit = 2 ** 48 - (2 ** 48 % range);
  let value = limit;
  while (value >= limit) value = Buffer.from(ops.randomBytes(6)).readUIntBE(0, 6);
  if (!callback) return low + (value % range);
  Promise.resolve().then(() => callback(null, low + (value % range)));
}

export function timingSafeEqual(a, b) {
  const [left, right] = [a, b].map((value) =>
    value instanceof ArrayBuffer ? new Uint8Array(value) : bytesOf(value),
  );
  if (left.length !== right.length)
    throw coded(
      RangeError,
      "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
      "Input buffers must have the same byte length",
    );
  let differs = 0;
  for (let i = 0; i < left.length; i++) differs |= left[i] ^ right[i];
  return differs === 0;
}

export default {
  ...keys,
  Hash,
  Hmac,
  createHash,
  createHmac,
  getHashes,
  getRandomValues,
  hash,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  subtle,
  timingSafeEqual,
  webcrypto,
};
