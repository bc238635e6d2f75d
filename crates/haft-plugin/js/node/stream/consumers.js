// `stream/consumers`: a whole stream as one value.
import { Buffer } from "haft:node/parts/buffer";
import { Blob } from "haft:web/blob";

export async function buffer(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}
export const arrayBuffer = async (stream) => new Uint8Array(await buffer(stream)).buffer;
export const text = async (stream) => (await buffer(stream)).toString();
export const json = async (stream) => JSON.parse(await text(stream));
export const blob = async (stream) => new Blob([await buffer(stream)]);
export default { arrayBuffer, blob, buffer, json, text };
