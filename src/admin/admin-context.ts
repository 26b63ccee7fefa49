import type { Accounts } from "../account/settings.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { Runtime } from "../operation/execute.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import type { SmbAdministration } from "../smb/administration.ts";
import type { AdminSecurity } from "./security/admin-auth.ts";
import type { Figures } from "./views/figures.ts";

export type HttpServices = Readonly<Partial<Record<ServiceName, HttpService>>>;

/** Everything that the admin listener shows of a running server. */
export interface AdminContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly doors: HttpServices;
  readonly observer: Observer;
  /** Undefined if SMB is not served. */
  readonly smb: SmbAdministration | undefined;
  readonly facts: () => ServerFacts;
  readonly figures: Figures;
  readonly sizes: () => Promise<Sizes>;
  /** Resolves when requests can be served; rejects with the reason if not. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => string;
  /** Absent unless it was asked for at the start. */
  readonly reset: (() => Promise<void>) | undefined;
  /** Where the files of the page are. */
  readonly pageFolder: string;
  readonly security: AdminSecurity;
}

/** What the views show. They get the accounts with each request: those of its caller. */
export type Viewed = Omit<AdminContext, "accounts" | "security">;

export interface ServerFacts {
  readonly version: string;
  readonly adminUrl: string;
  readonly smbUrl: string;
  readonly store: "lmdb" | "memory" | "postgres";
  readonly content: "disk" | "memory" | "s3";
  /** Base addresses without the account. */
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
}

/** What lies on disk, as far as somebody can tell. */
export interface Sizes {
  readonly storeBytes?: number;
  readonly contentBytes?: number;
}
