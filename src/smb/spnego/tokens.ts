import { decodeElements, encodeElement, field, Tag } from "./der.ts";

/** SPNEGO tokens, which carry the NTLM messages (RFC 4178, [MS-SPNG]). */

const spnegoId = Buffer.from("2b0601050502", "hex");
export const ntlmId = Buffer.from("2b06010401823702020a", "hex");
const hint = "not_defined_in_RFC4178@please_ignore";

export const Negotiation = { completed: 0, incomplete: 1, requestCheck: 3 } as const;

/** NegTokenInit2 of the NEGOTIATE response; NTLM is the only mechanism. */
export function encodeOffer(): Buffer {
  const mechanisms = encodeElement(Tag.sequence, encodeElement(Tag.objectId, ntlmId));
  const hints = encodeElement(
    Tag.sequence,
    encodeElement(field(0), encodeElement(Tag.text, Buffer.from(hint, "latin1"))),
  );
  const token = encodeElement(
    Tag.sequence,
    encodeElement(field(0), mechanisms),
    encodeElement(field(3), hints),
  );
  return encodeElement(
    Tag.application,
    encodeElement(Tag.objectId, spnegoId),
    encodeElement(field(0), token),
  );
}

export interface ClientToken {
  /** The NTLM message; empty if the client only lists mechanisms. */
  readonly token: Buffer;
  /** The mechTypes of a NegTokenInit as the client sent them, because mechListMIC covers these
   *  bytes. Undefined in later tokens. */
  readonly mechanisms: Buffer | undefined;
  /** Whether `token` is an NTLM message: NTLM is the first mechanism of the list. */
  readonly isNtlm: boolean;
  readonly offersNtlm: boolean;
  /** mechListMIC; undefined if the client sent none. */
  readonly check: Buffer | undefined;
}

export function decodeClientToken(bytes: Buffer): ClientToken | undefined {
  const outer = decodeElements(bytes)?.[0];
  if (outer === undefined) return undefined;
  if (outer.tag === Tag.application) return decodeFirst(outer.content);
  return outer.tag === field(1) ? decodeNext(outer.content) : undefined;
}

function decodeFirst(content: Buffer): ClientToken | undefined {
  const [id, body] = decodeElements(content) ?? [];
  if (id === undefined || body === undefined || !id.content.equals(spnegoId)) return undefined;
  const fields = fieldsOf(body.content);
  const list = fields?.get(field(0));
  const mechanisms = list === undefined ? undefined : decodeElements(list)?.[0];
  const names = mechanisms === undefined ? undefined : decodeElements(mechanisms.content);
  if (fields === undefined || mechanisms === undefined || names === undefined) return undefined;
  return {
    token: octetsOf(fields.get(field(2))) ?? Buffer.alloc(0),
    mechanisms: Buffer.from(mechanisms.encoded),
    isNtlm: names[0]?.content.equals(ntlmId) ?? false,
    offersNtlm: names.some((name) => name.content.equals(ntlmId)),
    check: octetsOf(fields.get(field(3))),
  };
}

function decodeNext(content: Buffer): ClientToken | undefined {
  const fields = fieldsOf(content);
  if (fields === undefined) return undefined;
  return {
    token: octetsOf(fields.get(field(2))) ?? Buffer.alloc(0),
    mechanisms: undefined,
    isNtlm: true,
    offersNtlm: true,
    check: octetsOf(fields.get(field(3))),
  };
}

function fieldsOf(content: Buffer): ReadonlyMap<number, Buffer> | undefined {
  const sequence = decodeElements(content)?.[0];
  const elements = sequence?.tag === Tag.sequence ? decodeElements(sequence.content) : undefined;
  return elements && new Map(elements.map((element) => [element.tag, element.content]));
}

function octetsOf(content: Buffer | undefined): Buffer | undefined {
  const element = content === undefined ? undefined : decodeElements(content)?.[0];
  return element?.tag === Tag.octets ? element.content : undefined;
}

export interface ServerToken {
  readonly state: number;
  /** Whether to include supportedMech; only in the first response. */
  readonly namesMechanism: boolean;
  readonly token?: Buffer | undefined;
  readonly check?: Buffer | undefined;
}

export function encodeServerToken({ state, namesMechanism, token, check }: ServerToken): Buffer {
  const parts = [encodeElement(field(0), encodeElement(Tag.enumerated, Buffer.from([state])))];
  if (namesMechanism) parts.push(encodeElement(field(1), encodeElement(Tag.objectId, ntlmId)));
  if (token !== undefined) parts.push(encodeElement(field(2), encodeElement(Tag.octets, token)));
  if (check !== undefined) parts.push(encodeElement(field(3), encodeElement(Tag.octets, check)));
  return encodeElement(field(1), encodeElement(Tag.sequence, ...parts));
}
