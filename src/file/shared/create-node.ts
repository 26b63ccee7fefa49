import type { ContentPlan } from "../../content/content-ref.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { NodeKind, NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { putNode } from "./node-replies.ts";
import type { SmbInput } from "./smb-params.ts";
import {
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
  type SmbPropertyChange,
} from "./smb-properties.ts";

/** Declared by operations that create a directory or a link. */
export const nodeCreation = {
  permission: { letters: "cw", resourceType: "o" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  fileAccess: "none",
  effect: "writes",
} as const;

export const createdHeaderNames = [...smbHeaderNames, "x-ms-request-server-encrypted"] as const;

interface CreationContext {
  readonly scope: NodeScope;
  readonly target: NodeRecord | undefined;
  readonly input: { readonly metadata: Metadata; readonly smb: SmbInput };
  readonly newETag: Ticks;
  readonly newId: () => bigint;
  readonly version: string;
}

interface NewNode {
  readonly kind: NodeKind;
  /** What the permission is resolved from, beside the request. */
  readonly permission: Pick<SmbPropertyChange, "creates" | "parentSddl" | "keySddl">;
  /** The fields that only this kind has. */
  readonly fields?: Partial<NodeRecord>;
  readonly content?: ContentPlan;
}

/** The reply that creates a file, directory or symbolic link, or replaces a file. */
export function createNode(
  { scope, target, input, newETag: now, newId, version }: CreationContext,
  { kind, permission, fields, ...plan }: NewNode,
) {
  const { share, parent, name } = scope;
  const change = { share, kind, parent, ...permission, input: input.smb, present: undefined, now };
  const resolved = resolveSmbProperties(change);
  if (!resolved.ok) return resolved;
  const next: NodeRecord = {
    id: target?.id ?? newId(),
    parent: parent.id,
    name,
    kind,
    etag: now,
    since: share.epoch,
    ...resolved.value.properties,
    metadata: input.metadata,
    ...fields,
  };
  const placed = putNode(scope, { target, next, ...plan });
  return {
    ...placed,
    effects: [...placed.effects, ...resolved.value.effects],
    headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
  };
}
