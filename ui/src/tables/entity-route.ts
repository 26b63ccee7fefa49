import type { Entity } from "../rest/entity.ts";
import { formatRoute } from "../route.ts";

type Keys = Pick<Entity, "partitionKey" | "rowKey">;

/** Both keys of an entity as one value of an address: keys may be empty, the value never is. */
export function entityValue({ partitionKey, rowKey }: Keys): string {
  return `${encodeURIComponent(partitionKey)}/${encodeURIComponent(rowKey)}`;
}

/** The keys in a value of an address; undefined if it has none. */
export function keysIn(value: string): Keys | undefined {
  const [partitionKey, rowKey] = value.split("/");
  if (partitionKey === undefined || rowKey === undefined) return undefined;
  try {
    return {
      partitionKey: decodeURIComponent(partitionKey),
      rowKey: decodeURIComponent(rowKey),
    };
  } catch {
    return undefined;
  }
}

/** The address of an entity beside the list of its table. */
export function entityRoute(account: string, table: string, keys: Keys): string {
  return formatRoute("tables", [account, table], { entity: entityValue(keys) });
}
