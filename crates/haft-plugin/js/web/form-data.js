// FormData, and its way to and from `multipart/form-data` bytes.
import { uuid } from "haft:ops";
import { Blob, File, blobBytes, joined } from "haft:web/blob";
import { fromUtf8, utf8 } from "haft:web/text";

const entryOf = (value, filename) =>
  !(value instanceof Blob)
    ? String(value)
    : value instanceof File && filename === undefined
      ? value
      : new File([value], filename ?? "blob", { type: value.type });

export class FormData {
  #list = [];
  append(name, value, filename) {
    this.#list.push([String(name), entryOf(value, filename)]);
  }
  set(name, value, filename) {
    const at = this.#list.findIndex(([key]) => key === String(name));
    const entry = [String(name), entryOf(value, filename)];
    if (at < 0) return void this.#list.push(entry);
    this.#list[at] = entry;
    this.#list = this.#list.filter(([key], i) => i <= at || key !== String(name));
  }
  delete(name) {
    this.#list = this.#list.filter(([key]) => key !== String(name));
  }
  get(name) {
    return this.#list.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name) {
    return this.#list.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name) {
    return this.#list.some(([key]) => key === String(name));
  }
  forEach(callback, self) {
    for (const [key, value] of this.#list) callback.call(self, value, key, this);
  }
  *entries() {
    for (const [key, value] of this.#list) yield [key, value];
  }
  *keys() {
    for (const [key] of this.#list) yield key;
  }
  *values() {
    for (const [, value] of this.#list) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  get [Symbol.toStringTag]() {
    return "FormData";
  }
}

const quoted = (text) => text.replace(/\r?\n|\r/g, "%0D%0A").replaceAll('"', "%22");

export function toMultipart(form) {
  const boundary = `----haft${uuid().replaceAll("-", "")}`;
  const chunks = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === "string")
      chunks.push(utf8(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, "\r\n")}\r\n`));
    else {
      chunks.push(
        utf8(
          `${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`,
        ),
      );
      chunks.push(blobBytes(value), utf8("\r\n"));
    }
  }
  chunks.push(utf8(`--${boundary}--\r\n`));
  return { bytes: joined(chunks), type: `multipart/form-data; boundary=${boundary}` };
}

function find(bytes, needle, from) {
  outer: for (let i = from; i + needle.length <= bytes.length; i++) {
    for (let j = 0; j < needle.length; j++) if (bytes[i + j] !== needle[j]) continue outer;
    return i;
  }
  return -1;
}

export function fromMultipart(bytes, contentType) {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (!boundary) throw new TypeError("Failed to parse body as FormData: no boundary");
  const form = new FormData();
  const mark = utf8(`--${boundary}`);
  let at = find(bytes, mark, 0);
  while (at >= 0) {
    const start = at + mark.length;
    const next = find(bytes, mark, start);
    if (next < 0) break;
    const blank = find(bytes, utf8("\r\n\r\n"), start);
    if (blank < 0) throw new TypeError("Failed to parse body as FormData: a part has no end of its head");
    const head = fromUtf8(bytes.subarray(start + 2, blank));
    const data = bytes.slice(blank + 4, next - 2);
    const attribute = (key) =>
      new RegExp(`[;\\s]${key}="([^"]*)"`, "i").exec(head)?.[1].replaceAll("%22", '"');
    const filename = attribute("filename");
    const type = /content-type:\s*(.+)/i.exec(head)?.[1].trim();
    form.append(
      attribute("name") ?? "",
      filename === undefined ? fromUtf8(data) : new File([data], filename, { type }),
    );
    at = next;
  }
  return form;
}
