import type { AccountKeys } from "../../account/settings.ts";
import {
  authenticationFailed,
  malformedAuthorization,
} from "../../protocol/authentication-faults.ts";
import { anonymousPrincipal, type Principal } from "../../protocol/principal.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { authenticateBearer } from "./bearer.ts";
import { KeyRings } from "./key-ring.ts";
import type { AuthOptions, AuthRequest } from "./request.ts";
import { authenticateSas, hasSas } from "./sas.ts";
import { authenticateSharedKey } from "./shared-key.ts";

const anonymous = ok(anonymousPrincipal);

/** Authenticates requests. Caches decoded keys and verified tokens, but no decisions about
 *  requests. */
export class Authenticator {
  readonly #rings = new KeyRings();

  authenticate(request: AuthRequest, keys: AccountKeys, options: AuthOptions): Result<Principal> {
    const authorization = request.header("authorization");
    if (hasSas(request) && (authorization === undefined || isUserBound(request))) {
      return this.#authenticateSas(request, keys, options);
    }
    if (authorization === undefined) return anonymous;
    const space = authorization.indexOf(" ");
    const scheme = authorization.slice(0, Math.max(space, 0)).toLowerCase();
    const credentials = authorization.slice(space + 1).trim();
    if (scheme === "bearer") return authenticateBearer(request, credentials, options);
    if (scheme !== "sharedkey" && scheme !== "sharedkeylite") return malformedAuthorization();
    if (!options.sharedKeyAllowed) return fail("KeyBasedAuthenticationNotPermitted");
    const ring = this.#rings.of(request.account, keys);
    const form = scheme === "sharedkey" ? "SharedKey" : "SharedKeyLite";
    return authenticateSharedKey(request, ring, form, credentials);
  }

  #authenticateSas(
    request: AuthRequest,
    keys: AccountKeys,
    options: AuthOptions,
  ): Result<Principal> {
    const verified = authenticateSas(request, this.#rings.of(request.account, keys), options);
    if (!verified.ok || !isUserBound(request)) return verified;
    return isPresentedByUser(request, options) ? verified : userMismatch();
  }
}

/** Whether a SAS is bound to a user: it is valid only together with a bearer token of the user that
 *  it names. */
function isUserBound(request: AuthRequest): boolean {
  return request.query.has("skoid") && queryText(request, "sduoid") !== "";
}

function isPresentedByUser(request: AuthRequest, options: AuthOptions): boolean {
  const [scheme = "", token = ""] = (request.header("authorization") ?? "").split(" ");
  if (scheme.toLowerCase() !== "bearer") return false;
  const bearer = authenticateBearer(request, token, options);
  if (!bearer.ok || bearer.value.objectId !== queryText(request, "sduoid")) return false;
  // Object ids are unique in a tenant only.
  const tenantId = queryText(request, "skdutid");
  return tenantId === "" || bearer.value.tenantId === tenantId;
}

function userMismatch(): Result<Principal> {
  return authenticationFailed("The signature is limited to a user who did not authenticate");
}
