import { escapeText } from "../../encoding/xml-writer.ts";
import type { Field, FieldReader } from "./fields.ts";
import type { InitRequest } from "./init-step.ts";

/** The request that sets stored access policies; none without policies. */
export function policyRequest(
  reader: FieldReader,
  field: Field,
  request: Pick<InitRequest, "path" | "query" | "headers">,
): readonly InitRequest[] {
  const policies = reader.map(field).map(([id, policy]) => policyXml(reader, id, policy));
  if (policies.length === 0) return [];
  const body = `<SignedIdentifiers>${policies.join("")}</SignedIdentifiers>`;
  return [{ ...request, method: "PUT", body }];
}

function policyXml(reader: FieldReader, id: string, field: Field): string {
  const at = reader.object(field, ["start", "expiry", "permissions"]);
  const element = (name: string, text: string | undefined): string =>
    text === undefined ? "" : `<${name}>${escapeText(text)}</${name}>`;
  const parts = [
    element("Start", reader.text(at("start"))),
    element("Expiry", reader.text(at("expiry"))),
    element("Permission", reader.text(at("permissions"))),
  ];
  const policy = `<AccessPolicy>${parts.join("")}</AccessPolicy>`;
  return `<SignedIdentifier>${element("Id", id)}${policy}</SignedIdentifier>`;
}
