import {
  authenticationFailed,
  malformedAuthorization,
} from "../../protocol/authentication-faults.ts";
import { parseHttpDate } from "../../base/dates.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { keyPrincipal, secondKeyPrincipal, type Principal } from "../../protocol/principal.ts";
import { ok, type Failure, type Result } from "../../protocol/result.ts";
import { repeatedSignedHeader } from "../../protocol/signing/canonical-headers.ts";
import {
  stringToSignVariants,
  sharedKeyText,
  type SharedKeyScheme,
} from "../../protocol/signing/shared-key.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { oldestVersion } from "../../protocol/versions.ts";
import { signingKey, type KeyRing } from "./key-ring.ts";
import type { AuthRequest } from "./request.ts";

/** Most difference between the date of a request and the clock of the server. */
const dateSkewMax: Ticks = 15n * 60n * ticksPerSecond;

const accepted = ok(keyPrincipal);
const acceptedSecond = ok(secondKeyPrincipal);

/** Verifies a Shared Key signature. `credentials` is the text after the scheme in the Authorization
 *  header: `account:signature`. */
export function authenticateSharedKey(
  request: AuthRequest,
  ring: KeyRing,
  scheme: SharedKeyScheme,
  credentials: string,
): Result<Principal> {
  const colon = credentials.indexOf(":");
  if (colon <= 0 || colon === credentials.length - 1) return malformedAuthorization();
  const account = credentials.slice(0, colon);
  if (account !== request.account) {
    return authenticationFailed(
      `Cannot find the claimed account when trying to GetProperties for the account ${account}.`,
    );
  }
  const repeated = repeatedSignedHeader(request.rawHeaders);
  if (repeated !== undefined) return invalidHeader(repeated, request.header(repeated) ?? "");
  const misdated = checkDate(request);
  if (misdated !== undefined) return misdated;
  return checkSignature(request, ring, scheme, credentials.slice(colon + 1));
}

function checkSignature(
  request: AuthRequest,
  ring: KeyRing,
  scheme: SharedKeyScheme,
  signature: string,
): Result<Principal> {
  const tried: string[] = [];
  for (const signable of signableForms(request)) {
    for (const reading of stringToSignVariants) {
      const text = sharedKeyText(signable, request.service, scheme, reading);
      if (tried.includes(text)) continue;
      const key = signingKey(ring, text, signature);
      if (key !== undefined) return key === 0 ? accepted : acceptedSecond;
      tried.push(text);
    }
  }
  return authenticationFailed(
    `The MAC signature found in the HTTP request '${signature}' is not the same as any computed ` +
      `signature. Server used following string to sign: '${tried[0]}'.`,
  );
}

/** The variants of a request whose signatures are tried. Old and new versions sign a length of 0
 *  differently, and a request without a version may come from either kind of client. */
function signableForms(request: AuthRequest): readonly AuthRequest[] {
  const isVersionNamed = request.header("x-ms-version") !== undefined;
  return isVersionNamed ? [request] : [request, { ...request, version: oldestVersion }];
}

/** Rejects old requests, which limits how long a captured request can be replayed. */
function checkDate(request: AuthRequest): Failure | undefined {
  const text = request.header("x-ms-date") ?? request.header("date");
  if (text === undefined) return authenticationFailed("Request date header not specified");
  const moment = parseHttpDate(text);
  if (moment === undefined) {
    return authenticationFailed(`Request date header is not well formed: '${text}'`);
  }
  const now = request.clientNow ?? request.wallNow;
  if (moment < now - dateSkewMax) {
    return authenticationFailed(`Request date header too old: '${text}'`);
  }
  if (moment > now + dateSkewMax) {
    return authenticationFailed(`Request date header is in the future: '${text}'`);
  }
  return undefined;
}
