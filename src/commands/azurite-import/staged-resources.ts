import { accounts, readAccount } from "../../account/account-record.ts";
import { putRecord } from "../../store/typed-records.ts";
import { putRoot } from "../../blob/container/container-lifecycle.ts";
import { containers, type ContainerRecord } from "../../blob/records.ts";
import { put, type Effect } from "../../operation/effects.ts";
import type { Random } from "../../base/world.ts";
import { applyEffects } from "../../operation/apply.ts";
import { newId } from "../../operation/identifiers.ts";
import { deletedQueues, queues, type QueueRecord } from "../../queue/records.ts";
import type { Transaction, View } from "../../store/store.ts";
import { tables, type TableRecord } from "../../table/records.ts";
import type { DataStores } from "../../data/data-stores.ts";
import { ImportRefused } from "../../host/refused.ts";
import { UnpublishedData } from "../unpublished-data.ts";

interface Named {
  readonly account: string;
  readonly name: string;
}

/** A container, queue or table of an import, whose contents are stored before its name exists: all
 *  names appear at once at the end. */
type StagedResource = Named &
  (
    | { readonly kind: "container"; readonly record: ContainerRecord }
    | { readonly kind: "queue"; readonly record: QueueRecord }
    | { readonly kind: "table"; readonly record: TableRecord }
  );

/** Most containers, queues and tables of an import: one transaction writes all their names. */
const resourcesMax = 100_000;
const problemsMax = 20;

const jobKinds = {
  container: "blob-container",
  queue: "queue-messages",
  table: "table-entities",
} as const;

/** The containers, queues and tables of an import until its last transaction writes their names.
 *  Until then it is invisible: contents are stored under new ids that no name refers to. */
export class StagedResources {
  readonly #stores: Pick<DataStores, "store" | "content">;
  readonly #random: Random;
  readonly #resources = new Map<string, StagedResource>();
  readonly #data: UnpublishedData;
  /** Names of the accounts with a hierarchical namespace, as of `begin`. */
  readonly #hierarchical = new Set<string>();

  constructor(stores: Pick<DataStores, "store" | "content">, random: Random) {
    this.#stores = stores;
    this.#random = random;
    this.#data = new UnpublishedData(stores.store);
  }

  add(resource: StagedResource): void {
    const path = pathOf(resource.kind, resource);
    if (this.#resources.has(path)) throw new ImportRefused([`${path} appears twice`]);
    if (this.#resources.size >= resourcesMax) {
      throw new ImportRefused([`more than ${resourcesMax} containers, queues and tables`]);
    }
    this.#resources.set(path, resource);
  }

  find<K extends StagedResource["kind"]>(
    kind: K,
    named: Named,
  ): Extract<StagedResource, { kind: K }> | undefined {
    const found = this.#resources.get(pathOf(kind, named));
    return found as Extract<StagedResource, { kind: K }> | undefined;
  }

  /** Names of the accounts of all resources. */
  accountNames(): readonly string[] {
    return [...new Set([...this.#resources.values()].map(({ account }) => account))];
  }

  /** Whether blobs of the account are stored in a tree of directories. */
  isHierarchical(account: string): boolean {
    return this.#hierarchical.has(account);
  }

  get hasHierarchy(): boolean {
    return this.#hierarchical.size > 0;
  }

  newId(): bigint {
    return newId(this.#random);
  }

  /** Stores the reclaim jobs of the import, which delete its contents if it fails. Must therefore
   *  complete before any content is stored. */
  async begin(): Promise<void> {
    await this.#stores.store.snapshot(async (view) => {
      await this.#readNamespaces(view);
      await this.#refuseExisting(view);
    });
    const all = [...this.#resources.values()];
    await this.#data.add(
      all.map(({ kind, record }) => ({ kind: jobKinds[kind], scope: [record.id] })),
    );
  }

  /** Makes all resources visible in one transaction, or none. */
  async publish(): Promise<void> {
    const { store, content } = this.#stores;
    await store.transact(async (tx) => {
      await this.#refuseExisting(tx);
      if (!(await this.#data.keep(tx))) {
        throw new ImportRefused(["the import took longer than 1 day"]);
      }
      const accountIds = new Map<string, bigint>();
      const effects: Effect[] = [];
      for (const resource of this.#resources.values()) {
        const { account } = resource;
        const id = accountIds.get(account) ?? (await this.#accountId(tx, account));
        accountIds.set(account, id);
        effects.push(...publication(resource, id, this.isHierarchical(account)));
      }
      await applyEffects(content, tx, effects, tx.now);
    });
  }

  /** After a failure: lets a running server delete the contents soon. */
  async abandon(): Promise<void> {
    await this.#data.abandon();
  }

  async #accountId(tx: Transaction, name: string): Promise<bigint> {
    const present = await readAccount(tx, name);
    if (present !== undefined) return present.id;
    const id = this.newId();
    putRecord(tx, accounts, name, { id, properties: {} });
    return id;
  }

  async #readNamespaces(view: View): Promise<void> {
    for (const { account } of this.#resources.values()) {
      const record = await readAccount(view, account);
      if (record?.hierarchicalNamespace === true) this.#hierarchical.add(account);
    }
  }

  async #refuseExisting(view: View): Promise<void> {
    const problems: string[] = [];
    for (const resource of this.#resources.values()) {
      const record = await readAccount(view, resource.account);
      if (record === undefined) continue;
      const { id, hierarchicalNamespace } = record;
      if ((hierarchicalNamespace === true) !== this.isHierarchical(resource.account)) {
        problems.push(`account ${resource.account}: its namespace changed during the import`);
      }
      for (const key of namesOf(resource, id)) {
        if ((await view.get(key)) === undefined) continue;
        problems.push(`${pathOf(resource.kind, resource)} exists or is being deleted`);
      }
      if (problems.length >= problemsMax) break;
    }
    if (problems.length > 0) throw new ImportRefused(problems);
  }
}

function pathOf(kind: StagedResource["kind"], { account, name }: Named): string {
  return `${kind} ${account}/${kind === "table" ? name.toLowerCase() : name}`;
}

/** The keys of the records that make a name unavailable. */
function namesOf({ kind, name }: StagedResource, account: bigint): readonly Uint8Array[] {
  const key = { account, name };
  if (kind === "container") return [containers.key(key)];
  if (kind === "table") return [tables.key(key)];
  return [queues.key(key), deletedQueues.key(key)];
}

function publication(
  resource: StagedResource,
  account: bigint,
  isHierarchical: boolean,
): readonly Effect[] {
  const key = { account, name: resource.name };
  if (resource.kind === "table") return [put(tables, key, resource.record)];
  if (resource.kind === "queue") return [put(queues, key, resource.record)];
  const { record } = resource;
  const published = put(containers, key, record);
  return isHierarchical ? [published, putRoot(record.id, record.etag, undefined)] : [published];
}
