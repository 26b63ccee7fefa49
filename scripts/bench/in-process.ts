import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountName,
} from "../../src/account/settings.ts";
import type { AccountSettings } from "../../src/account/settings.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { isPathRequest } from "../../src/blob/service.ts";
import { disablePretenuring } from "../../src/host/process.ts";
import type { Service } from "../../src/operation/service.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { newProcessingLimits } from "../../src/http/limits/processing-limits.ts";
import type { HttpService, Observer, RequestTracer } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { RequestIds } from "../../src/http/render.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { bufferBody } from "../../src/http/wire.ts";
import type { WireResponse, WireRequest } from "../../src/http/wire.ts";
import { openDataStores } from "../../src/data/data-stores.ts";
import type { DataStores } from "../../src/data/data-stores.ts";
import { services } from "../../src/data/services.ts";
import { realClock, realRandom } from "../../src/host/world.ts";
import type { Answer } from "./answer-reader.ts";
import { accountSas, checked, version } from "./target.ts";
import type { Client, Request, Target } from "./target.ts";

/** A server without sockets: requests are passed to the pipeline directly. */
export interface InProcess extends Target {
  httpService(name: ServiceName): HttpService;
  stop(): Promise<void>;
}

const host = "127.0.0.1";
const nothing = Buffer.alloc(0);
/** Many, because concurrent requests share one flush. */
const fillers = 256;
const log = { debug() {}, info() {}, warn() {}, error: console.error };

export interface InProcessOptions {
  readonly observer?: Observer;
  readonly tracer?: RequestTracer | undefined;
  /** Source of the master key; the data is not encrypted without it. */
  readonly encryption?: string | undefined;
  /** Whether the account has directories. */
  readonly hierarchical?: boolean;
}

/** Without a location everything is in memory. Collects garbage as the command line does. */
export async function openInProcess(
  location: string | undefined,
  { observer, tracer, encryption, hierarchical = false }: InProcessOptions = {},
): Promise<InProcess> {
  disablePretenuring();
  const clock = realClock();
  const random = realRandom();
  const elsewhere = { storeUrl: undefined, contentUrl: undefined, memoryBytesMax: undefined };
  const stores = await openDataStores({
    ...elsewhere,
    location,
    encryption,
    clock,
    random,
    log,
  });
  const account = { ...developmentAccount(), hierarchicalNamespace: hierarchical };
  await ensureAccountRecords(stores.store, [account], random);
  const open = (service: Service) => httpServiceOf({ service, account, stores, observer, tracer });
  const httpServices = new Map(services.map((service) => [service.name, open(service)]));
  const dfs = open(dfsService);
  const httpService = (name: ServiceName): HttpService => {
    const found = httpServices.get(name);
    if (found === undefined) throw new Error(`${name} is not served`);
    return found;
  };
  return {
    name: "in-process",
    fillers,
    httpService,
    connect: (name) => {
      const service = httpService(name);
      if (name !== "blob") return clientOf(() => service);
      return clientOf((request) => (isPathRequest(request, "blob") ? dfs : service));
    },
    stop: () => stores.close(),
  };
}

interface Opening {
  readonly service: Service;
  readonly account: AccountSettings;
  readonly stores: DataStores;
  readonly observer: Observer | undefined;
  readonly tracer: RequestTracer | undefined;
}

function httpServiceOf({ service, account, stores, observer, tracer }: Opening): HttpService {
  const { store, content } = stores;
  const clock = realClock();
  return {
    service,
    router: compileRoutes(service.operations),
    runtime: { store, content, random: realRandom(), clock },
    accounts: accountsOf([account]),
    authenticator: new Authenticator(),
    requestIds: new RequestIds(realRandom()),
    sources: {
      read: () => Promise.reject(new Error("no copy sources in this benchmark")),
      serviceOf: () => undefined,
    },
    clock,
    log,
    meter: noMeter,
    processing: newProcessingLimits(clock),
    ...(observer && { observer }),
    tracer,
    options: { versions: "later", productStyle: true, oauth: undefined },
  };
}

function clientOf(serviceFor: (request: WireRequest) => HttpService): Client {
  return {
    async send(request) {
      const wire = wireRequestOf(request);
      const reply = await serveRequest(serviceFor(wire), wire);
      return checked(request, await answerOf(reply));
    },
    async open() {},
    close() {},
  };
}

/** Methods that have a length, also without a body. */
function isLong(method: string): boolean {
  return method === "PUT" || method === "PATCH";
}

function wireRequestOf({ method, path, headers: lines = "", body }: Request): WireRequest {
  const bytes = typeof body === "string" ? Buffer.from(body, "latin1") : body;
  const headers: Record<string, string> = { host, "x-ms-version": version };
  const rawHeaders = ["Host", host, "x-ms-version", version];
  const add = (name: string, value: string): void => {
    headers[name.toLowerCase()] = value;
    rawHeaders.push(name, value);
  };
  for (const line of lines.split("\r\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) add(line.slice(0, colon), line.slice(colon + 2));
  }
  if (bytes !== undefined || isLong(method)) add("Content-Length", String(bytes?.length ?? 0));
  return {
    method,
    target: `/${developmentAccountName}/${path}${path.includes("?") ? "&" : "?"}${accountSas}`,
    headers,
    rawHeaders,
    body: piecesOf(bytes),
    secure: false,
    remoteAddress: host,
    proceed() {},
  };
}

async function* piecesOf(bytes: Buffer | undefined): AsyncGenerator<Uint8Array> {
  if (bytes !== undefined) yield bytes;
}

/** Reads a streamed body to its end, as a socket would. */
async function answerOf({ status, headers, body }: WireResponse): Promise<Answer> {
  const pieces: Uint8Array[] = [];
  if (body !== undefined && body.kind !== "stream") pieces.push(Buffer.from(bufferBody(body)));
  if (body?.kind === "stream") {
    try {
      for await (const piece of body.reader.read(body.from, body.length)) {
        pieces.push(Buffer.from(piece));
      }
    } finally {
      body.reader.close();
    }
  }
  const whole = pieces.length === 0 ? nothing : Buffer.concat(pieces);
  const header = (name: string): string | undefined =>
    Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return { status, body: whole, bodyBytes: whole.length, header };
}
