// Text to bytes and back in Node's encodings.
import { base64Decode, base64Encode, encodeUtf8 } from "haft:ops";
import { fromUtf8 } from "haft:web/text";

const NAMES = {
  utf8: "utf8",
  "utf-8": "utf8",
  hex: "hex",
  base64: "base64",
  base64url: "base64url",
  latin1: "latin1",
  binary: "latin1",
  ascii: "ascii",
  utf16le: "utf16le",
  "utf-16le": "utf16le",
  ucs2: "utf16le",
  "ucs-2": "utf16le",
};

// The canonical name, or undefined for one that Node does not know.
export const encodingOf = (name) =>
  name === undefined || name === null || name === ""
    ? "utf8"
    : (NAMES[name] ?? NAMES[String(name).toLowerCase()]);

function chars(bytes, map) {
  let out = "";
  for (let i = 0; i < bytes.length; i += 4096)
    out += String.fromCharCode.apply(
      null,
      map ? bytes.subarray(i, i + 4096).map(map) : bytes.subarray(i, i + 4096),
    );
  return out;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function fromHex(text) {
  const out = new Uint8Array(text.length >> 1);
  for (let i = 0; i < out.length; i++) {
    const pair = text.slice(i * 2, i * 2 + 2);
    if (!/^[0-9a-fA-F]{2}$/.test(pair)) return out.subarray(0, i);
    out[i] = parseInt(pair, 16);
  }
  return out;
}

export function encode(text, encoding) {
  switch (encoding) {
    case "utf8":
      return new Uint8Array(encodeUtf8(text.isWellFormed() ? text : text.toWellFormed()));
    case "hex":
      return fromHex(text);
    case "base64":
    case "base64url":
      return new Uint8Array(base64Decode(text));
    case "utf16le": {
      const out = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        out[i * 2] = code & 255;
        out[i * 2 + 1] = code >> 8;
      }
      return out;
    }
    default: {
      const out = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
      return out;
    }
  }
}

export function decode(bytes, encoding) {
  if (bytes.length === 0) return "";
  switch (encoding) {
    case "utf8":
      return fromUtf8(bytes);
    case "hex": {
      let out = "";
      for (let i = 0; i < bytes.length; i++) out += HEX[bytes[i]];
      return out;
    }
    case "base64":
      return base64Encode(bytes);
    case "base64url":
      return base64Encode(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    case "ascii":
      return chars(bytes, (byte) => byte & 127);
    case "utf16le": {
      let out = "";
      for (let i = 0; i + 1 < bytes.length; i += 2)
        out += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
      return out;
    }
    default:
      return chars(bytes);
  }
}
