import type { Awaitable } from "../base/awaitable.ts";
import type { Received } from "../content/content-ref.ts";
import type { Delegate } from "../protocol/delegation.ts";
import type { FaultCode } from "../protocol/faults.ts";
import type { Features } from "../protocol/features.ts";
import type { NamedResource } from "../protocol/named-resource.ts";
import type { InputOf, Params } from "../protocol/params.ts";
import type { Permission } from "../protocol/permission.ts";
import type { EntityRange } from "../protocol/principal.ts";
import type { Failure, Result } from "../protocol/result.ts";
import type { CopySource, SourceBody } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { RecordView } from "./view.ts";
import type { XmlElement } from "../encoding/xml.ts";
import type { Reply, WaitDecision } from "./reply.ts";

/** The form of an operation: data plus one small function. Services declare, doors interpret. */

export type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH" | "MERGE" | "OPTIONS";

export interface Route<N extends string = string> {
  readonly method: Method | readonly Method[];
  readonly resource: N;
  /** Query parameters that select the operation; `true` only asks for presence. */
  readonly query?: Readonly<Record<string, string | true>>;
  /** Headers that tell operations of the same method and query apart; `false` asks for absence. */
  readonly headers?: Readonly<Record<string, string | boolean>>;
  /** A media type that `Accept` must name for this form of the answer. Requests that are older than
   *  the operation get the form they know. */
  readonly accepts?: string;
}

/** `must-exist` and `must-not-exist` fail with the resource's own codes. `may-exist` writes what is
 *  not there yet, so conditions and leases speak of absence too; with `optional` the decision says
 *  what absence means, and they only bind a target that exists. */
export type TargetPolicy = "must-exist" | "may-exist" | "must-not-exist" | "optional";
/** `read`: 304 or 412; `write`: 412; `create`: 412, and 409 for `If-None-Match: *`; `tags`: only
 *  `x-ms-if-tags` and the `x-ms-blob-if-…` spelling of the others; `match`: `If-Match`
 *  alone, which must be there, in the form the service's dialect gives ETags. */
export type ConditionsPolicy = "read" | "write" | "create" | "tags" | "match" | "none";
/** `match-if-leased`: a leased target needs its id; `match-if-given`: an id must be the current
 *  one; `action`: the operation is about the lease itself; `none`: it takes no id. */
export type LeasePolicy = "match-if-leased" | "match-if-given" | "action" | "none";
/** `renew` stamps a new ETag and answers it, `keep` answers the present one, `none` none. */
export type ETagPolicy = "renew" | "keep" | "none";

export type BodySpec<B> =
  | { readonly kind: "none" }
  | { readonly kind: "xml"; readonly bytesMax: number; readonly parse: XmlParser<B> }
  | { readonly kind: "bytes"; readonly bytesMax: number; readonly parse: BytesParser<B> }
  | { readonly kind: "transaction"; readonly bytesMax: number }
  | ContentBody
  | SourceBody;

export type XmlParser<B> = (root: XmlElement | undefined) => Awaitable<Result<B>>;
export type BytesParser<B> = (bytes: Uint8Array, contentType: string) => Result<B>;

/** Streamed to content storage before the decision. */
export interface ContentBody {
  readonly kind: "content";
  readonly lengthMax: (version: string) => number;
  readonly inlineBytesMax: number;
  /** Compute the MD5 even if the request names none. */
  readonly md5Always: boolean;
  /** A header that names the MD5 of the body as well, and is believed before Content-MD5. */
  readonly md5Header?: string;
  /** Refuses an empty body. */
  readonly nonEmpty: boolean;
}

export interface Address {
  readonly resource: string;
}

export interface ReadContext<Scope, Target, Input, A> {
  readonly now: Ticks;
  readonly version: string;
  readonly account: string;
  readonly features: Features;
  readonly address: A;
  readonly scope: Scope;
  readonly target: Target;
  readonly input: Input;
  /** The entities a table signature is limited to. */
  readonly entities?: EntityRange | undefined;
  /** Of an operation with a `source` body, or one that names a `source`. */
  readonly source: CopySource | undefined;
}

export interface DecisionContext<Scope, Target, Input, A, Seen> extends ReadContext<
  Scope,
  Target,
  Input,
  A
> {
  /** The ETag the target gets if the operation renews it. */
  readonly newETag: Ticks;
  /** What `reads` returned. */
  readonly readResult: Seen;
  /** The received body of a `content` operation. */
  readonly received: Received;
  /** How the caller reaches this service, for `ServiceEndpoint` attributes and markers. */
  readonly endpoint: string;
  readonly secondary: boolean;
  /** Derives a key for a user who came with a bearer token; nobody else can have one. */
  readonly delegate: Delegate | undefined;
  readonly newId: () => bigint;
  readonly newGuid: () => string;
}

/** Scope and record types of a service's resources, e.g. `{ blob: { scope: …; target: … } }`. If
 *  a resource has a `policy`, every operation on it must declare one; its `guard` applies it. */
export type ResourceTypes = Readonly<
  Record<string, { scope: object; target: object; policy?: object }>
>;

type PolicyOf<R> = R extends { readonly policy: infer P }
  ? { readonly policy: P }
  : { readonly policy?: undefined };

