import { parseIso } from "../../base/dates.ts";
import { serviceNames, type ServiceName } from "../../protocol/names.ts";
import type { Ticks } from "../../base/ticks.ts";
import {
  findInputError,
  formatValue,
  isMissing,
  oneOf,
  optional,
  textCheck,
  timeCheck,
  type Check,
} from "../inputs.ts";
import type { JsonObject } from "../request.ts";

/** A request of the explorer for a SAS (shared access signature, a signed URL query that gives
 *  limited access to storage), after `parseSasRequest` has validated its body. `sign-sas.ts` signs
 *  it. */
export type SasRequest = CommonSasFields & (AccountSasFields | ServiceSasFields);

interface CommonSasFields {
  readonly account: string;
  /** Lifetime, from `startsAt` or else from now. Undefined if a stored access policy has the
   *  expiry. */
  readonly minutes: number | undefined;
  readonly startsAt: Ticks | undefined;
  readonly permissions: string;
  /** Further query parameters of the SAS by name. */
  readonly fields: Readonly<Record<string, string>>;
}

interface AccountSasFields {
  readonly kind: "account";
  readonly services: string;
  readonly resourceTypes: string;
}

interface ServiceSasFields {
  readonly kind: "service";
  readonly service: ServiceName;
  readonly container: string;
  readonly path: string | undefined;
  readonly snapshot: string | undefined;
  readonly versionId: string | undefined;
}

interface InputProblem {
  readonly problem: string;
}

/** An hour unless the request says otherwise, and at most ten years. */
const minutesDefault = 60;
const minutesMax = 5_256_000;
/** The letters of an account SAS, all of which it grants unless the request names some. */
const allPermissions = "rwdxylacuptfi";
/** All permission letters, with those for directories, which a SAS of an account with a
 *  hierarchical namespace may have. */
const permissionLetters = `${allPermissions}meo`;

/** The query parameters of a SAS that a request may set, by the names of the request. */
const fieldNames = {
  ip: "sip",
  protocol: "spr",
  identifier: "si",
  cacheControl: "rscc",
  contentDisposition: "rscd",
  contentEncoding: "rsce",
  contentLanguage: "rscl",
  contentType: "rsct",
  startPartitionKey: "spk",
  startRowKey: "srk",
  endPartitionKey: "epk",
  endRowKey: "erk",
} as const;

/** Control characters are rejected: a line break would end a field in the string to sign. */
const lineCheck: Check = (value) => {
  const isControlled = typeof value === "string" && /\p{Cc}/u.test(value);
  return textCheck(value) ?? (isControlled ? "contains control characters" : undefined);
};
const line = optional(lineCheck);

function lettersOf(letters: string): Check {
  const form = new RegExp(`^[${letters}]*$`);
  return optional((value) => {
    const isValid = typeof value === "string" && form.test(value);
    return isValid ? undefined : `must be letters of ${letters}, not ${formatValue(value)}`;
  });
}

const minutesCheck: Check = (value) => {
  if (value === undefined || value === null) return undefined;
  const isValid = typeof value === "number" && value > 0 && value <= minutesMax;
  const bounds = `a number above 0, up to ${minutesMax}`;
  return isValid ? undefined : `must be ${bounds}, not ${formatValue(value)}`;
};

const sasChecks = {
  kind: optional(oneOf(["account", "service"])),
  account: lineCheck,
  minutes: minutesCheck,
  startsAt: optional(timeCheck),
  permissions: lettersOf(permissionLetters),
  services: lettersOf("bqtf"),
  resourceTypes: lettersOf("sco"),
  service: optional(oneOf(serviceNames)),
  container: line,
  path: line,
  snapshot: line,
  versionId: line,
  ...Object.fromEntries(Object.keys(fieldNames).map((name) => [name, line])),
};

/** The body of the request after its checks; absent fields have no entry. */
type SasInput = { readonly [N in keyof typeof sasChecks | keyof typeof fieldNames]?: string };

export function parseSasRequest(body: JsonObject): SasRequest | InputProblem {
  const wrong = findInputError(body, sasChecks);
  if (wrong !== undefined) return { problem: wrong };
  const given = Object.entries(body).filter(([, value]) => !isMissing(value));
  const { minutes: asked, ...input } = Object.fromEntries(given) as SasInput & {
    readonly minutes?: number;
  };
  const { account = "", identifier, startsAt } = input;
  const fields = Object.entries(fieldNames).flatMap(([name, field]) => {
    const value = input[name as keyof typeof fieldNames];
    return value === undefined ? [] : [[field, value] as const];
  });
  const common = {
    account,
    minutes: asked ?? (identifier === undefined ? minutesDefault : undefined),
    startsAt: startsAt === undefined ? undefined : parseIso(startsAt),
    fields: Object.fromEntries(fields),
  };
  if (input.kind === "service") return parseServiceSas(input, common);
  const { services = "bqtf", resourceTypes = "sco", permissions = allPermissions } = input;
  return { ...common, kind: "account", services, resourceTypes, permissions };
}

function parseServiceSas(
  input: SasInput,
  common: Omit<CommonSasFields, "permissions">,
): SasRequest | InputProblem {
  const { container, path, snapshot, versionId, permissions = "", identifier } = input;
  const service = input.service as ServiceName | undefined;
  if (service === undefined) return { problem: `service ${oneOf(serviceNames)(undefined)}` };
  if (container === undefined) return { problem: "container is missing" };
  if (identifier === undefined && permissions === "") {
    return { problem: "permissions is missing: letters such as r, or the identifier of a policy" };
  }
  const hasPaths = service === "blob" || service === "file";
  if (path !== undefined && !hasPaths) {
    return { problem: `path is for blobs and files, a ${service} has none` };
  }
  if ((snapshot ?? versionId) !== undefined && (service !== "blob" || path === undefined)) {
    const which = snapshot === undefined ? "versionId" : "snapshot";
    return { problem: `${which} is for one blob: service must be blob, with a path` };
  }
  const resource = { service, container, path, snapshot, versionId };
  return { ...common, kind: "service", ...resource, permissions };
}
