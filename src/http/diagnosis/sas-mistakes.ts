import { queryText, type SignableRequest } from "../../protocol/signing/request.ts";
import {
  accountSasText,
  serviceSasText,
  type SignedResource,
} from "../../protocol/signing/sas-text.ts";
import { knownVersions } from "../../protocol/versions.ts";
import type { AuthRequest } from "../auth/request.ts";
import { tokenResource } from "../auth/sas-fields.ts";
import type { Mistake } from "./signature-checks.ts";

/** The strings to sign of a SAS after common mistakes of clients. `diagnose.ts` finds the one that
 *  the client has signed. */

/** The orders in which client libraries write the letters of `sp`, by kind of token. Users who
 *  write them in another order sign another text. */
const letterOrders = {
  account: "rwdxylacuptfi",
  blob: "racwdxyltmeopi",
  queue: "raup",
  table: "raud",
  file: "rcwdl",
} as const;

const signedFields =
  "sp ss srt st se si sip spr sv sr ses rscc rscd rsce rscl rsct spk srk epk erk".split(" ");

/** Values of `sr` (kind of resource), and whether each stands for a whole container or share. */
const kinds = [
  ["c", true],
  ["b", false],
  ["s", true],
  ["f", false],
] as const;

type Text = (request: SignableRequest) => string;

interface SasText {
  readonly text: string;
  readonly mistakes: Iterable<Mistake>;
}

/** The string to sign of a token, and the strings that clients sign by mistake. Undefined for a
 *  token without a resource, and for one that is signed with a user delegation key. */
export function sasTextOf(request: AuthRequest): SasText | undefined {
  if (request.query.has("skoid")) return undefined;
  if (request.query.has("ss") || request.query.has("srt")) {
    return { text: accountSasText(request), mistakes: accountMistakes(request) };
  }
  const resource = tokenResource(request);
  if (!resource.ok) return undefined;
  const text = serviceSasText(request, resource.value);
  return { text, mistakes: serviceMistakes(request, resource.value) };
}

function* accountMistakes(request: AuthRequest): Iterable<Mistake> {
  const text = accountSasText(request);
  yield ["the client's text does not end in a newline", text.slice(0, -1)];
  yield* fieldMistakes(request, accountSasText, letterOrders.account);
}

function* serviceMistakes(request: AuthRequest, resource: SignedResource): Iterable<Mistake> {
  const text: Text = (changed) => serviceSasText(changed, resource);
  yield ["the client's text ends in a newline", `${text(request)}\n`];
  yield* fieldMistakes(request, text, letterOrders[request.service]);
  yield* resourceMistakes(request, resource);
}

function* fieldMistakes(request: AuthRequest, text: Text, letters: string): Iterable<Mistake> {
  for (const name of signedFields) {
    const value = queryText(request, name);
    if (value === "") continue;
    yield [`the client did not sign ${name}`, text(withField(request, name, ""))];
    const encoded = encodeURIComponent(value);
    yield [`the client signed ${name} percent-encoded`, text(withField(request, name, encoded))];
    const trimmed = value.trim().replaceAll(" ", "+");
    yield [`${name} has spaces where plus signs belong`, text(withField(request, name, trimmed))];
  }
  const permissions = Array.from(queryText(request, "sp"));
  const ordered = permissions.toSorted((a, b) => letters.indexOf(a) - letters.indexOf(b)).join("");
  yield [`the client signed sp as ${ordered}`, text(withField(request, "sp", ordered))];
  for (const version of knownVersions) {
    yield [`the client signed sv as ${version}`, text(withField(request, "sv", version))];
  }
}

function* resourceMistakes(request: AuthRequest, resource: SignedResource): Iterable<Mistake> {
  const text = (changed: Partial<SignedResource>) =>
    serviceSasText(request, { ...resource, ...changed });
  const { path, service } = resource;
  const { account } = request;
  const own = request.resource.path;
  if (path !== undefined) {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    yield ["the client signed the percent-encoded path", text({ path: encoded })];
    yield [
      "the client signed the container or share instead of the path",
      text({ path: undefined }),
    ];
  } else if (own !== undefined) {
    yield ["the client signed the path instead of the container or share", text({ path: own })];
  }
  for (const [sr, isWhole] of kinds) {
    const other = { ...resource, path: isWhole ? undefined : own };
    yield [`the client signed sr=${sr}`, serviceSasText(withField(request, "sr", sr), other)];
  }
  yield [
    "the client did not sign the moment of the snapshot or version",
    text({ snapshotOrVersion: "" }),
  ];
  const whole = text({});
  const canonical = `/${service}/${account}/`;
  const instead = (other: string) => whole.replace(canonical, () => other);
  yield ["the client left the service out of the canonicalized resource", instead(`/${account}/`)];
  yield [
    "the client's canonicalized resource does not start with a slash",
    instead(canonical.slice(1)),
  ];
  yield ["the client signed the account twice", instead(`${canonical}${account}/`)];
}

function withField(request: AuthRequest, name: string, value: string): AuthRequest {
  const query = new Map(request.query);
  query.set(name, [value]);
  return { ...request, query };
}
