import { defaultClaims, type ClaimNames, type IssuerSettings } from "./identity.ts";
import { ObjectReader } from "./object-reader.ts";
import { accountNameForm } from "./parse-settings.ts";

const issuersMax = 64;
const addressForm = /^https?:\/\/[^\s?#]{1,1000}$/;
const claimForm = /^[\w.:/-]{1,128}$/;
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

export function parseIssuers(input: unknown, problems: string[]): readonly IssuerSettings[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > issuersMax) {
    problems.push(`"issuers" must be a list of at most ${issuersMax}`);
    return [];
  }
  const issuers = input.flatMap((value: unknown, index) => {
    const reader = new ObjectReader(`issuer ${index + 1}`, value, problems);
    const parsed = parseIssuer(reader, problems);
    reader.end();
    return parsed === undefined ? [] : [parsed];
  });
  const names = issuers.map(({ issuer }) => issuer);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) problems.push(`"issuers": ${twice} is listed twice`);
  return issuers;
}

function parseIssuer(reader: ObjectReader, problems: string[]): IssuerSettings | undefined {
  const issuer = addressOf(reader, "issuer", reader.text("issuer", addressForm));
  const jwks = addressOf(reader, "jwks", reader.optionalText("jwks", addressForm));
  const only = reader.texts("accounts", accountNameForm);
  const audiences = reader.texts("audiences", /^.{1,512}$/) ?? [];
  const claims = parseClaims(reader.object("claims"), problems);
  if (issuer === undefined) return undefined;
  return { issuer, audiences, jwks, accounts: only, claims };
}

/** Whether a document at this address is what its server has sent: one that arrives unencrypted
 *  from another machine could be anyone's. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || loopbackHosts.has(hostname);
}

function addressOf(reader: ObjectReader, field: string, text: string | undefined) {
  if (text === undefined || !URL.canParse(text)) {
    if (text !== undefined) reader.refuse(field, "must be an address");
    return undefined;
  }
  if (isProtected(new URL(text))) return text;
  reader.refuse(field, "must begin with https:// unless it is on this machine");
  return undefined;
}

function parseClaims(input: unknown, problems: string[]): ClaimNames {
  if (input === undefined) return defaultClaims;
  const reader = new ObjectReader('"claims" of an issuer', input, problems);
  const claims = {
    objectId: reader.optionalText("objectId", claimForm) ?? defaultClaims.objectId,
    tenantId: reader.optionalText("tenantId", claimForm) ?? defaultClaims.tenantId,
    groups: reader.optionalText("groups", claimForm) ?? defaultClaims.groups,
  };
  reader.end();
  return claims;
}
