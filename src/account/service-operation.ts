import { operationsOf, type Address } from "../operation/operation.ts";
import type { AccountRecord, AccountScope } from "./account-record.ts";

interface ServiceResource {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
}

/** Declares an operation that every service has on itself, whatever else it has. */
export const serviceOperation = operationsOf<ServiceResource, Address>();
