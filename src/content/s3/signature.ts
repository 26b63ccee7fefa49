import { createHash, createHmac } from "node:crypto";

/** AWS signature version 4, with which `bucket.ts` signs its requests.
 *  docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface UnsignedRequest {
  readonly method: string;
  readonly host: string;
  /** The path, with percent-encoded segments. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyDigest: string;
}

interface SigningContext {
  readonly credentials: Credentials;
  readonly region: string;
  /** Time of the request, as `20130524T000000Z`; the service rejects signatures of other times. */
  readonly amzDate: string;
}

const algorithm = "AWS4-HMAC-SHA256";
const dayLength = 8;

export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The headers to send: those of the request, and those that authenticate it. */
export function signedHeaders(
  request: UnsignedRequest,
  { credentials, region, amzDate }: SigningContext,
): Readonly<Record<string, string>> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    "x-amz-content-sha256": request.bodyDigest,
    "x-amz-date": amzDate,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(headers).toSorted();
  const canonical = [
    request.method,
    request.path,
    canonicalQuery(request.query),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    "",
    names.join(";"),
    request.bodyDigest,
  ].join("\n");
  const day = amzDate.slice(0, dayLength);
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = [algorithm, amzDate, scope, sha256Hex(canonical)].join("\n");
  let key: Uint8Array | string = `AWS4${secretAccessKey}`;
  for (const part of [day, region, "s3", "aws4_request"]) key = hmac(key, part);
  const signature = Buffer.from(hmac(key, toSign)).toString("hex");
  const credential = `Credential=${accessKeyId}/${scope}`;
  const signed = `SignedHeaders=${names.join(";")}`;
  return {
    ...headers,
    authorization: `${algorithm} ${credential},${signed},Signature=${signature}`,
  };
}

/** The query in the form that is signed, and sent as well: sorted and percent-encoded. */
export function canonicalQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .toSorted()
    .map((name) => `${encodeStrictly(name)}=${encodeStrictly(query[name] ?? "")}`)
    .join("&");
}

/** Percent-encodes everything but letters, digits and `-._~`, as the signature requires. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Uint8Array | string, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}
