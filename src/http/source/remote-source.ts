import { lookup as resolve, type LookupAddress } from "node:dns";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type BlockList } from "node:net";
import { blockListOf, isBarred } from "./forbidden-addresses.ts";
import { metadataIn } from "./source-found.ts";
import { SourceUnreachable, type SourceReader, type SourceRequest } from "./source-reader.ts";

export interface RemoteOptions {
  /** Addresses that must not be asked, on top of link-local ones, as `10.0.0.0/8`. */
  readonly forbidden: readonly string[];
}

/** Without a byte for this long, a source counts as gone. */
const idleMilliseconds = 30_000;

/** Where clouds keep the credentials of a machine: nothing of it is ever a blob. */
const linkLocal = ["169.254.0.0/16", "fe80::/10"];

/** Reads a source over the network. Redirects are not followed: they could lead anywhere. */
export function remoteSources({ forbidden }: RemoteOptions): SourceReader {
  const barred = blockListOf([...linkLocal, ...forbidden]);
  return (request) =>
    new Promise((settle, refuse) => {
      const { url } = request;
      const host = url.hostname.replace(/^\[|\]$/g, "");
      if (isIP(host) !== 0 && isBarred(barred, host)) {
        refuse(new SourceUnreachable(`${host} must not be asked`, 403));
        return;
      }
      const send = url.protocol === "https:" ? requestHttps : requestHttp;
      const sent = send(url, requestOptions(request, barred));
      sent.on("response", (response: IncomingMessage) => settle(answerOf(response)));
      sent.on("timeout", () => sent.destroy(new SourceUnreachable(`${host} does not answer`)));
      sent.on("error", (error) => refuse(unreachable(error)));
      sent.end();
    });
}

function requestOptions({ method, headers }: SourceRequest, barred: BlockList): RequestOptions {
  return {
    method,
    headers: { ...headers, "accept-encoding": "identity" },
    agent: false,
    timeout: idleMilliseconds,
    // A name is judged by what it resolves to at this very moment, not by an earlier answer.
    lookup: (hostname, options, done) =>
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return done(error, "", 0);
        const open = addresses.filter(({ address }) => !isBarred(barred, address));
        const [first] = open;
        if (first === undefined) return done(barredName(hostname), "", 0);
        if (options.all === true) return (done as DoneWithAll)(null, open);
        return done(null, first.address, first.family);
      }),
  };
}

function barredName(hostname: string): SourceUnreachable {
  return new SourceUnreachable(`${hostname} must not be asked`, 403);
}

type DoneWithAll = (error: Error | null, addresses: LookupAddress[]) => void;

function unreachable(error: Error): SourceUnreachable {
  return error instanceof SourceUnreachable ? error : new SourceUnreachable(error.message);
}

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
