import { connect } from "node:net";

/** A request as bytes, so that no library corrects what is meant to be malformed. */
export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /**
   * Bytes that follow on the same connection; undefined: the connection is closed after the
   * response.
   */
  readonly after?: string;
}

export interface RawReply {
  readonly status: number;
  readonly text: string;
}

const answerMillisecondsMax = 20_000;

/** Rejects if there is no response within the time limit. */
export async function sendRaw(url: string, request: RawRequest): Promise<RawReply> {
  const text = (await receiveRaw(url, request)).toString("latin1");
  // Skips interim responses.
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, code]) => Number(code));
  const status = statuses.find((code) => code >= 200);
  if (status === undefined) throw new Error("the connection ended without an answer");
  return { status, text };
}

/** All bytes that the server sends until it closes the connection. */
export function receiveRaw(url: string, request: RawRequest): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.setTimeout(answerMillisecondsMax, () => socket.destroy(new Error("no answer in time")));
    socket.on("data", (chunk) => chunks.push(chunk));
    // A server may respond and close before it has read everything.
    socket.on("error", (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on("close", () => resolve(Buffer.concat(chunks)));
    socket.write(bytesOf(request));
  });
}

export function bytesOf({ method, target, headers, body, after }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const end = after === undefined ? ["Connection: close"] : [];
  const head = [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, ...end];
  const first = Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1");
  return Buffer.concat([first, body, Buffer.from(after ?? "")]);
}
