// fetch: haft does the request, under its own rules for the network; here are only the web's forms around it.
import { base64Decode, base64Encode, request as ask } from "haft:ops";
import { withSignal } from "haft:web/abort";
import { ReadableStream } from "haft:web/readable";
import { Request } from "haft:web/request";
import { Response } from "haft:web/response";
import { fromUtf8, viewOf } from "haft:web/text";

const NO_BODY = [101, 204, 205, 304];

// What is still arriving is asked for piece by piece, when somebody wants it.
function arriving(stream) {
  const pull = async (controller) => {
    const data = await ask("read", { stream });
    if (data === null) controller.close();
    else controller.enqueue(new Uint8Array(base64Decode(data)));
  };
  const cancel = async () => {
    await ask("drop", { stream });
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

// `data:` needs no network.
function fromData(url) {
  const [, head, data] = /^data:([^,]*),([^#]*)/s.exec(url) ?? [];
  if (data === undefined) throw new TypeError("fetch failed");
  const base64 = /;\s*base64\s*$/i.test(head);
  const type = head.replace(/;\s*base64\s*$/i, "") || "text/plain;charset=US-ASCII";
  const plain = Uint8Array.from(unescape(data), (char) => char.charCodeAt(0));
  const body = base64 ? new Uint8Array(base64Decode(fromUtf8(plain))) : plain;
  return Response.withFacts(new Response(body, { headers: { "content-type": type } }), {
    url,
    type: "basic",
  });
}

async function send(request) {
  const payload = request.body === null ? null : base64Encode(viewOf(await request.bytes()));
  let answer;
  try {
    answer = await ask("fetch", {
      method: request.method,
      url: request.url,
      headers: [...request.headers],
      body: payload,
      redirect: request.redirect,
    });
  } catch (cause) {
    throw new TypeError(`fetch failed: ${cause?.message ?? cause}`, { cause });
  }
  const bodyless = NO_BODY.includes(answer.status) || request.method === "HEAD";
  const whole = () => new Uint8Array(base64Decode(answer.body ?? ""));
  const body = bodyless ? null : answer.stream === undefined ? whole() : arriving(answer.stream);
  const { status, statusText = "", url, redirected = false } = answer;
  return Response.withFacts(new Response(body, { headers: answer.headers }), {
    status,
    statusText,
    url,
    redirected,
    type: "basic",
  });
}

export async function fetch(input, init) {
  const request = new Request(input, init);
  if (request.url.startsWith("data:")) return fromData(request.url);
  const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
  if (signal?.aborted) throw signal.reason;
  return withSignal(send(request), signal);
}
