// Web Crypto: random values, digests and HMAC. Ciphers and key pairs are not offered; asking for one names
// what to do instead.
import { hash, hmac, randomBytes, uuid } from "haft:ops";
import { DOMException } from "haft:web/dom-exception";
import { viewOf } from "haft:web/text";

const HASHES = { "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512" };
const nameOf = (algorithm) =>
  String(typeof algorithm === "object" && algorithm ? algorithm.name : algorithm).toUpperCase();

function hashName(algorithm) {
  const name = HASHES[nameOf(algorithm)];
  if (!name) throw new DOMException(`Unrecognized algorithm name: ${nameOf(algorithm)}`, "NotSupportedError");
  return name;
}

class CryptoKey {
  #secret;
  constructor(secret, algorithm, extractable, usages) {
    this.#secret = secret;
    Object.assign(this, { type: "secret", algorithm, extractable, usages });
  }
  static secretOf = (key) => key.#secret;
}

function mustBeHmac(name) {
  if (name !== "HMAC")
    throw new DOMException(`${name} is not offered by haft's own engine; HMAC is`, "NotSupportedError");
}
const sign = (key, data) => hmac(hashName(key.algorithm.hash), CryptoKey.secretOf(key), viewOf(data));

export const subtle = {
  async digest(algorithm, data) {
    return hash(hashName(algorithm), viewOf(data).slice());
  },
  async importKey(format, data, algorithm, extractable, usages) {
    mustBeHmac(nameOf(algorithm));
    if (format !== "raw")
      throw new DOMException(`${format} keys are not offered; raw ones are`, "NotSupportedError");
    const hashed = { name: nameOf(algorithm.hash) };
    hashName(hashed);
    return new CryptoKey(
      viewOf(data).slice(),
      { name: "HMAC", hash: hashed, length: viewOf(data).length * 8 },
      extractable,
      [...usages],
    );
  },
  async sign(algorithm, key, data) {
    mustBeHmac(nameOf(algorithm));
    return sign(key, data);
  },
  async verify(algorithm, key, signature, data) {
    mustBeHmac(nameOf(algorithm));
    const [mine, theirs] = [new Uint8Array(sign(key, data)), viewOf(signature)];
    return (
      mine.length === theirs.length && mine.reduce((diff, byte, i) => diff | (byte ^ theirs[i]), 0) === 0
    );
  },
};

export function getRandomValues(target) {
  const whole = ArrayBuffer.isView(target) && !/Float|DataView/.test(Object.prototype.toString.call(target));
  if (!whole)
    throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
  if (target.byteLength > 65536) {
    throw new DOMException(`The requested length exceeds 65,536 bytes`, "QuotaExceededError");
  }
  viewOf(target).set(new Uint8Array(randomBytes(target.byteLength)));
  return target;
}

export const randomUUID = () => uuid();
export const crypto = {
  getRandomValues,
  randomUUID,
  subtle,
  get [Symbol.toStringTag]() {
    return "Crypto";
  },
};
