import type { AccountSettings } from "../../src/account/settings.ts";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { isPathRequest, blobService, type BlobPort } from "../../src/blob/service.ts";
import type { ContentStore } from "../../src/content/content.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { keyPrincipal } from "../../src/protocol/principal.ts";
import type { Principal } from "../../src/protocol/principal.ts";
import { ok } from "../../src/protocol/result.ts";
import type { Store } from "../../src/store/store.ts";
import type { RawCall } from "./raw-client.ts";
import { sendThrough, simService } from "./sim-service.ts";
import type { SimResponse, SimService } from "./sim-service.ts";

/** The blob service on a simulated clock; every call is authorized with the account key, until
 *  `callAs` names another principal. */
export interface SimBlob extends SimService {
  /** Sends the call to the port of the Data Lake API. Either port serves both APIs. */
  sendToDfs(call: RawCall): Promise<SimResponse>;
  callAs(principal: Principal): void;
}

class FixedAuthenticator extends Authenticator {
  principal: Principal = keyPrincipal;

  override authenticate() {
    return ok(this.principal);
  }
}

/** Wrappers that a test puts around the stores. */
export interface SimEngines {
  readonly store?: (real: Store) => Store;
  readonly content?: (real: ContentStore) => ContentStore;
}

export async function simBlob(
  account: Partial<AccountSettings> = {},
  { store: wrapStore, content: wrapContent }: SimEngines = {},
): Promise<SimBlob> {
  const authenticator = new FixedAuthenticator();
  const blob = await simService(blobService, {
    account,
    http: { oauth: undefined },
    authenticator,
    ...(wrapStore && { wrapStore }),
    ...(wrapContent && { wrapContent }),
  });
  const router = compileRoutes(dfsService.operations);
  const dfs = { ...blob.http, service: dfsService, router };
  const send = (port: BlobPort, call: RawCall) => {
    const { method, path: target, headers = {} } = call;
    return sendThrough(isPathRequest({ method, target, headers }, port) ? dfs : blob.http, call);
  };
  return {
    ...blob,
    send: (call) => send("blob", call),
    sendToDfs: (call) => send("dfs", call),
    callAs: (principal) => {
      authenticator.principal = principal;
    },
  };
}
