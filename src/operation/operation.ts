import type { LoopShare } from "../base/loop-share.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { ReceivedBody } from "../content/content-ref.ts";
import type { Delegate, EntityRange } from "../protocol/principal.ts";
import type { Encryption } from "../protocol/encryption.ts";
import type { FaultCode } from "../protocol/faults.ts";
import type { Features } from "../protocol/features.ts";
import type { NamedResource } from "../protocol/named-resource.ts";
import type { InputOf, ParamRole, Params } from "../protocol/params.ts";
import type { Permission } from "../protocol/permission.ts";
import type { AclCaller } from "../protocol/posix-access.ts";
import type { Failure, Result } from "../protocol/result.ts";
import type { Version } from "../protocol/versions.ts";
import type { CopySource, SourceBody } from "./source.ts";
import type { Ticks } from "../base/ticks.ts";
import type { RecordView } from "./view.ts";
import type { XmlElement } from "../encoding/xml.ts";
import type { Reply, WaitDecision } from "./reply.ts";

/** The form in which services declare operations. An operation is data and one pure function,
 *  `decide`: routing, authentication, parsing, checks and the support matrix follow from the
 *  declaration, so that a new operation cannot forget one of them. `http/` and `execute.ts`
 *  interpret declarations. */

export type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH" | "MERGE" | "OPTIONS";

/** The method, resource and parameters of the requests that select an operation. */
export interface Route<N extends string = string> {
  readonly method: Method | readonly Method[];
  readonly resource: N;
  /** Query parameters that select the operation; `true`: any value. */
  readonly query?: Readonly<Record<string, string | true>>;
  /** Headers that select among operations of one method and query; `true`: any value, `false`:
   *  none. */
  readonly headers?: Readonly<Record<string, string | boolean>>;
  /** A media type that `Accept` must contain. If the x-ms-version is older than `since`, the
   *  request selects another operation of the same route. */
  readonly accepts?: string;
}

/** `must-exist` and `must-not-exist`: otherwise the request fails with the codes `missing` or
 *  `present` of the resource. `may-exist`: the operation creates a missing target, so conditions
 *  and leases are checked for a missing target, too. `optional`: `decide` handles a missing target;
 *  its lease is checked only if it exists, and so are its conditions, except those of `create`.
 *  `ignored`: the response does not depend on the target; what contains it need not exist either,
 *  so `decide` must not use `scope`. */
export type TargetPolicy = "must-exist" | "may-exist" | "must-not-exist" | "optional" | "ignored";
/** Which conditional headers an operation has, and the status if one fails. `read`: 304 or 412;
 *  `write`: 412; `create`: 412, and 409 for `If-None-Match: *`; `tags`: only `x-ms-if-tags` and the
 *  `x-ms-blob-if-…` headers; `match`: `If-Match` alone, which is required, parsed by the service's
 *  dialect. */
type ConditionsPolicy = "read" | "write" | "create" | "tags" | "match" | "none";
/** How `x-ms-lease-id` is checked. `match-if-leased`: a leased target needs its lease id;
 *  `match-if-given`: an id that is sent must be the current one; `action`: the operation changes
 *  the lease; `none`: the header is ignored. */
type LeasePolicy = "match-if-leased" | "match-if-given" | "action" | "none";
/** What happens to the target's ETag. `renew`: sets and returns a new one; `keep`: returns the
 *  current one; `none`: the response has none. */
type ETagPolicy = "renew" | "keep" | "none";

/** How the body of a request is received. `none`: a request with a body is rejected, because its
 *  bytes would be lost. Azure's documentation requires `Content-Length: 0` for operations without a
 *  body (Put Block From URL, for example). `transaction`: several requests that are executed
 *  together. */
export type BodySpec<B> =
  | { readonly kind: "none" }
  | XmlDocument<B>
  | { readonly kind: "bytes"; readonly bytesMax: number; readonly parse: BytesParser<B> }
  | { readonly kind: "transaction"; readonly bytesMax: number }
  | ContentBody
  | SourceBody;

