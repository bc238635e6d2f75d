// The module `stream`. Covered: the four kinds, back-pressure, pipes, `pipeline`, `finished`, iteration and
// the web's streams; of the helper methods only `map filter forEach reduce toArray`.
import { Duplex, PassThrough, Transform } from "haft:node/parts/duplex";
import { finished, pipeline } from "haft:node/parts/pipeline";
import { Readable } from "haft:node/parts/readable";
import { Stream, addAbortSignal } from "haft:node/parts/stream-base";
import { Writable } from "haft:node/parts/writable";
import promises from "haft:node/stream/promises";

pipeline[Symbol.for("nodejs.util.promisify.custom")] = promises.pipeline;
finished[Symbol.for("nodejs.util.promisify.custom")] = promises.finished;
export {
  Duplex,
  PassThrough,
  Readable,
  Stream,
  Transform,
  Writable,
  addAbortSignal,
  finished,
  pipeline,
  promises,
};
export const isReadable = (stream) =>
  Boolean(stream?._readableState) && !stream.destroyed && !stream.readableEnded;
export const isWritable = (stream) =>
  Boolean(stream?._writableState) && !stream.destroyed && !stream.writableEnded;
export const isDisturbed = (stream) => Readable.isDisturbed(stream);
export const isDestroyed = (stream) => Boolean(stream?.destroyed);
export const destroy = (stream, error) => stream.destroy(error);
export const isErrored = (stream) => Boolean(stream?.errored);
export const getDefaultHighWaterMark = (objectMode) => (objectMode ? 16 : 65536);
export default Object.assign(Stream, {
  Duplex,
  PassThrough,
  Readable,
  Stream,
  Transform,
  Writable,
  addAbortSignal,
  finished,
  getDefaultHighWaterMark,
  isErrored,
  isReadable,
  isWritable,
  isDisturbed,
  isDestroyed,
  destroy,
  pipeline,
  promises,
});
