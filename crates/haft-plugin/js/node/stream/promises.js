// Streams to await.
import * as callbacks from "haft:node/parts/pipeline";

export const pipeline = (...stages) =>
  new Promise((done, fail) =>
    callbacks.pipeline(...stages, (error, value) => (error ? fail(error) : done(value))),
  );
export const finished = (stream, options = {}) =>
  new Promise((done, fail) => callbacks.finished(stream, options, (error) => (error ? fail(error) : done())));
export default { finished, pipeline };
