import { createSecretKey } from "node:crypto";
import type { AccountSettings } from "../account/settings.ts";
import { formatHttpDate } from "../base/dates.ts";
import { oneChunk } from "../content/content.ts";
import { sign } from "../http/auth/shared-key.ts";
import type { HttpService } from "../http/http-service.ts";
import { serveRequest } from "../http/pipeline.ts";
import type { WireResponse } from "../http/wire.ts";
import type { ServiceName } from "../protocol/names.ts";
import { sharedKeyText, stringToSignVariants } from "../protocol/signing/shared-key.ts";
import { latestVersion } from "../protocol/versions.ts";
import type { CheckedRequest } from "./request.ts";

/** A request that this process sends to one of its own storage services: from a route of the admin
 *  API, for example to break a lease, or for `--init`, which creates resources. */
export interface ServiceCall {
  readonly account: string;
  readonly method: string;
  /** Path below the account, not percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The response of the service; `code` and `message` are those of an error, else empty. */
export interface ServiceReply {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Calls a service through its pipeline, so that all rules for requests of clients apply. The call
 *  is signed with the account key, because some operations accept no SAS; for a principal the roles
 *  of the principal decide. Undefined if the caller has no such account, or the service is not
 *  served. */
export async function callService(
  { context, accounts, grant }: CheckedRequest,
  service: ServiceName,
  call: ServiceCall,
): Promise<ServiceReply | undefined> {
  const { httpServices, clock } = context;
  const { account, method, query = {} } = call;
  const settings = accounts.get(account);
  const httpService = httpServices[service];
  if (settings === undefined || httpService === undefined) return undefined;
  const rawPath = rawPathOf(call);
  const unsigned = { ...standardHeaders(call), "x-ms-date": formatHttpDate(clock.wall()) };
  const credentials =
    grant.kind === "principal"
      ? {
          authorization: `Bearer ${await grant.token()}`,
          "x-ms-file-request-intent": "backup",
        }
      : { authorization: keySignature(settings, service, { method, rawPath, query, unsigned }) };
  return sendCall(httpService, { ...call, headers: { ...unsigned, ...credentials } });
}

function rawPathOf({ account, path }: ServiceCall): string {
  return `/${account}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function standardHeaders({ headers, body = "" }: ServiceCall): Readonly<Record<string, string>> {
  return {
    host: "localhost",
    "x-ms-version": latestVersion,
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
}

/** Sends a call to a service without a listener. Metadata keep the spelling of their names. */
export async function sendCall(http: HttpService, call: ServiceCall): Promise<ServiceReply> {
  const { method, query = {}, body = "" } = call;
  const headers = standardHeaders(call);
  const reply = await serveRequest(http, {
    method,
    target: `${rawPathOf(call)}?${new URLSearchParams(query).toString()}`,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: oneChunk(Buffer.from(body)),
    secure: true,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const text = textOf(reply);
  // The table service has errors in JSON, the others in XML.
  const code = reply.headers["x-ms-error-code"] ?? /"code":"(\w*)/.exec(text)?.[1] ?? "";
  const found = /<Message>([^<\n]*)|"value":"([^"\\]*)/.exec(text);
  const message = found?.[1] ?? found?.[2] ?? reply.reason ?? "";
  return { status: reply.status, code, message, headers: reply.headers, text };
}

interface SignedParts extends Pick<ServiceCall, "method"> {
  readonly query: Readonly<Record<string, string>>;
  readonly rawPath: string;
  readonly unsigned: Readonly<Record<string, string>>;
}

/** The Authorization header of a call, signed with the first key of the account. */
function keySignature(
  { name, keys }: AccountSettings,
  service: ServiceName,
  { method, rawPath, query, unsigned }: SignedParts,
): string {
  const [documented] = stringToSignVariants;
  if (documented === undefined) throw new Error("no variant of the string to sign");
  const request = {
    method,
    account: name,
    rawPath,
    query: new Map(Object.entries(query).map(([key, value]) => [key, [value]])),
    rawHeaders: Object.entries(unsigned).flat(),
    version: latestVersion,
    header: (header: string) => unsigned[header],
  };
  const text = sharedKeyText(request, service, "SharedKey", documented);
  return `SharedKey ${name}:${sign(createSecretKey(Buffer.from(keys[0], "base64")), text)}`;
}

function textOf({ body }: WireResponse): string {
  const bytes = body?.kind === "bytes" ? body.bytes : "";
  return typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
}
