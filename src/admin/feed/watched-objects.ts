import type { SignedName } from "../../operation/service.ts";
import type { ServiceName } from "../../protocol/service-name.ts";

/** An object whose timeline is shown. */
export interface WatchedObject {
  readonly service: ServiceName;
  readonly account: string;
  readonly place: SignedName;
}

/** Text that identifies an object. Workers exchange these texts. */
export function objectKey({ service, account, place }: WatchedObject): string {
  const { name, path, entity } = place;
  return JSON.stringify([service, account, name, path, entity?.partitionKey, entity?.rowKey]);
}

export function isSameObject(left: WatchedObject, right: WatchedObject): boolean {
  return (
    left.service === right.service &&
    left.account === right.account &&
    left.place.name === right.place.name &&
    left.place.path === right.place.path &&
    left.place.entity?.partitionKey === right.place.entity?.partitionKey &&
    left.place.entity?.rowKey === right.place.entity?.rowKey
  );
}

/** The objects whose reads are recorded: those of open timelines. Reads of all other objects cost
 *  one comparison. */
export class WatchedObjects {
  #keys: ReadonlySet<string> = new Set();

  set(keys: readonly string[]): void {
    this.#keys = new Set(keys);
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  has(object: WatchedObject): boolean {
    return this.#keys.has(objectKey(object));
  }
}
