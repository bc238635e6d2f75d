// `stream/web`: the web's streams by name.
import { ReadableStream, ReadableStreamDefaultReader } from "haft:web/readable";
import { TextDecoderStream, TextEncoderStream } from "haft:web/text-streams";
import {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  TransformStream,
  WritableStream,
} from "haft:web/writable";

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableStream,
  ReadableStreamDefaultReader,
  TextDecoderStream,
  TextEncoderStream,
  TransformStream,
  WritableStream,
};
export default {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableStream,
  ReadableStreamDefaultReader,
  TextDecoderStream,
  TextEncoderStream,
  TransformStream,
  WritableStream,
};
