import { operationsOf, type Address } from "../operation/operation.ts";
import type { AccountRecord, AccountScope } from "./account-record.ts";

interface ServiceResource {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
}

/** Declares an operation on the service itself, which all services have. */
export const serviceOperation = operationsOf<ServiceResource, Address>();
