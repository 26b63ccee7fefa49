import { lookup as resolve, type LookupAddress } from "node:dns";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { portOf } from "./own-endpoints.ts";
import {
  metadataIn,
  sourceMarkHeader,
  SourceUnreachable,
  type SourceReader,
  type SourceRequest,
} from "./source-reader.ts";
import type { SourcePolicy } from "./source-policy.ts";

/** Reads copy sources on other servers, over HTTP and HTTPS, from addresses that `source-policy.ts`
 *  permits. */

/** A source that sends no byte for this long counts as unreachable, so that a copy ends. */
const idleMilliseconds = 30_000;

/** Opens a connection to the server of a URL. It emits `timeout` when it has been idle for that
 *  long. */
export type Connect = (url: URL, idleMilliseconds: number) => Duplex;

/** Returns the reader of sources on other servers. Redirects are not followed, because they could
 *  lead to a blocked address. `connect` connects in a simulated network. */
export function remoteSources(policy: SourcePolicy, connect?: Connect): SourceReader {
  return (request) =>
    new Promise((settle, refuse) => {
      const { url } = request;
      const host = url.hostname.replace(/^\[|\]$/g, "");
      // Node does not call `lookup` for an address, so an address is checked here.
      if (isIP(host) !== 0 && !policy.permits(host, portOf(url))) {
        refuse(blocked(host));
        return;
      }
      const send = url.protocol === "https:" ? requestHttps : requestHttp;
      const sent = send(url, requestOptions(request, policy, connect));
      sent.on("response", (response: IncomingMessage) => settle(answerOf(response)));
      sent.on("timeout", () => sent.destroy(new SourceUnreachable(`${host} does not answer`)));
      sent.on("error", (error) =>
        refuse(error instanceof SourceUnreachable ? error : new SourceUnreachable(error.message)),
      );
      sent.end();
    });
}

/** The options of the request. `lookup` runs once, during the connect: the addresses that it
 *  returns are those that are connected to, so a later DNS response cannot replace them. */
function requestOptions(
  { url, method, headers, signal }: SourceRequest,
  policy: SourcePolicy,
  connect: Connect | undefined,
): RequestOptions {
  const port = portOf(url);
  // An agent would use a socket of this machine.
  const connection =
    connect === undefined
      ? { agent: false as const }
      : { createConnection: () => connect(url, idleMilliseconds) };
  return {
    method,
    // The mark lets admin listeners reject the request.
    headers: { ...headers, "accept-encoding": "identity", [sourceMarkHeader]: "1" },
    ...connection,
    timeout: idleMilliseconds,
    ...(signal === undefined ? {} : { signal }),
    lookup: (hostname, options, done) =>
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return done(error, "", 0);
        const open = addresses.filter(({ address }) => policy.permits(address, port));
        const [first] = open;
        if (first === undefined) return done(blocked(hostname), "", 0);
        if (options.all === true) return (done as DoneWithAll)(null, open);
        return done(null, first.address, first.family);
      }),
  };
}

function blocked(host: string): SourceUnreachable {
  const advice = "--allowedSources permits a range of addresses, except the admin listener";
  return new SourceUnreachable(`copy source ${host} has a blocked address; ${advice}`, 403);
}

type DoneWithAll = (error: Error | null, addresses: LookupAddress[]) => void;

function answerOf(response: IncomingMessage) {
  return {
    status: response.statusCode ?? 0,
    reason: response.statusMessage ?? "",
    headers: response.headers as Record<string, string | undefined>,
    metadata: metadataIn(pairsOf(response.rawHeaders)),
    body: response as AsyncIterable<Uint8Array>,
    close: () => void response.destroy(),
  };
}

function* pairsOf(rawHeaders: readonly string[]): Generator<readonly [string, string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    yield [rawHeaders[at]!, rawHeaders[at + 1]!];
}
