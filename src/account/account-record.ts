import type { ServiceName } from "../protocol/service-name.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import type { ServiceProperties } from "./service-properties.ts";

/** The stored record of an account. All other records are keyed by `id`, never by name: a reset
 *  assigns a new id, which makes them unreachable at once, and reclaim jobs remove them later. */
export interface AccountRecord {
  readonly id: bigint;
  readonly properties: Readonly<Partial<Record<ServiceName, ServiceProperties>>>;
  /** Whether blobs are kept in a tree of directories; fixed once the account has a container. */
  readonly hierarchicalNamespace?: true | undefined;
}

export const accounts = defineTable<string, AccountRecord>({
  name: "accounts",
  tag: 0x01,
  key: (name) => [name],
  codec: withDecodeCache(recordCodec<AccountRecord>({ version: 1 })),
});

/** The scope of operations on the account: its record. */
export interface AccountScope {
  readonly account: AccountRecord;
}