type TargetOf<T, P extends TargetPolicy> = P extends "must-exist"
  ? T
  : P extends "may-exist" | "optional"
    ? T | undefined
    : undefined;

export interface OperationSpec<
  Rs extends ResourceTypes,
  A,
  N extends keyof Rs & string,
  T extends TargetPolicy,
  P extends Params,
  B,
  S,
  H extends string,
> {
  /** The service's own name for it, e.g. "Set Blob Metadata". */
  readonly name: string;
  /** The ids it has in the published interface documents. */
  readonly ids: readonly string[];
  readonly route: Route<N>;
  /** The first x-ms-version that has it. */
  readonly since: string;
  readonly params: P;
  readonly body: BodySpec<B>;
  /** What a request names beside its target. `decide` sees a linked one's record as `source`. */
  readonly names?: readonly NamedResource<A, InputOf<P> & BodyInput<B>>[];
  readonly permission: Permission;
  /** Refused by accounts whose namespace is flat. */
  readonly namespace?: "hierarchical";
  readonly target: T;
  readonly conditions: ConditionsPolicy;
  /** What an unmet condition is called if not ConditionNotMet: copies speak of their target, some
   *  of them only if the If-Match value could never be an ETag; `outOfRange` is for a number that
   *  is no time of the service's clock. */
  readonly unmet?: {
    readonly any?: FaultCode;
    readonly noETag?: FaultCode;
    readonly outOfRange?: FaultCode;
  };
  readonly lease: LeasePolicy;
  readonly etag: ETagPolicy;
  /** What the body adds to the address: the keys of an entity that is inserted. */
  readonly locate?: (address: A, input: InputOf<P> & BodyInput<B>) => A;
  /** Writers run in a transaction, readers on a snapshot. */
  readonly effect: "reads" | "writes";
  /** Deletes the target or, like Clear Messages, what it contains. Such an operation may use the
   *  space that is reserved for a full disk. */
  readonly removes?: true;
  /** May use the reserved space although it removes nothing: a client needs it before a deletion,
   *  as Get Messages before Delete Message. */
  readonly mayUseReserve?: true;
  /** May be a part of a Blob Batch. */
  readonly mayBeBatched?: true;
  /** Runs only inside the commit batch: concurrent calls change the same records, so an attempt
   *  before the batch would conflict. */
  readonly runInBatch?: true;
  /** The response may be megabytes long and is built in memory. */
  readonly largeResponse?: true;
  readonly success: { readonly status: number; readonly headers: readonly H[] };
  /** What else the decision looks at, in the same transaction. */
  readonly reads?: (
    view: RecordView,
    sighting: ReadContext<
      Rs[N]["scope"],
      TargetOf<Rs[N]["target"], T>,
      InputOf<P> & BodyInput<B>,
      A
    >,
  ) => Awaitable<S>;
  /** The last change of what was read of a target that does not exist yet, such as uncommitted
   *  blocks: dates in conditions are compared with it. Undefined if nothing of it exists. */
  readonly lastModifiedOf?: (seen: S) => Ticks | undefined;
  /** Pure and synchronous: runs again on fresh data after a conflict. */
  readonly decide: (
    context: DecisionContext<
      Rs[N]["scope"],
      TargetOf<Rs[N]["target"], T>,
      InputOf<P> & BodyInput<B>,
      A,
      S
    >,
  ) => Reply<Rs[N]["target"], NoInfer<H>> | Failure | WaitDecision;
}

export interface BodyInput<B> {
  /** What the body parser made of a `xml` or `bytes` body. */
  readonly body: B;
}

/** An operation as the doors see it, whatever its types. */
export type Operation = Omit<
  OperationSpec<
    Readonly<Record<string, { scope: object; target: object }>>,
    Address,
    string,
    TargetPolicy,
    Params,
    unknown,
    unknown,
    string
  >,
  "reads" | "decide" | "locate" | "names" | "lastModifiedOf"
> & {
  readonly policy?: object | undefined;
  readonly names?: readonly NamedResource<Address, object>[];
  readonly locate?: (address: Address, input: object) => Address;
  readonly reads?: (view: RecordView, sighting: AnyReadContext) => Awaitable<unknown>;
  readonly lastModifiedOf?: (seen: unknown) => Ticks | undefined;
  readonly decide: (context: AnyDecisionContext) => Reply<object, string> | Failure | WaitDecision;
};

export type AnyReadContext = ReadContext<object, object | undefined, object, Address>;
export type AnyDecisionContext = DecisionContext<
  object,
  object | undefined,
  object,
  Address,
  unknown
>;

/** A service's `operation` function: infers inputs from the parameters and checks headers. */
export function operationsOf<Rs extends ResourceTypes, A extends Address>() {
  return function operation<
    const N extends keyof Rs & string,
    const T extends TargetPolicy,
    P extends Params,
    const H extends string,
    B = undefined,
    S = undefined,
  >(spec: OperationSpec<Rs, A, N, T, P, B, S, H> & PolicyOf<Rs[N]>): Operation {
    return spec as unknown as Operation;
  };
}

export const noBody = { kind: "none" } as const;
