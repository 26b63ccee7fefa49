import { formatHttpDate } from "../base/dates.ts";
import type { ServiceName } from "./names.ts";
import { fail, ok, type Failure, type Result } from "./result.ts";
import type { Ticks } from "../base/ticks.ts";

/** The faults of requests that could not be authenticated, and the check of the validity period of
 *  signatures. Used by `http/auth`. */

/** The challenge in a 401 response: where a client gets a token. The tenant is the zero id, because
 *  accounts of this server have none. */
const challenge =
  "Bearer authorization_uri=https://login.microsoftonline.com/" +
  "00000000-0000-0000-0000-000000000000/oauth2/authorize resource_id=https://storage.azure.com";

const rejectedText =
  "Server failed to authenticate the request. Please refer to the information in the " +
  "www-authenticate header.";

/** The first version in which a service sends a challenge. The file service does not in 2022-11-02
 *  (recorded from Azure), and does in those of 2026 (tests of the official libraries); this one,
 *  which brought the errors of copy sources, is assumed. */
const challengeSince: Readonly<Record<ServiceName, string>> = {
  blob: "2019-12-12",
  queue: "2019-12-12",
  table: "2020-12-06",
  file: "2024-02-04",
};

/** The fault 403 of credentials that are not valid. `detail` is sent to the client: it explains how
 *  the server interpreted the request. */
export function authenticationFailed(detail?: string): Failure {
  if (detail === undefined) return fail("AuthenticationFailed");
  return fail("AuthenticationFailed", { elements: { AuthenticationErrorDetail: detail } });
}

/** The fault 400 of a malformed Authorization header. */
export function malformedAuthorization(): Failure {
  return fail("InvalidAuthenticationInfo");
}

/** The fault of a request without credentials: newer versions send a challenge, older ones 404. */
export function noCredentials(service: ServiceName, version: string | undefined): Failure {
  if (!challenges(service, version)) return fail("ResourceNotFound");
  return fail("NoAuthenticationInformation", { headers: { "WWW-Authenticate": challenge } });
}

/** The fault 401 of a well-formed bearer token that is not accepted. */
export function tokenRejected(
  service: ServiceName,
  version: string | undefined,
  detail: string,
): Failure {
  // Recorded from Azure: before it supported bearer tokens, the table service sent 403 without a
  // challenge.
  if (service === "table" && !challenges(service, version)) return authenticationFailed();
  return fail("InvalidAuthenticationInfo", {
    status: 401,
    message: rejectedText,
    elements: { AuthenticationErrorDetail: detail },
    headers: { "WWW-Authenticate": challenge },
  });
}

function challenges(service: ServiceName, version: string | undefined): boolean {
  const since = challengeSince[service];
  return version !== undefined && version >= since;
}

/** The period in which a signature is valid. Without `start` it is valid at once. */
interface ValidityPeriod {
  readonly start: Ticks | undefined;
  readonly expiry: Ticks | undefined;
}

const inWindow = ok(undefined);

/** Checks that a signature is valid now: from its start until just before its expiry. */
export function checkValidityPeriod({ start, expiry }: ValidityPeriod, now: Ticks): Result<void> {
  if (expiry === undefined) return authenticationFailed("se is mandatory. Cannot be empty");
  if (now < expiry && (start === undefined || now >= start)) return inWindow;
  if ((start ?? now) >= expiry) {
    return authenticationFailed(
      `Signed expiry time [${formatHttpDate(expiry)}] must be after signed start time ` +
        `[${formatHttpDate(start ?? now)}]`,
    );
  }
  return authenticationFailed(
    `Signature not valid in the specified time frame: Start [${formatHttpDate(start ?? now)}] - ` +
      `Expiry [${formatHttpDate(expiry)}] - Current [${formatHttpDate(now)}]`,
  );
}
