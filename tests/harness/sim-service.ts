import { ensureSettings, readLimited } from "../../src/account/account-quota.ts";
import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountName,
  type AccountSettings,
} from "../../src/account/settings.ts";
import type { Log } from "../../src/base/world.ts";
import type { ContentStore } from "../../src/content/content.ts";
import { memoryFiles } from "../../src/content/extents/memory-files.ts";
import { openContentStore } from "../../src/content/open-content.ts";
import { soloHorizons } from "../../src/content/reclaim/pins.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { RequestIds } from "../../src/http/render.ts";
import type { TokenVerifier } from "../../src/http/auth/tokens/token-verifier.ts";
import { newProcessingLimits } from "../../src/http/limits/processing-limits.ts";
import type { HttpService, HttpServiceOptions } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { bufferBody } from "../../src/http/wire.ts";
import type { Runtime } from "../../src/operation/work.ts";
import { Quotas } from "../../src/operation/quotas.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { RenderCache } from "../../src/operation/render-cache.ts";
import type { Service } from "../../src/operation/service.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import { contentTables, hasData, reclaimers } from "../../src/data/services.ts";
import { simWorld, type SimClock, type SimLog } from "./sim-world.ts";
import type { Store } from "../../src/store/store.ts";
import { accountSas, version, withQuery, type RawCall } from "./raw-client.ts";
import { simSources } from "./sim-sources.ts";
import { openTestStore } from "./test-store.ts";

export interface SimResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded as UTF-8 or, with `binaryBodies`, as Latin-1. */
  readonly body: string;
  readonly code: string | undefined;
}

/** One service on a simulated clock, without sockets. */
export interface SimService {
  readonly clock: SimClock;
  readonly log: SimLog;
  readonly runtime: Runtime;
  readonly store: Store;
  readonly http: HttpService;
  /** Adds an account SAS with all permissions to the call. */
  send(call: RawCall): Promise<SimResponse>;
  /** Sends the call with the credentials that it contains, over simulated HTTPS if `secure`. */
  sendAs(call: RawCall, secure?: boolean): Promise<SimResponse>;
  /** Runs all reclaim jobs that are due; returns the number of steps. */
  reclaim(): Promise<number>;
}

export interface SimServiceOptions {
  readonly seed?: number;
  readonly account?: Partial<AccountSettings>;
  /** Accounts beside the development account. */
  readonly otherAccounts?: readonly AccountSettings[];
  readonly http?: Partial<HttpServiceOptions>;
  /** Replaces the log of the HTTP service. */
  readonly log?: Log;
  readonly authenticator?: Authenticator;
  /** Verifies bearer tokens, on the simulated clock. */
  readonly tokens?: (clock: SimClock) => TokenVerifier;
  readonly wrapStore?: (real: Store) => Store;
  readonly wrapContent?: (real: ContentStore) => ContentStore;
  readonly binaryBodies?: boolean;
}

/** Without a watcher, whose timer would fire too often when days pass. */
export async function readQuotas(store: Store, quotas: Quotas): Promise<void> {
  const limited = (await store.snapshot((view) => readLimited(view, undefined)))?.limited ?? [];
  quotas.setLimits(new Map(limited.map(({ id, quota }) => [id, quota])));
}

const contentBytesMax = 64 * 1024 * 1024;
const reclaimStepsMax = 10_000;

export async function simService(
  service: Service,
  options: SimServiceOptions = {},
): Promise<SimService> {
  const { clock, random, log } = simWorld(options.seed ?? 1);
  const realStore = await openTestStore(clock);
  const store = options.wrapStore?.(realStore) ?? realStore;
  const files = memoryFiles({ bytesMax: contentBytesMax });
  const horizons = soloHorizons("memory");
  const realContent = await openContentStore({
    store,
    files,
    horizons,
    clock,
    log,
    contentTables,
    observedTicks: 0n,
  });
  const content = options.wrapContent?.(realContent) ?? realContent;
  const account = { ...developmentAccount(), ...options.account };
  const settings = [account, ...(options.otherAccounts ?? [])];
  await ensureAccountRecords(realStore, settings, random);
  const quotas = new Quotas();
  if (settings.some(({ quotaBytes, changeFeed }) => quotaBytes > 0 || changeFeed)) {
    await ensureSettings(realStore, accountsOf(settings), hasData);
    await readQuotas(realStore, quotas);
  }
  const runtime = { store, content, random, clock, renderings: new RenderCache(), quotas };
  const http: HttpService = {
    service,
    router: compileRoutes(service.operations),
    runtime,
    accounts: accountsOf(settings),
    authenticator: options.authenticator ?? new Authenticator(),
    requestIds: new RequestIds(random),
    tokens: options.tokens?.(clock),
    sources: simSources(service.name, (request) => serveRequest(http, request)),
    clock,
    log: options.log ?? log,
    meter: noMeter,
    processing: newProcessingLimits(clock),
    options: { versions: "later", productStyle: true, oauth: "basic", ...options.http },
  };
  const encoding = options.binaryBodies === true ? "latin1" : "utf8";
  const sas = accountSas();
  const sendAs = (call: RawCall, secure = false) => sendThrough(http, call, secure, encoding);
  return {
    clock,
    log,
    runtime,
    store,
    http,
    send: (call) => sendAs({ ...call, path: withQuery(call.path, sas) }),
    sendAs,
    async reclaim() {
      for (let steps = 0; steps < reclaimStepsMax; steps += 1) {
        if (!(await reclaimStep({ store, content, reclaimers, quotas }))) return steps;
      }
      throw new Error(`reclaim jobs remain after ${reclaimStepsMax} steps`);
    },
  };
}

export async function sendThrough(
  http: HttpService,
  { method, path, headers = {}, body = "", account = developmentAccountName }: RawCall,
  secure = false,
  encoding: BufferEncoding = "utf8",
): Promise<SimResponse> {
  const bytes = Buffer.from(body);
  const sent: Record<string, string> = {
    host: "127.0.0.1",
    "x-ms-version": version,
    "content-length": String(bytes.length),
    ...headers,
  };
  const reply = await serveRequest(http, {
    method,
    target: `/${account}${path}`,
    headers: sent,
    rawHeaders: Object.entries(sent).flat(),
    body: chunksOf(bytes),
    secure,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const received: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.headers)) received[name.toLowerCase()] = value;
  return {
    status: reply.status,
    headers: received,
    body: (await bytesOf(reply.body)).toString(encoding),
    code: received["x-ms-error-code"],
  };
}

type ReplyBody = Awaited<ReturnType<typeof serveRequest>>["body"];

async function bytesOf(body: ReplyBody): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (body.kind !== "stream") return Buffer.from(bufferBody(body));
  const chunks: Buffer[] = [];
  for await (const chunk of body.reader.read(body.from, body.length)) {
    chunks.push(Buffer.from(chunk));
  }
  body.reader.close();
  return Buffer.concat(chunks);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
