// `atob` and `btoa` for an engine without them.
import { base64Decode, base64Encode } from "haft:ops";
import { DOMException } from "haft:web/dom-exception";

export function btoa(text) {
  const string = String(text);
  const bytes = new Uint8Array(string.length);
  for (let i = 0; i < string.length; i++) {
    const code = string.charCodeAt(i);
    if (code > 255)
      throw new DOMException(
        "The string contains characters outside of the Latin1 range",
        "InvalidCharacterError",
      );
    bytes[i] = code;
  }
  return base64Encode(bytes);
}

export function atob(text) {
  const string = String(text).replace(/[\t\n\f\r ]/g, "");
  const bare = string.length % 4 === 0 ? string.replace(/==?$/, "") : string;
  if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) {
    throw new DOMException("The string to be decoded is not correctly encoded.", "InvalidCharacterError");
  }
  return Array.from(new Uint8Array(base64Decode(bare)), (byte) => String.fromCharCode(byte)).join("");
}
