// Text and bytes as stream stages.
import { TextDecoder, utf8 } from "haft:web/text";
import { TransformStream } from "haft:web/writable";

export class TextEncoderStream extends TransformStream {
  constructor() {
    super({ transform: (chunk, out) => out.enqueue(utf8(String(chunk))) });
  }
  get encoding() {
    return "utf-8";
  }
}

export class TextDecoderStream extends TransformStream {
  #decoder;
  constructor(label, options) {
    const decoder = new TextDecoder(label, options);
    const give = (text, out) => text && out.enqueue(text);
    super({
      transform: (chunk, out) => give(decoder.decode(chunk, { stream: true }), out),
      flush: (out) => give(decoder.decode(), out),
    });
    this.#decoder = decoder;
  }
  get encoding() {
    return this.#decoder.encoding;
  }
}
