// StringDecoder: text out of chunks, where a character may be cut between two of them.
import { Buffer } from "haft:node/parts/buffer";
import { decode, encodingOf } from "haft:node/parts/encodings";
import { coded } from "haft:node/parts/errors";
import { TextDecoder } from "haft:web/text";

export class StringDecoder {
  #text = null;
  #left = Buffer.alloc(0);
  constructor(encoding) {
    this.encoding = encodingOf(encoding);
    if (!this.encoding) throw coded(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
    const label = { utf8: "utf-8", utf16le: "utf-16le" }[this.encoding];
    if (label) this.#text = new TextDecoder(label, { ignoreBOM: true });
  }
  write(chunk) {
    if (typeof chunk === "string") return chunk;
    if (this.#text) return this.#text.decode(chunk, { stream: true });
    if (!this.encoding.startsWith("base64")) return decode(chunk, this.encoding);
    const whole = Buffer.concat([this.#left, chunk]);
    const end = whole.length - (whole.length % 3);
    this.#left = whole.subarray(end);
    return decode(whole.subarray(0, end), this.encoding);
  }
  end(chunk) {
    const text = chunk === undefined ? "" : this.write(chunk);
    const left = this.#text ? this.#text.decode() : decode(this.#left, this.encoding);
    this.#left = Buffer.alloc(0);
    return text + left;
  }
}
export default { StringDecoder };
