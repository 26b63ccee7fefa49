import type { Accounts } from "../account/settings.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { latestVersion } from "../protocol/versions.ts";
import { serveRequest } from "../http/pipeline.ts";
import type { WireResponse } from "../http/wire.ts";
import type { ViewContext } from "./admin-context.ts";
import { parseSasRequest } from "./sas/sas-request.ts";
import { signSas } from "./sas/sign-sas.ts";

/** A call of a storage service on behalf of the admin API. */
export interface ServiceCall {
  /** The accounts of the caller; calls to other accounts are rejected. */
  readonly accounts: Accounts;
  /** The bearer token of a principal, whose roles decide; undefined: the call has all permissions
   *  of the account. */
  readonly token?: string | undefined;
  readonly account: string;
  readonly method: string;
  /** Path below the account, not percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Status of the response, and the code and message of an error. */
export interface ServiceReply {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Validity of the SAS that authenticates a call. */
const tokenMinutes = 5;

/** Calls a service through its pipeline, as any client would, so that all its rules apply. */
export async function callService(
  { httpServices, clock }: ViewContext,
  service: ServiceName,
  { accounts, token, account, method, path, query, headers }: ServiceCall,
): Promise<ServiceReply | undefined> {
  const settings = accounts.get(account);
  const httpService = httpServices[service];
  const sasRequest = parseSasRequest({ account, minutes: tokenMinutes });
  if (settings === undefined || httpService === undefined || "problem" in sasRequest)
    return undefined;
  const sas = signSas(settings, sasRequest, { now: clock.wall(), urls: {} });
  const signed = token === undefined ? `&${sas.query}` : "";
  const authorization =
    token === undefined
      ? {}
      : { authorization: `Bearer ${token}`, "x-ms-file-request-intent": "backup" };
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const reply = await serveRequest(httpService, {
    method,
    target: `/${account}/${encoded}?${query}${signed}`,
    headers: {
      host: "localhost",
      "x-ms-version": latestVersion,
      "content-length": "0",
      ...authorization,
      ...headers,
    },
    rawHeaders: [],
    body: nothing(),
    secure: true,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const code = reply.headers["x-ms-error-code"] ?? "";
  return { status: reply.status, code, message: messageOf(reply), headers: reply.headers };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  // An empty body.
}

function messageOf({ body, reason }: WireResponse): string {
  const bytes = body?.kind === "bytes" ? body.bytes : "";
  const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
  return /<Message>([^<\n]*)/.exec(text)?.[1] ?? reason ?? "";
}