interface XmlDocument<B> {
  readonly kind: "xml";
  readonly bytesMax: number;
  readonly parse: XmlParser<B>;
  /** Set if the response has a checksum of the document, even if the client sent none. */
  readonly returnsChecksum?: true;
}

/** Parses the root element of a body; long lists in steps between which other requests run. */
export type XmlParser<B> = (root: XmlElement | undefined, loop: LoopShare) => Awaitable<Result<B>>;
type BytesParser<B> = (bytes: Uint8Array, contentType: string) => Result<B>;

/** The request body becomes the content of a blob or file: it is stored before `decide` runs, which
 *  gets it as `received`. */
export interface ContentBody {
  readonly kind: "content";
  readonly lengthMax: (version: string) => number;
  /** A body of up to this many bytes is stored in the record instead of an extent. */
  readonly inlineBytesMax: number;
  /** Computes the MD5 even if the request has none. */
  readonly md5Always: boolean;
  /** The header with the MD5 of the body that takes precedence over Content-MD5; undefined: only
   *  Content-MD5. */
  readonly md5Header?: string;
  readonly nonEmpty: boolean;
  /** A request may omit the body; `received` is empty then. */
  readonly optional?: true;
  /** The first x-ms-version in which the operation has a body. Earlier ones reject a body, as
   *  operations without one do. Undefined: every version has it. */
  readonly since?: string;
}

/** What a URL addresses. Each service extends it with the names in the URL. */
export interface Address {
  readonly resource: string;
}

/** The input of `reads` and `decide`: the request and the loaded records. */
interface ReadContext<Scope, Target, Input, A> {
  readonly now: Ticks;
  readonly version: string;
  readonly account: string;
  readonly features: Features;
  readonly address: A;
  readonly scope: Scope;
  readonly target: Target;
  readonly input: Input;
  /** The range of entities that a table SAS is limited to. */
  readonly entities?: EntityRange | undefined;
  /** The copy source of an operation with a `source` body or with a linked resource; undefined if
   *  the request names none. */
  readonly source: CopySource | undefined;
  /** The caller, if access control lists limit what it may do: not for keys, signatures and callers
   *  with a role that permits the operation. */
  readonly aclCaller: AclCaller | undefined;
}

/** The input of `decide`: that of `reads`, the result of `reads`, and values that a pure function
 *  cannot produce (ids, for example). */
interface DecisionContext<Scope, Target, Input, A, ReadResult> extends ReadContext<
  Scope,
  Target,
  Input,
  A
> {
  /** The new ETag of the target for operations with the ETag policy `renew`. */
  readonly newETag: Ticks;
  readonly readResult: ReadResult;
  /** The stored request body of an operation with a `content` body; empty for other operations. */
  readonly received: ReceivedBody;
  /** The service URL that the client used, for `ServiceEndpoint` attributes and markers. */
  readonly endpoint: string;
  /** Whether the request was sent to the secondary endpoint. */
  readonly secondary: boolean;
  /** Object id of a caller with a bearer token, or of the user of a user delegation SAS. */
  readonly callerId: string | undefined;
  /** Whether the SAS of the request has a permission besides those of the operation; undefined: the
   *  credentials are no SAS. */
  readonly permits: ((letter: string) => boolean) | undefined;
  /** Whether the request has neither conditions nor a lease id. */
  readonly isUnconditional: boolean;
  /** Derives credentials for the caller; undefined without a bearer token. */
  readonly delegate: Delegate | undefined;
  // Returns a new random id with each call.
  readonly newId: () => bigint;
  readonly newGuid: () => string;
}

/** The types of scope and target of a service's resources by name, for example `{ blob: { scope: …;
 *  target: … } }`. If a resource has a `policy`, every operation on it must declare one of this
 *  type; the `guard` of the resource enforces it. `options` are fields that a declaration may have
 *  in addition. */
