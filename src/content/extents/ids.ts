import { StoreUnavailable, type Store, type Transaction, type View } from "../../store/store.ts";
import { identityCodec, identityKey } from "../tables.ts";

/** Ids of content nodes and extents, unique across processes and time: an id that was used twice
 *  could mix the bytes of two contents. Each process reserves blocks of 2^32 ids in the store
 *  (`content/open-content.ts`), so that an id costs neither a read nor a conflict. */

const idsPerBlock = 2 ** 32;
/** A new block is requested when half of the current one is used, so that it arrives in time. */
const renewAfter = idsPerBlock / 2;
/** Ids stay below 2^63, so that they fit a signed integer in every format. */
const blocksMax = 2 ** 31;

export class IdAllocator {
  readonly #store: Store;
  #block: number;
  #used = 0;
  #nextBlock: number | undefined;
  #renewing = false;
  /** Whether the store has lost commits, so that ids may be given twice; no more are given then. */
  isRolledBack = false;

  private constructor(store: Store, block: number) {
    this.#store = store;
    this.#block = block;
  }

  static async open(store: Store): Promise<IdAllocator> {
    return new IdAllocator(store, await takeBlock(store));
  }

  /** Detects that the store has lost commits, as after a failover to a standby that was behind. The
   *  store then allocates the same blocks of ids again, and state that this process has cached is
   *  wrong. Must be called every few seconds: when other processes have reserved the lost blocks
   *  again, the loss can no longer be detected. */
  async check(view: View): Promise<void> {
    const stored = await view.get(identityKey());
    const next = stored === undefined ? 0 : identityCodec.decode(stored).next;
    if (next <= Math.max(this.#block, this.#nextBlock ?? 0)) this.isRolledBack = true;
  }

  /** Throws `StoreUnavailable` if the store has lost commits. Called before content is used. */
  assertNotRolledBack(): void {
    if (!this.isRolledBack) return;
    throw new StoreUnavailable(
      "the store lost commits (failover to a lagging standby, or a restore): restart this node",
    );
  }

  next(): bigint {
    this.assertNotRolledBack();
    if (this.#used >= renewAfter) this.#renew();
    if (this.#used >= idsPerBlock)
      throw new Error("the id block is used up and no new one could be reserved");
    return (BigInt(this.#block) << 32n) | BigInt(this.#used++);
  }

  #renew(): void {
    if (this.#nextBlock !== undefined) {
      this.#block = this.#nextBlock;
      this.#nextBlock = undefined;
      this.#used = 0;
    } else if (!this.#renewing) {
      this.#renewing = true;
      void this.#fetchNext();
    }
  }

  /** Reserves the next block. After a failure a later call tries again, because half of the current
   *  block is still unused. */
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
    if (block >= blocksMax) throw new Error("all id blocks are used up");
    tx.put(identityKey(), identityCodec.encode({ next: block + 1 }));
    return block;
  };
  // May use the reserved space: otherwise a server could not start on a full disk, on which clients
  // must delete content.
  return store.transact(take, { mayUseReserve: true });
}
