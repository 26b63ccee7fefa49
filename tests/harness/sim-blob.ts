import type { AccountSettings } from "../../src/account/settings.ts";
import { blobService } from "../../src/blob/service.ts";
import type { ContentStore } from "../../src/content/content.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { keyPrincipal } from "../../src/protocol/principal.ts";
import { ok } from "../../src/protocol/result.ts";
import type { Store } from "../../src/store/store.ts";
import { simService, type SimService } from "./sim-service.ts";

/** The blob service on a simulated clock; every call is authorized with the account key. */
export type SimBlob = SimService;

class AccountKeyForAll extends Authenticator {
  override authenticate() {
    return ok(keyPrincipal);
  }
}

/** Wrappers that a test puts around the engines. */
export interface SimEngines {
  readonly store?: (real: Store) => Store;
  readonly content?: (real: ContentStore) => ContentStore;
}

export async function simBlob(
  account: Partial<AccountSettings> = {},
  { store: wrapStore, content: wrapContent }: SimEngines = {},
): Promise<SimBlob> {
  const blob = await simService(blobService, {
    account,
    http: { oauth: undefined },
    authenticator: new AccountKeyForAll(),
    ...(wrapStore && { wrapStore }),
    ...(wrapContent && { wrapContent }),
  });
  return { ...blob, send: (call) => blob.sendAs(call) };
}