type ResourceTypes = Readonly<
  Record<string, { scope: object; target: object; policy?: object; options?: object }>
>;

type PolicyOf<R> = R extends { readonly policy: infer P }
  ? { readonly policy: P }
  : { readonly policy?: undefined } & (R extends { readonly options: infer O } ? O : unknown);

type TargetOf<T, P extends TargetPolicy> = P extends "must-exist"
  ? T
  : P extends "may-exist" | "optional"
    ? T | undefined
    : undefined;

/** The type of the context that `reads` and similar functions of a declaration get: it follows from
 *  the declared resource, parameters and body. */
type ReadContextOf<
  R extends { scope: object; target: object },
  A,
  T extends TargetPolicy,
  P extends Params,
  B,
> = ReadContext<R["scope"], TargetOf<R["target"], T>, InputOf<P> & BodyInput<B>, A>;

/** A declaration. Fields without a default must be given: leaving out the permission or the lease
 *  policy is a compile error. */
export interface OperationSpec<
  Rs extends ResourceTypes,
  A,
  N extends keyof Rs & string,
  T extends TargetPolicy,
  P extends Params,
  B,
  S,
> {
  /** Azure's name of the operation, for example "Set Blob Metadata". */
  readonly name: string;
  /** The operation ids in Microsoft's OpenAPI documents. */
  readonly ids: readonly string[];
  readonly route: Route<N>;
  /** The first x-ms-version that has the operation. Undefined: the first one of the service. */
  readonly since?: Version;
  /** Undefined if the operation has no parameters. */
  readonly params?: P;
  /** Undefined if the operation rejects a request with a body. */
  readonly body?: BodySpec<B>;
  /** Resources that a request names beside its target, with the permission that it needs for each.
   *  `decide` gets the record of a linked resource as `source`. */
  readonly namedResources?: readonly NamedResource<A, InputOf<P> & BodyInput<B>>[];
  readonly permission: Permission;
  /** `hierarchical`: accounts with a flat namespace reject the operation; `flat`: accounts with a
   *  hierarchical namespace do. Undefined: both have it. */
  readonly namespace?: "hierarchical" | "flat";
  readonly target: T;
  /** Fault code of a missing target before an x-ms-version, instead of that of the resource. */
  readonly missingBefore?: { readonly version: string; readonly code: FaultCode };
  readonly conditions: ConditionsPolicy;
  /** Fault codes of a failed condition instead of ConditionNotMet. `any`: of every condition, up to
   *  the x-ms-version `anyUntil`; `noETag`: of an If-Match value that cannot be an ETag;
   *  `outOfRange`: of an If-Match value outside the range of ETags. */
  readonly conditionFaults?: {
    readonly any?: FaultCode;
    readonly anyUntil?: string;
    readonly noETag?: FaultCode;
    readonly outOfRange?: FaultCode;
  };
  /** When `If-None-Match: *` is checked, if not with the other conditions. `last`: after the
   *  decision, that is after the source of a copy. `ignored`: never, as recorded from Azure for
   *  operations that never create their target. A function: if it returns true, before the lease of
   *  an existing target. */
  readonly ifNoneMatchAny?: "last" | "ignored" | ((scope: Rs[N]["scope"]) => boolean);
  readonly lease: LeasePolicy;
  /** Whether a request with these parameters renews the lease of the target: its id is then
   *  accepted although the lease has expired. */
  readonly renewsLease?: (input: object) => boolean;
  readonly etag: ETagPolicy;
  /** Completes the address with keys from the body: those of an inserted entity. */
  readonly completeAddress?: (address: A, input: InputOf<P> & BodyInput<B>) => A;
  /** Whether the operation runs in a transaction (`writes`) or on a store snapshot (`reads`).
   *  Undefined: `reads` for the methods GET, HEAD and OPTIONS, otherwise `writes`. */
  readonly effect?: "reads" | "writes";
  /** The operation deletes the target or, like Clear Messages, what it contains. It may therefore
   *  use the space that is reserved for a full disk. */
  readonly isDeletion?: true;
  /** The operation may use the reserved space although it deletes nothing, because clients need it
   *  before a deletion, as Get Messages before Delete Message. */
  readonly mayUseReserve?: true;
  readonly mayBeBatched?: true;
  /** The operation runs only inside the commit batch: concurrent calls change the same records, so
   *  that an attempt before the batch would conflict. */
  readonly runInBatch?: true;
  /** The response may be megabytes long and is built in memory, so `http/` limits how many are
   *  built at a time. */
  readonly largeResponse?: true;
  /** The status of a success, which a decision may override. Undefined: 200. */
  readonly status?: number;
  /** Reads further records for `decide`, in the same transaction. */
  readonly reads?: (view: RecordView, context: ReadContextOf<Rs[N], A, T, P, B>) => Awaitable<S>;
  /** At most how many bytes of its account the operation frees, in its transaction. A large body
   *  that would exceed the quota of the account nevertheless is rejected before it is received.
   *  Undefined: only the transaction rejects it. */
  readonly freedBytes?: (
    view: RecordView,
    context: ReadContextOf<Rs[N], A, T, P, B>,
  ) => Awaitable<number>;
  /** Rejects a large body by its length before it is received, if `decide` would reject it whatever
   *  its bytes are. Saves only the transfer: `decide` checks the same again. */
  readonly checkBodyLength?: (
    view: RecordView,
    context: ReadContextOf<Rs[N], A, T, P, B>,
    bodyBytes: number,
  ) => Awaitable<Result<void>>;
  /** The last change of records that belong to a missing target (uncommitted blocks, for example).
   *  Dates in conditions are compared with it. Undefined if there are no records of this kind. */
  readonly lastModifiedOf?: (readResult: S) => Ticks | undefined;
  /** Decides the result of the request. Pure and synchronous, because it runs again on new data
   *  after a conflict. */
  readonly decide: (
    context: DecisionContext<
      Rs[N]["scope"],
      TargetOf<Rs[N]["target"], T>,
      InputOf<P> & BodyInput<B>,
      A,
      S
    >,
  ) => Reply<Rs[N]["target"]> | Failure | WaitDecision;
}

