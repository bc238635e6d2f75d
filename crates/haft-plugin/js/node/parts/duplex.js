// Streams with two sides.
import { coded } from "haft:node/parts/errors";
import { Readable } from "haft:node/parts/readable";
import { addWritable, prepareWritable, Writable } from "haft:node/parts/writable";

export class Duplex extends Readable {
  constructor(options = {}) {
    super(options);
    this.allowHalfOpen = options.allowHalfOpen !== false;
    prepareWritable(this, options);
  }
  static from(source) {
    if (source?.readable && source?.writable) {
      const { readable, writable } = source;
      const duplex = new Duplex({
        read() {},
        write: (chunk, encoding, done) => void writable.write(chunk, encoding, done),
        final: (done) => void writable.end(done),
      });
      readable
        .on("data", (chunk) => duplex.push(chunk))
        .on("end", () => duplex.push(null))
        .on("error", (error) => duplex.destroy(error));
      return duplex;
    }
    return Readable.from(source);
  }
}
addWritable(Duplex.prototype);
Object.defineProperty(Writable, Symbol.hasInstance, {
  value(value) {
    return (
      Function.prototype[Symbol.hasInstance].call(this, value) ||
      (this === Writable && value instanceof Duplex)
    );
  },
});

export class Transform extends Duplex {
  #wanted = null;
  _transform() {
    throw coded(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _transform() method is not implemented");
  }
  _write(chunk, encoding, done) {
    this._transform(chunk, encoding, (error, made) => {
      if (error) return done(error);
      if (made !== undefined && made !== null) this.push(made);
      const inner = this._readableState;
      // A full reading side holds the writing side back.
      if (inner.ended || inner.length < inner.highWaterMark) done();
      else this.#wanted = done;
    });
  }
  _final(done) {
    const finish = (error, made) => {
      if (error) return done(error);
      if (made !== undefined && made !== null) this.push(made);
      this.push(null);
      done();
    };
    if (this._flush) this._flush(finish);
    else finish();
  }
  _read() {
    this._readableState.reading = false;
    const done = this.#wanted;
    this.#wanted = null;
    done?.();
  }
}

export class PassThrough extends Transform {
  _transform(chunk, _, done) {
    done(null, chunk);
  }
}
