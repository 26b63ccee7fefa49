import { accounts } from "../../src/account/account-record.ts";
import { ensureAccountRecords } from "../../src/account/account-records.ts";
import {
  accountsOf,
  developmentAccount,
  developmentAccountName,
} from "../../src/account/settings.ts";
import { memoryFiles } from "../../src/content/memory-files.ts";
import { openContentStore } from "../../src/content/open-content.ts";
import { soloPins } from "../../src/content/pins.ts";
import { noMeter } from "../../src/protocol/meter.ts";
import type { Runtime } from "../../src/operation/execute.ts";
import { reclaimStep } from "../../src/operation/reclaim.ts";
import { Records } from "../../src/operation/records.ts";
import { RenderCache } from "../../src/operation/render-cache.ts";
import type { FilePlace } from "../../src/file/filesystem/file-place.ts";
import { openFile } from "../../src/file/filesystem/open.ts";
import { shares } from "../../src/file/records.ts";
import { fileService } from "../../src/file/service.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import type { HttpService } from "../../src/http/http-service.ts";
import { compileRoutes } from "../../src/http/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { simWorld, type SimClock } from "../../src/server/sim-world.ts";
import type { Store } from "../../src/store/store.ts";
import { accountSas, version, type RawCall } from "./raw-client.ts";
import { simSources } from "./sim-sources.ts";
import { openTestStore } from "./test-store.ts";
import { bufferBody } from "../../src/http/wire.ts";

export interface SimAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | undefined;
}

/** The handle of an SMB client, as the lock engine knows it. */
export interface SimHandle {
  readonly place: FilePlace;
  readonly open: bigint;
}

export interface SimOpen {
  readonly path: readonly string[];
  readonly access: number;
  readonly share: number;
  readonly deleteOnClose?: boolean;
  readonly cache?: { readonly key: string; readonly wanted: number };
}

/** The file service in a world whose time only the test moves, with both of its doors. */
export interface SimFile {
  readonly clock: SimClock;
  readonly runtime: Runtime;
  readonly store: Store;
  send(call: RawCall): Promise<SimAnswer>;
  /** What an SMB client does to open a file; the refusal if it may not. */
  open(share: string, wish: SimOpen): Promise<SimHandle | string>;
  reclaim(): Promise<number>;
}

const reclaimStepsMax = 10_000;

export interface SimFileOptions {
  readonly seed?: number;
  /** Puts something between the service and its store. */
  readonly wrap?: (store: Store) => Store;
}

export async function simFile({ seed = 1, wrap }: SimFileOptions = {}): Promise<SimFile> {
  const { clock, random, log } = simWorld(seed);
  const plain = await openTestStore(clock);
  const store = wrap?.(plain) ?? plain;
  const files = memoryFiles({ bytesMax: 64 * 1024 * 1024 });
  const { contentTables } = fileService;
  const parts = { store, files, pins: soloPins("memory"), clock, log, contentTables };
  const content = await openContentStore(parts);
  await ensureAccountRecords(store, [developmentAccount()], random);
  const runtime = { store, content, random, clock, renderings: new RenderCache() };
  const door: HttpService = {
    service: fileService,
    router: compileRoutes(fileService.operations),
    runtime,
    accounts: accountsOf([developmentAccount()]),
    authenticator: new Authenticator(),
    sources: simSources("file", (request) => serveRequest(door, request)),
    clock,
    log,
    meter: noMeter,
    options: { versions: "later", productStyle: true, oauth: "basic" },
  };
  const reclaimers = new Map(Object.entries(fileService.reclaimers));
  let handles = 0n;
  return {
    clock,
    runtime,
    store,
    send: (call) => send(door, call),
    open: (share, wish) => {
      handles += 1n;
      return openHandle(runtime, share, wish, handles);
    },
    async reclaim() {
      for (let steps = 0; steps < reclaimStepsMax; steps += 1) {
        if (!(await reclaimStep({ store, content, reclaimers }))) return steps;
      }
      throw new Error("the background work does not end");
    },
  };
}

async function openHandle(
  runtime: Runtime,
  name: string,
  wish: SimOpen,
  id: bigint,
): Promise<SimHandle | string> {
  const share = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const account = (await records.get(accounts, developmentAccountName))?.id ?? 0n;
    const record = await records.get(shares, { account, name });
    return { account, name, id: record?.id ?? 0n };
  });
  const { path, access, share: shareMode, deleteOnClose = false, cache } = wish;
  const outcome = await openFile(runtime, {
    share,
    path,
    disposition: "open",
    wants: undefined,
    wantsMaximum: false,
    attributes: 0,
    sddl: undefined,
    cache,
    open: {
      id,
      owner: "test",
      access,
      share: shareMode,
      deleteOnClose,
      cacheKey: cache?.key,
      session: 1n,
      client: "127.0.0.1",
    },
  });
  if (outcome.kind === "done") {
    return { place: { share, file: outcome.value.node.id }, open: id };
  }
  return outcome.kind === "refused" ? outcome.refusal : outcome.kind;
}

const sas = accountSas();

async function send(
  door: HttpService,
  { method, path, headers = {}, body }: RawCall,
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
    target: `/${developmentAccountName}${path}${path.includes("?") ? "&" : "?"}${sas}`,
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    body: chunksOf(bytes),
    secure: false,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  return answerOf(reply);
}

async function answerOf(reply: Awaited<ReturnType<typeof serveRequest>>): Promise<SimAnswer> {
  const { status, headers, body } = reply;
  const answer = { status, headers, code: headers["x-ms-error-code"] };
  if (body?.kind !== "stream") {
    const whole = body === undefined ? "" : bufferBody(body);
    return { ...answer, body: Buffer.from(whole).toString("latin1") };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of body.reader.read(body.from, body.length)) {
    chunks.push(Buffer.from(chunk));
  }
  body.reader.close();
  return { ...answer, body: Buffer.concat(chunks).toString("latin1") };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
