import { accounts } from "../../src/account/account-record.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import type { FileReference } from "../../src/file/filesystem/file-reference.ts";
import { openFile } from "../../src/file/filesystem/open.ts";
import { shares } from "../../src/file/records.ts";
import { fileService } from "../../src/file/service.ts";
import type { Runtime } from "../../src/operation/work.ts";
import { Records } from "../../src/operation/records.ts";
import type { Store } from "../../src/store/store.ts";
import { simService, type SimService } from "./sim-service.ts";

/** An SMB open, as stored in the lock record of a file. */
export interface SimHandle {
  readonly reference: FileReference;
  readonly open: bigint;
}

export interface SimOpen {
  readonly path: readonly string[];
  readonly access: number;
  readonly share: number;
  readonly deleteOnClose?: boolean;
  readonly cache?: { readonly key: string; readonly wanted: number };
}

/** The file service on a simulated clock, with SMB opens. */
export interface SimFile extends SimService {
  /** Opens a file as an SMB client does; returns the refusal if it is not granted. */
  open(share: string, request: SimOpen): Promise<SimHandle | string>;
}

export interface SimFileOptions {
  readonly seed?: number;
  /** Wraps the store of the service. */
  readonly wrap?: (store: Store) => Store;
}

export async function simFile({ seed = 1, wrap }: SimFileOptions = {}): Promise<SimFile> {
  const wrapStore = wrap ?? ((store: Store) => store);
  const file = await simService(fileService, { seed, wrapStore, binaryBodies: true });
  let handles = 0n;
  return {
    ...file,
    open: (share, request) => {
      handles += 1n;
      return openHandle(file.runtime, share, request, handles);
    },
  };
}

async function openHandle(
  runtime: Runtime,
  name: string,
  request: SimOpen,
  id: bigint,
): Promise<SimHandle | string> {
  const share = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const account = (await records.get(accounts, developmentAccountName))?.id ?? 0n;
    const record = await records.get(shares, { account, name });
    return { accountName: developmentAccountName, account, name, id: record?.id ?? 0n };
  });
  const { path, access, share: shareMode, deleteOnClose = false, cache } = request;
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
    return { reference: { share, file: outcome.value.node.id }, open: id };
  }
  return outcome.kind === "fault" ? outcome.fault : outcome.kind;
}
