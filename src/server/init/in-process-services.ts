import type { Authenticator } from "../../http/auth/authenticator.ts";
import type { HttpService } from "../../http/http-service.ts";
import { serveRequest } from "../../http/pipeline.ts";
import { RequestRates } from "../../http/request-rates.ts";
import { OwnEndpoints } from "../../http/source/own-endpoints.ts";
import { remoteSources } from "../../http/source/remote-source.ts";
import { sourcePolicy } from "../../http/source/source-policy.ts";
import type { WireResponse } from "../../http/wire.ts";
import { keyPrincipal } from "../../protocol/principal.ts";
import { ok } from "../../protocol/result.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import { latestVersion } from "../../protocol/versions.ts";
import type { DataStores } from "../data-stores.ts";
import { newMetrics } from "../metrics.ts";
import { sourceRanges } from "../options.ts";
import { newRequestLimits } from "../request-limits.ts";
import type { RunningServerOptions } from "../running-server.ts";
import { httpServiceOf, services } from "../services.ts";
import type { InitRequest } from "./init-step.ts";

/** A response to a request of this process. */
export interface InitResponse {
  readonly status: number;
  /** Error code and message; empty after success. */
  readonly code: string;
  readonly message: string;
}

/** Sends requests to the services of a store. */
export type CallService = (
  service: ServiceName,
  account: string,
  request: InitRequest,
) => Promise<InitResponse>;

/** Requests of this process do not count against the limits of accounts. */
class UnlimitedRates extends RequestRates {
  override admits(): boolean {
    return true;
  }
}

/** Requests of this process have all rights of an account key. */
const trusting = { authenticate: () => ok(keyPrincipal) } as unknown as Authenticator;

/** The services as they run behind the listeners, without listeners. */
export function inProcessServices(given: RunningServerOptions, engines: DataStores): CallService {
  const endpoints = new OwnEndpoints();
  const world = {
    ...given,
    engines,
    meter: newMetrics(),
    observer: { watch: undefined },
    ...newRequestLimits(given.clock),
    rates: new UnlimitedRates(given.clock),
    endpoints,
    remote: remoteSources(sourcePolicy(sourceRanges(given.options), endpoints)),
  };
  const opened = new Map<ServiceName, HttpService>();
  for (const service of services) {
    const httpService = httpServiceOf(service, { ...world, tokens: undefined });
    opened.set(service.name, { ...httpService, authenticator: trusting });
  }
  return (service, account, request) => call(opened.get(service) as HttpService, account, request);
}

async function call(
  http: HttpService,
  account: string,
  { method, path, query = "", headers = {}, body = "" }: InitRequest,
): Promise<InitResponse> {
  const bytes = Buffer.from(body);
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const reply = await serveRequest(http, {
    method,
    target: `/${account}/${encoded}${query === "" ? "" : `?${query}`}`,
    headers: {
      host: "localhost",
      "x-ms-version": latestVersion,
      "content-length": String(bytes.length),
      ...headers,
    },
    // Metadata is read with the spelling of the client.
    rawHeaders: Object.entries(headers).flat(),
    body: once(bytes),
    secure: true,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  return { status: reply.status, ...errorOf(reply) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** Code and message of an error, in XML or, from the table service, in JSON. */
function errorOf({ status, body, headers, reason }: WireResponse): Omit<InitResponse, "status"> {
  if (status < 300) return { code: "", message: "" };
  const bytes = body?.kind === "bytes" ? body.bytes : "";
  const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
  const code = /"code":"(\w*)/.exec(text)?.[1] ?? headers["x-ms-error-code"] ?? String(status);
  const message = /<Message>([^<\n]*)|"value":"([^"\\]*)/.exec(text);
  return { code, message: message?.[1] ?? message?.[2] ?? reason ?? "" };
}
