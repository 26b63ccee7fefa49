import type { Accounts } from "../account/settings.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { latestVersion } from "../protocol/versions.ts";
import { serveRequest } from "../http/pipeline.ts";
import type { WireResponse } from "../http/wire.ts";
import type { Viewed } from "./admin-context.ts";
import { readSasWish } from "./sas/sas-request.ts";
import { signSas } from "./sas/sign-sas.ts";

export interface ServiceCall {
  /** Those of the caller: in others nothing is asked. */
  readonly accounts: Accounts;
  readonly account: string;
  readonly method: string;
  /** Below the account, not encoded. */
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ServiceReply {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

const tokenMinutes = 5;

/** Asks one of the services as any client would, so that its rules hold here as well. */
export async function callService(
  { doors, clock }: Viewed,
  service: ServiceName,
  { accounts, account, method, path, query, headers }: ServiceCall,
): Promise<ServiceReply | undefined> {
  const settings = accounts.get(account);
  const door = doors[service];
  const wish = readSasWish({ account, minutes: tokenMinutes });
  if (settings === undefined || door === undefined || "problem" in wish) return undefined;
  const sas = signSas(settings, wish, { now: clock.wall(), urls: {} });
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const reply = await serveRequest(door, {
    method,
    target: `/${account}/${encoded}?${query}&${sas.query}`,
    headers: {
      host: "localhost",
      "x-ms-version": latestVersion,
      "content-length": "0",
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
  // There is no body.
}

function messageOf({ body, reason }: WireResponse): string {
  const bytes = body?.kind === "bytes" ? body.bytes : "";
  const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
  return /<Message>([^<\n]*)/.exec(text)?.[1] ?? reason ?? "";
}
