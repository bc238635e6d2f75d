// The names of `crypto` that deal with keys and ciphers. The engine has none of that, but libraries import the names at load
// and often never use them (a token library that only hashes), so each says so when it is called.
import { hmac } from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";
import { unsupported } from "haft:node/parts/errors";
import { bytesOf } from "haft:node/parts/fs-args";

const refuse = (name) =>
  Object.defineProperty(
    () => {
      throw unsupported(`crypto.${name}`, "run this plugin with Bun or Node");
    },
    "name",
    { value: name },
  );

export const createCipheriv = refuse("createCipheriv");
export const createDecipheriv = refuse("createDecipheriv");
export const createDiffieHellman = refuse("createDiffieHellman");
export const createECDH = refuse("createECDH");
export const createPrivateKey = refuse("createPrivateKey");
export const createPublicKey = refuse("createPublicKey");
export const createSecretKey = refuse("createSecretKey");
export const createSign = refuse("createSign");
export const createVerify = refuse("createVerify");
export const diffieHellman = refuse("diffieHellman");
export const generateKeyPair = refuse("generateKeyPair");
export const generateKeyPairSync = refuse("generateKeyPairSync");
export const privateDecrypt = refuse("privateDecrypt");
export const privateEncrypt = refuse("privateEncrypt");
export const publicDecrypt = refuse("publicDecrypt");
export const publicEncrypt = refuse("publicEncrypt");
export const scrypt = refuse("scrypt");
export const scryptSync = refuse("scryptSync");
export const sign = refuse("sign");
export const verify = refuse("verify");
export class KeyObject {
  constructor() {
    throw unsupported("crypto.KeyObject", "run this plugin with Bun or Node");
  }
}
export const getCiphers = () => [];
export const getCurves = () => [];
export const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_PKCS1_OAEP_PADDING: 4,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
};

export function pbkdf2Sync(password, salt, rounds, length, digest) {
  const [key, start] = [bytesOf(password), bytesOf(salt)];
  const blocks = [];
  for (let i = 1, size = 0; size < length; i++) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(i);
    let last = new Uint8Array(hmac(digest.toLowerCase(), key, Buffer.concat([start, counter])));
    const block = Uint8Array.from(last);
    for (let round = 1; round < rounds; round++) {
      last = new Uint8Array(hmac(digest.toLowerCase(), key, last));
      for (let k = 0; k < block.length; k++) block[k] ^= last[k];
    }
    blocks.push(block);
    size += block.length;
  }
  return Buffer.concat(blocks, length);
}
export function pbkdf2(...args) {
  const callback = args.pop();
  const made = pbkdf2Sync(...args);
  Promise.resolve().then(() => callback(null, made));
}
