import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { once } from "node:events";

/** A request and its response, reduced to the headers that matter for concurrency. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly asked: Readonly<Record<string, string>>;
  readonly status: number;
  readonly answered: Readonly<Record<string, string>>;
}

const askedNames = [
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "x-ms-copy-source",
  "x-ms-source-if-match",
  "x-ms-rename-source",
  "x-ms-lease-id",
  "x-ms-lease-action",
  "x-ms-lease-duration",
  "x-ms-lease-break-period",
];
const answeredNames = ["etag", "x-ms-lease-id", "x-ms-popreceipt", "x-ms-error-code"];

/** Parameters that say nothing about concurrency: those of a SAS, and the time limit of a request. */
const hiddenParameters = new Set(["sv", "ss", "srt", "sp", "se", "sig", "timeout"]);

/** A proxy between client and server that reports every exchange. */
export async function openGlass(
  target: string,
  show: (exchange: Exchange) => void,
): Promise<{ readonly url: string; close(): void }> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming;
    const sent = request({ host: hostname, port, method, path: url, headers }, (answer) => {
      show(exchangeOf(incoming, answer));
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    sent.on("error", () => outgoing.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: urlOf(server),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
  return `http://127.0.0.1:${address.port}`;
}

function exchangeOf(incoming: IncomingMessage, answer: IncomingMessage): Exchange {
  const pick = (from: IncomingMessage, names: readonly string[]): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => (from.headers[name] === undefined ? [] : [[name, text(from, name)]])),
    );
  return {
    method: incoming.method ?? "",
    path: pathOf(incoming.url ?? ""),
    asked: pick(incoming, askedNames),
    status: answer.statusCode ?? 0,
    answered: pick(answer, answeredNames),
  };
}

function pathOf(url: string): string {
  const { pathname, searchParams } = new URL(url, "http://tour");
  const shown = [...searchParams]
    .filter(([name]) => !hiddenParameters.has(name))
    .map(([name, value]) => `${name}=${value}`);
  return [decodeURIComponent(pathname), ...(shown.length > 0 ? [shown.join("&")] : [])].join("?");
}

function text(message: IncomingMessage, name: string): string {
  return String(message.headers[name]);
}
