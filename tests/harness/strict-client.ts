import { expect } from "vitest";
import { receiveRaw, type RawRequest } from "../fuzz/raw-socket.ts";
import { accountSas, version, withQuery, type RawCall } from "./raw-client.ts";
import { parseStrictly, type StrictResponse } from "./strict-response.ts";

const sas = accountSas();
const requestsAtOnce = 32;

/** A signed request as bytes; header values are bytes, one for each character. */
export function rawOf({ method, path, headers = {}, body = "" }: RawCall): RawRequest {
  const bytes = Buffer.from(body);
  const sent = { "x-ms-version": version, "content-length": String(bytes.length), ...headers };
  const target = `/devstoreaccount1${withQuery(path, sas)}`;
  return { method, target, headers: Object.entries(sent), body: bytes };
}

export async function sendStrictly(url: string, request: RawRequest): Promise<StrictResponse> {
  const response = parseStrictly(await receiveRaw(url, request), request.method);
  const { status, headers } = response;
  if (headers.has("x-injected")) throw new Error("a header was injected");
  if (status >= 500) throw new Error(`status ${status}`);
  return response;
}

/** What a strict client does not accept of the response; undefined if it accepts it. */
async function problemOf(url: string, request: RawRequest): Promise<string | undefined> {
  try {
    await sendStrictly(url, request);
    return undefined;
  } catch (error) {
    const shown = `${request.method} ${request.target.split("sv=")[0]} ${String(request.headers)}`;
    return `${String(error)} for ${shown} ${request.body.toString("latin1", 0, 300)}`;
  }
}

/** Sends all requests and expects responses that a strict client accepts, none with status 5xx. */
export async function expectWellFormed(url: string, all: readonly RawRequest[]): Promise<void> {
  const problems: string[] = [];
  for (let at = 0; at < all.length; at += requestsAtOnce) {
    const some = all.slice(at, at + requestsAtOnce);
    for (const problem of await Promise.all(some.map((each) => problemOf(url, each)))) {
      if (problem !== undefined) problems.push(problem);
    }
  }
  expect(problems.slice(0, 5)).toEqual([]);
}
