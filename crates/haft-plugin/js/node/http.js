// The module `http`: requests only.
import { client } from "haft:node/parts/http";

const http = client("http:");
export const {
  Agent,
  ClientRequest,
  IncomingMessage,
  METHODS,
  STATUS_CODES,
  createServer,
  get,
  globalAgent,
  request,
} = http;
export default http;
