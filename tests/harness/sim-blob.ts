import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountName,
  type AccountSettings,
} from "../../src/account/settings.ts";
import { blobService } from "../../src/blob/service.ts";
import type { ContentStore } from "../../src/content/content.ts";
import { memoryFiles } from "../../src/content/memory-files.ts";
import { openContentStore } from "../../src/content/open-content.ts";
import { soloPins } from "../../src/content/pins.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import { keyPrincipal } from "../../src/protocol/principal.ts";
import { ok } from "../../src/protocol/result.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { HttpService } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { simWorld, type SimClock, type SimLog } from "../../src/server/sim-world.ts";
import type { Store } from "../../src/store/store.ts";
import type { RawCall } from "./raw-client.ts";
import { simSources } from "./sim-sources.ts";
import { openTestStore } from "./test-store.ts";
import { bufferBody } from "../../src/http/wire.ts";
import { RenderCache } from "../../src/operation/render-cache.ts";

export interface SimAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | undefined;
}

/** The blob service in a world whose time only the test moves; every caller holds the key. */
export interface SimBlob {
  readonly clock: SimClock;
  readonly log: SimLog;
  send(call: RawCall): Promise<SimAnswer>;
  /** Does all background work that is due, and returns how many steps that took. */
  reclaim(): Promise<number>;
}

const version = "2023-11-03";
const reclaimStepsMax = 10_000;

/** Whoever asks is let in. */
class OpenDoor extends Authenticator {
  override authenticate() {
    return ok(keyPrincipal);
  }
}

/** How a test puts itself between the service and its engines. */
export interface SimEngines {
  readonly store?: (real: Store) => Store;
  readonly content?: (real: ContentStore) => ContentStore;
}

export async function simBlob(
  settings: Partial<AccountSettings> = {},
  engines: SimEngines = {},
): Promise<SimBlob> {
  const { clock, random, log } = simWorld(1);
  const store = await openTestStore(clock);
  const files = memoryFiles({ bytesMax: 16 * 1024 * 1024 });
  const contentTables = blobService.contentTables;
  const parts = { store, files, pins: soloPins("memory"), clock, log, contentTables };
  const content = await openContentStore(parts);
  const account = { ...developmentAccount(), ...settings };
  await ensureAccountRecords(store, [account], random);
  const door: HttpService = {
    service: blobService,
    router: compileRoutes(blobService.operations),
    runtime: {
      renderings: new RenderCache(),
      store: engines.store?.(store) ?? store,
      content: engines.content?.(content) ?? content,
      random,
      clock,
    },
    accounts: accountsOf([account]),
    authenticator: new OpenDoor(),
    sources: simSources("blob", (request) => serveRequest(door, request)),
    clock,
    log,
    meter: noMeter,
    options: { versions: "later", productStyle: true, oauth: undefined },
  };
  const reclaimers = new Map(Object.entries(blobService.reclaimers));
  return {
    clock,
    log,
    send: (call) => send(door, call),
    async reclaim() {
      for (let steps = 0; steps < reclaimStepsMax; steps += 1) {
        if (!(await reclaimStep({ store, content, reclaimers }))) return steps;
      }
      throw new Error("background work does not come to an end");
    },
  };
}

async function send(door: HttpService, { method, path, headers = {}, body = "" }: RawCall) {
  const bytes = Buffer.from(body);
  const all: Record<string, string> = {
    host: "127.0.0.1:10000",
    "x-ms-version": version,
    "content-length": String(bytes.length),
    ...headers,
  };
  const reply = await serveRequest(door, {
    method,
    target: `/${developmentAccountName}${path}`,
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    body: (async function* () {
      if (bytes.length > 0) yield bytes;
    })(),
    secure: false,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  const chunks: Uint8Array[] = [];
  if (reply.body !== undefined && reply.body.kind !== "stream") {
    chunks.push(Buffer.from(bufferBody(reply.body)));
  } else if (reply.body?.kind === "stream") {
    const { reader, from, length } = reply.body;
    for await (const chunk of reader.read(from, length)) chunks.push(Uint8Array.from(chunk));
    reader.close();
  }
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.headers)) lower[name.toLowerCase()] = value;
  const text = Buffer.concat(chunks).toString();
  return { status: reply.status, headers: lower, body: text, code: lower["x-ms-error-code"] };
}
