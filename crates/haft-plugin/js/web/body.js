// What Request and Response share: a body given in any of the web's forms, read once in any of them.
import { Blob, blobBytes, joined } from "haft:web/blob";
import { FormData, fromMultipart, toMultipart } from "haft:web/form-data";
import { ReadableStream, disturbed } from "haft:web/readable";
import { TextDecoder, utf8, viewOf } from "haft:web/text";
import { URLSearchParams } from "haft:web/url-params";

const INNER = Symbol("body");

// {bytes} or {stream}, with the content type that the form implies.
function parsed(init) {
  if (init === null || init === undefined) return { bytes: null };
  if (init instanceof ReadableStream) {
    if (init.locked || disturbed(init))
      throw new TypeError("Response body object should not be disturbed or locked");
    return { stream: init };
  }
  if (init instanceof Blob) return { bytes: blobBytes(init), type: init.type || null };
  if (ArrayBuffer.isView(init) || init instanceof ArrayBuffer) return { bytes: viewOf(init).slice() };
  if (init instanceof URLSearchParams)
    return { bytes: utf8(init.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
  if (init instanceof FormData) return toMultipart(init);
  if (typeof init[Symbol.asyncIterator] === "function") return { stream: ReadableStream.from(init) };
  return { bytes: utf8(String(init)), type: "text/plain;charset=UTF-8" };
}

export class Body {
  constructor(init) {
    Object.defineProperty(this, INNER, { value: { ...parsed(init), used: false } });
  }
  get body() {
    const inner = this[INNER];
    if (inner.stream || inner.bytes === null) return inner.stream ?? null;
    const { bytes } = inner;
    return (inner.stream = new ReadableStream({
      start(controller) {
        if (bytes.length) controller.enqueue(bytes);
        controller.close();
      },
    }));
  }
  get bodyUsed() {
    const { used, stream } = this[INNER];
    return used || (stream !== undefined && disturbed(stream));
  }
  async bytes() {
    const inner = this[INNER];
    if (this.bodyUsed || inner.stream?.locked)
      throw new TypeError("Body is unusable: Body has already been read");
    if (inner.bytes === null) return new Uint8Array(0);
    inner.used = true;
    if (!inner.stream) return inner.bytes;
    const chunks = [];
    for await (const chunk of inner.stream)
      chunks.push(typeof chunk === "string" ? utf8(chunk) : viewOf(chunk));
    return joined(chunks);
  }
  async arrayBuffer() {
    const bytes = await this.bytes();
    return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
  }
  async text() {
    return new TextDecoder().decode(await this.bytes());
  }
  async json() {
    return JSON.parse(await this.text());
  }
  async blob() {
    return new Blob([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
  }
  async formData() {
    const type = this.headers.get("content-type") ?? "";
    if (type.includes("multipart/form-data")) return fromMultipart(await this.bytes(), type);
    if (!type.includes("application/x-www-form-urlencoded"))
      throw new TypeError(`Could not parse content as FormData: the content type is "${type}"`);
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
    return form;
  }
}

export const bodyType = (of) => of[INNER].type ?? null;

// For clone(): both get the same bytes, or one half each of a stream.
export function sharedBody(of) {
  const inner = of[INNER];
  if (of.bodyUsed || inner.stream?.locked)
    throw new TypeError("Response.clone: Body has already been consumed.");
  if (!inner.stream) return inner.bytes;
  const [mine, theirs] = inner.stream.tee();
  inner.stream = mine;
  return theirs;
}
