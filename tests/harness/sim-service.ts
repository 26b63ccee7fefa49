import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountName,
  type AccountSettings,
} from "../../src/account/settings.ts";
import { memoryFiles } from "../../src/content/memory-files.ts";
import { openContentStore } from "../../src/content/open-content.ts";
import { soloPins } from "../../src/content/pins.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import type { Service } from "../../src/operation/service.ts";
import type { Log } from "../../src/base/world.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { HttpService, HttpServiceOptions } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { bufferBody } from "../../src/http/wire.ts";
import { simWorld, type SimClock } from "../../src/server/sim-world.ts";
import { accountSas, version, type RawCall } from "./raw-client.ts";
import { simSources } from "./sim-sources.ts";
import { openTestStore } from "./test-store.ts";

export interface SimServiceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | undefined;
}

/** One service in a world whose time only the test moves. */
export interface SimService {
  readonly clock: SimClock;
  /** Signed with an account SAS. */
  send(call: RawCall): Promise<SimServiceAnswer>;
  /** With the credentials that the call itself carries. */
  sendAs(call: RawCall): Promise<SimServiceAnswer>;
  /** Does all background work that is due. */
  reclaim(): Promise<void>;
}

export interface SimServiceOptions {
  readonly account?: Partial<AccountSettings>;
  readonly door?: Partial<HttpServiceOptions>;
  readonly log?: Log;
}

const reclaimStepsMax = 10_000;

export async function simService(
  service: Service,
  { account, door: doorOptions, log: ownLog }: SimServiceOptions = {},
): Promise<SimService> {
  const { clock, random, log } = simWorld(1);
  const store = await openTestStore(clock);
  const files = memoryFiles({ bytesMax: 16 * 1024 * 1024 });
  const { contentTables } = service;
  const content = await openContentStore({
    store,
    files,
    pins: soloPins("memory"),
    clock,
    log,
    contentTables,
  });
  await ensureAccountRecords(store, [developmentAccount()], random);
  const door: HttpService = {
    service,
    router: compileRoutes(service.operations),
    runtime: { store, content, random, clock },
    accounts: accountsOf([{ ...developmentAccount(), ...account }]),
    authenticator: new Authenticator(),
    sources: simSources(service.name, (request) => serveRequest(door, request)),
    clock,
    log: ownLog ?? log,
    meter: noMeter,
    options: {
      versions: "later",
      productStyle: true,
      oauth: "basic",
      ...doorOptions,
    },
  };
  const reclaimers = new Map(Object.entries(service.reclaimers));
  return {
    clock,
    send: (call) => send(door, { ...call, path: withQuery(call.path, accountSas()) }),
    sendAs: (call) => send(door, call),
    async reclaim() {
      for (let steps = 0; steps < reclaimStepsMax; steps += 1) {
        if (!(await reclaimStep({ store, content, reclaimers }))) return;
      }
      throw new Error("the background work does not end");
    },
  };
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

async function send(
  door: HttpService,
  { method, path, headers = {}, body }: RawCall,
): Promise<SimServiceAnswer> {
  const bytes = Buffer.from(body ?? "");
  const all: Record<string, string> = {
    host: "127.0.0.1",
    "x-ms-version": version,
    "content-length": String(bytes.length),
    ...headers,
  };
  const reply = await serveRequest(door, {
    method,
    target: `/${developmentAccountName}${path}`,
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    body: chunksOf(bytes),
    secure: false,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const { body: sent } = reply;
  if (sent?.kind === "stream") throw new Error("answers here are small");
  const whole = sent === undefined ? "" : bufferBody(sent);
  const { status, headers: answered } = reply;
  const code = answered["x-ms-error-code"];
  return { status, headers: answered, body: Buffer.from(whole).toString(), code };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