export interface BodyInput<B> {
  /** Result of the parser of an `xml` or `bytes` body. */
  readonly body: B;
}

/** An operation with erased types of input, records and body: the form in which `http/`,
 *  `execute.ts` and lists of operations handle all of them alike. */
export type Operation = Omit<
  OperationSpec<
    Readonly<Record<string, { scope: object; target: object }>>,
    Address,
    string,
    TargetPolicy,
    Params,
    unknown,
    unknown
  >,
  | OmittedField
  | "reads"
  | "decide"
  | "completeAddress"
  | "namedResources"
  | "lastModifiedOf"
  | "ifNoneMatchAny"
  | "freedBytes"
  | "checkBodyLength"
> & {
  readonly since: Version;
  readonly params: Params;
  readonly body: BodySpec<unknown>;
  readonly effect: "reads" | "writes";
  readonly status: number;
  readonly policy?: object | undefined;
  /** The fields of the input by the role of their parameter (`ParamRole`), by which the server
   *  finds the encryption, for example; undefined: no parameter has a role. */
  readonly roles?: Readonly<Partial<Record<ParamRole, string>>>;
  readonly namedResources?: readonly NamedResource<Address, object>[];
  readonly completeAddress?: (address: Address, input: object) => Address;
  readonly reads?: (view: RecordView, context: AnyReadContext) => Awaitable<unknown>;
  readonly lastModifiedOf?: (readResult: unknown) => Ticks | undefined;
  readonly ifNoneMatchAny?: "last" | "ignored" | ((scope: object) => boolean);
  readonly freedBytes?: (view: RecordView, context: AnyReadContext) => Awaitable<number>;
  readonly checkBodyLength?: (
    view: RecordView,
    context: AnyReadContext,
    bodyBytes: number,
  ) => Awaitable<Result<void>>;
  readonly decide: (context: AnyDecisionContext) => Reply<object> | Failure | WaitDecision;
};

