import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountKey,
  developmentAccountName,
} from "../../src/account/settings.ts";
import { memoryFiles } from "../../src/content/memory-files.ts";
import { openContentStore } from "../../src/content/open-content.ts";
import { soloPins } from "../../src/content/pins.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { HttpService } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { queueService } from "../../src/queue/service.ts";
import { simWorld, type SimClock } from "../../src/server/sim-world.ts";
import type { RawCall } from "./raw-client.ts";
import { simSources } from "./sim-sources.ts";
import { openTestStore } from "./test-store.ts";

export interface SimAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | undefined;
}

/** The queue service in a world whose time only the test moves. */
export interface SimQueue {
  readonly clock: SimClock;
  send(call: RawCall): Promise<SimAnswer>;
  /** Over HTTPS, with the credentials that the call itself carries. */
  sendAs(call: RawCall): Promise<SimAnswer>;
  /** Does all background work that is due, and returns how many steps that took. */
  reclaim(): Promise<number>;
}

const version = "2023-11-03";
const reclaimStepsMax = 10_000;

export async function simQueue(seed = 1): Promise<SimQueue> {
  const { clock, random, log } = simWorld(seed);
  const store = await openTestStore(clock);
  const files = memoryFiles({ bytesMax: 1024 * 1024 });
  const parts = { store, files, pins: soloPins("memory"), clock, log, contentTables: [] };
  const content = await openContentStore(parts);
  await ensureAccountRecords(store, [developmentAccount()], random);
  const door: HttpService = {
    service: queueService,
    router: compileRoutes(queueService.operations),
    runtime: { store, content, random, clock },
    accounts: accountsOf([developmentAccount()]),
    authenticator: new Authenticator(),
    sources: simSources("queue", (request) => serveRequest(door, request)),
    clock,
    log,
    meter: noMeter,
    options: { versions: "later", productStyle: true, oauth: "basic" },
  };
  const reclaimers = new Map(Object.entries(queueService.reclaimers));
  return {
    clock,
    send: (call) => send(door, { ...call, path: withQuery(call.path, sas) }, false),
    sendAs: (call) => send(door, call, true),
    async reclaim() {
      for (let steps = 0; steps < reclaimStepsMax; steps += 1) {
        if (!(await reclaimStep({ store, content, reclaimers }))) return steps;
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
  secure: boolean,
): Promise<SimAnswer> {
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
    secure,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const text = reply.body?.kind === "bytes" ? Buffer.from(reply.body.bytes).toString() : "";
  const { status, headers: answered } = reply;
  return { status, headers: answered, body: text, code: answered["x-ms-error-code"] };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

const sas = generateAccountSASQueryParameters(
  {
    permissions: AccountSASPermissions.parse("rwdlacup"),
    services: AccountSASServices.parse("q").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    startsOn: new Date("2020-01-01"),
    expiresOn: new Date("2099-01-01"),
  },
  new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey),
).toString();
