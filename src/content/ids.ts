import { StoreUnavailable, type Store, type Transaction, type View } from "../store/store.ts";
import { identityCodec, identityKey } from "./tables.ts";

const idsPerBlock = 2 ** 32;
/** Reached long before a block ends, whatever happens meanwhile. */
const renewAfter = idsPerBlock / 2;
/** Ids stay below 2^63, so that they fit a signed integer wherever records go. */
const blocksMax = 2 ** 31;

/** Ids of nodes and extents, unique over processes and time: each process takes whole blocks of
 *  them from the store, so that drawing one is no read and no conflict. */
export class IdAllocator {
  readonly #store: Store;
  #block: number;
  #drawn = 0;
  #nextBlock: number | undefined;
  #renewing = false;
  #isLost = false;

  private constructor(store: Store, block: number) {
    this.#store = store;
    this.#block = block;
  }

  static async open(store: Store): Promise<IdAllocator> {
    return new IdAllocator(store, await takeBlock(store));
  }

  /**
   * A store that was set back, as by a failover to a copy that lagged behind, gives blocks out once
   * more, and what is remembered of it here is of a time that never was. It cannot be told when
   * that happens, only soon after: to be called every few seconds.
   */
  async check(view: View): Promise<void> {
    const stored = await view.get(identityKey());
    const next = stored === undefined ? 0 : identityCodec.decode(stored).next;
    if (next <= Math.max(this.#block, this.#nextBlock ?? 0)) this.#isLost = true;
  }

  /** Throws if the store was set back. */
  assertNotRolledBack(): void {
    if (!this.#isLost) return;
    throw new StoreUnavailable("the store was set back to an earlier state: restart this node");
  }

  next(): bigint {
    this.assertNotRolledBack();
    if (this.#drawn >= renewAfter) this.#renew();
    if (this.#drawn >= idsPerBlock) throw new Error("no block of ids came in time");
    return (BigInt(this.#block) << 32n) | BigInt(this.#drawn++);
  }

  #renew(): void {
    if (this.#nextBlock !== undefined) {
      this.#block = this.#nextBlock;
      this.#nextBlock = undefined;
      this.#drawn = 0;
    } else if (!this.#renewing) {
      this.#renewing = true;
      void this.#fetchNext();
    }
  }

  /** If it fails, a later call tries again: half a block is left. */
  async #fetchNext(): Promise<void> {
    try {
      this.#nextBlock = await takeBlock(this.#store);
    } catch {
      this.#nextBlock = undefined;
    } finally {
      this.#renewing = false;
    }
  }
}

function takeBlock(store: Store): Promise<number> {
  const take = async (tx: Transaction): Promise<number> => {
    const stored = await tx.get(identityKey());
    const block = stored === undefined ? 1 : identityCodec.decode(stored).next;
    if (block >= blocksMax) throw new Error("all blocks of ids are used up");
    tx.put(identityKey(), identityCodec.encode({ next: block + 1 }));
    return block;
  };
  // Without one a server could not start on a full disk, where content must be deleted.
  return store.transact(take, { mayUseReserve: true });
}
