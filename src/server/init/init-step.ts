import type { ServiceName } from "../../protocol/service-name.ts";

/** A request to a service. */
export interface InitRequest {
  readonly method: string;
  /** Path below the account, not percent-encoded. */
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** Creates one resource, unless it exists. */
export interface InitStep {
  /** Path of the field in the input. */
  readonly field: string;
  readonly account: string;
  readonly service: ServiceName;
  /** Succeeds if the resource exists; undefined: `create` rejects an existing one with 409. */
  readonly probe?: InitRequest;
  readonly create: InitRequest;
  /** Requests after the resource was created. */
  readonly complete?: readonly InitRequest[];
}
