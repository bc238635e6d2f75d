// `tty`: the host has no terminal, and says so.
import { unsupported } from "haft:node/parts/errors";

export const isatty = () => false;
export class ReadStream {
  constructor() {
    throw unsupported("tty.ReadStream", "there is no terminal");
  }
}
export class WriteStream {
  constructor() {
    throw unsupported("tty.WriteStream", "there is no terminal");
  }
}
export default { ReadStream, WriteStream, isatty };