/** The contexts with erased types, as `run.ts` creates them for every operation. */
export type AnyReadContext = ReadContext<object, object | undefined, object, Address>;
export type AnyDecisionContext = DecisionContext<
  object,
  object | undefined,
  object,
  Address,
  unknown
>;

/** Returns the function with which a service declares its operations. It infers the input from
 *  `params`. `firstVersion` is the first x-ms-version that has the service. */
export function operationsOf<Rs extends ResourceTypes, A extends Address>(firstVersion: Version) {
  return function operation<
    const N extends keyof Rs & string,
    const T extends TargetPolicy,
    P extends Params = NoParams,
    B = undefined,
    S = undefined,
  >(spec: OperationSpec<Rs, A, N, T, P, B, S> & PolicyOf<Rs[N]>): Operation {
    return completeDeclaration(spec, firstVersion);
  };
}

const noParams = {} satisfies Params;
export type NoParams = typeof noParams;

/** Fields that a declaration may omit, and that `completeDeclaration` fills in, so that an
 *  `Operation` always has them. */
type OmittedField = "since" | "params" | "body" | "effect" | "status";

const omittedFields = { params: noParams, body: { kind: "none" }, status: 200 } as const;
const readMethods: ReadonlySet<Method> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Completes a declaration with the fields that it may omit. Called by `operationsOf`, and for
 *  operations that are derived from another declaration. */
export function completeDeclaration(spec: object, firstVersion: Version): Operation {
  const { route } = spec as Pick<Operation, "route">;
  const reads = [route.method].flat().every((method) => readMethods.has(method));
  const defaults = { ...omittedFields, since: firstVersion, effect: reads ? "reads" : "writes" };
  const operation = { ...defaults, ...spec } as Operation;
  return { ...operation, roles: rolesOf(operation.params) };
}

function rolesOf(params: Params): Readonly<Partial<Record<ParamRole, string>>> {
  const roles: Partial<Record<ParamRole, string>> = {};
  for (const [field, { role }] of Object.entries(params)) {
    if (role !== undefined) roles[role] = field;
  }
  return roles;
}

/** The types of the values of parameters with a role, which other code than `decide` reads. */
interface RoleValues extends Readonly<Record<ParamRole, unknown>> {
  readonly encryption: Encryption;
  readonly "entry-name": string | undefined;
  readonly "source-start": string | undefined;
}

/** The value of the parameter with a role; undefined if the operation has none. */
export function inputWithRole<R extends ParamRole>(
  { roles }: Pick<Operation, "roles">,
  input: object,
  role: R,
): RoleValues[R] | undefined {
  const field = roles?.[role];
  if (field === undefined) return undefined;
  return (input as Readonly<Record<string, RoleValues[R]>>)[field];
}

/** Declared by operations that neither check nor return an ETag and that no lease prevents: on
 *  queues, tables and their entries, and those that list. */
export const noETag = { conditions: "none", lease: "none", etag: "none" } as const;

/** Declared by operations that list: their responses may be large. */
export const largeListing = {
  target: "must-exist",
  ...noETag,
  largeResponse: true,
} as const;

/** Declared by operations that create a container or share, or restore one. */
export const creation = {
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
} as const;

/** Declared by operations that read properties of a container, share or file. */
export const propertiesRead = {
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
} as const;

/** Declared by operations that change properties of a container or share. */
export const propertiesChange = {
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "renew",
} as const;

type ReservePolicy = Pick<Operation, "isDeletion" | "mayUseReserve" | "lease">;

/** Whether an operation may use the space that is reserved for deletions on a full disk. Lease
 *  actions may: a lease must be broken before its blob can be deleted. */
export function mayUseReserve({ isDeletion, mayUseReserve: may, lease }: ReservePolicy): boolean {
  return isDeletion === true || may === true || lease === "action";
}
