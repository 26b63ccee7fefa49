import { createHmac } from "node:crypto";
import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";
import { account, apiVersion, key as accountKey, type Sent } from "../../verify/wire.ts";
import { insist, isFine, type Setting, type Workload } from "../../verify/workload.ts";

/** A container with a stored access policy, which signatures name. */
type PolicyInput =
  /** Set Container ACL: with the policy, or without it. */
  | { readonly action: "permit" | "revoke" }
  /** Get Blob and Put Blob with a service SAS that has only the id of the policy. */
  | { readonly action: "read" | "write" };

interface PolicyOutput {
  readonly status: number;
}

const name = "access policies";
const containers = 4;
const policy = "clients";
/** The simulated time begins on 2024-01-01; an epoch has 4 s. */
const startMilliseconds = Date.UTC(2024, 0, 1);
const epochMilliseconds = 4_000;

/** A signature that names a stored access policy is valid exactly while the policy is stored: what
 *  was revoked is refused at once, by every server. */
export const accessPolicies: Workload = {
  name,
  service: "blob",
  async setUp({ wire }) {
    for (let index = 0; index < containers; index += 1) {
      const path = containerOf(`p${index}`);
      const made: Sent = { service: "blob", method: "PUT", path: `${path}?restype=container` };
      await insist(() => wire.send(made), 201, 409);
      const headers = { "x-ms-blob-type": "BlockBlob" };
      const put: Sent = { service: "blob", method: "PUT", path: `${path}/blob`, headers };
      await insist(() => wire.send(put), 201);
    }
  },
  client(setting) {
    return async () => {
      const { random } = setting;
      const key = `p${random.below(containers)}`;
      const die = random.below(100);
      const change = die < 15 ? "permit" : "revoke";
      const action = die < 30 ? change : die < 70 ? "read" : "write";
      await perform(setting, key, { action });
    };
  },
  async finish(setting, keys) {
    for (const key of keys) await perform(setting, key, { action: "read" });
  },
  check: checkAccessPolicies,
};

export function checkAccessPolicies(operations: readonly Operation[]): readonly string[] {
  const all = operations as readonly Operation<PolicyInput, PolicyOutput>[];
  return [...byKey(all)].flatMap(([key, each]) => {
    const known = each.filter(
      ({ input, output }) =>
        input.action === "permit" || input.action === "revoke" || output !== undefined,
    );
    return explain(checkLinearizable(model, known)).map((problem) => `${key}: ${problem}`);
  });
}

const model: Model<PolicyInput, PolicyOutput> = {
  initial: "revoked",
  step(state, { action }, output) {
    const status = output?.status ?? 200;
    if (status >= 500) return state;
    if (action === "permit" || action === "revoke") {
      // The wall clock of the server may be so wrong that it refuses the date of the signature.
      if (!isFine(status)) return status === 403 ? state : undefined;
      return action === "permit" ? "permitted" : "revoked";
    }
    const isRight = state === "permitted" ? isFine(status) : status === 403;
    return isRight ? state : undefined;
  },
};

function containerOf(key: string): string {
  return `/simulate-policy-${key}`;
}

function perform(setting: Setting, key: string, input: PolicyInput) {
  const run = async (): Promise<PolicyOutput> => {
    const { status } = await setting.wire.send(requestOf(setting, key, input));
    return { status };
  };
  return setting.recorder.record({ workload: name, key, input }, run);
}

function requestOf(setting: Setting, key: string, { action }: PolicyInput): Sent {
  const path = containerOf(key);
  if (action === "permit" || action === "revoke") {
    const stored = `<SignedIdentifier><Id>${policy}</Id><AccessPolicy>
<Expiry>2099-01-01T00:00:00Z</Expiry><Permission>rw</Permission></AccessPolicy></SignedIdentifier>`;
    const inner = action === "permit" ? stored : "";
    const list = `<SignedIdentifiers>${inner}</SignedIdentifiers>`;
    const body = `<?xml version="1.0" encoding="utf-8"?>${list}`;
    const headers = signedHeaders(setting, path, body.length);
    const acl = `${path}?restype=container&comp=acl`;
    return { service: "blob", method: "PUT", path: acl, headers, body, sas: "" };
  }
  const to = { service: "blob", path: `${path}/blob`, sas: serviceSas(path) } as const;
  if (action === "read") return { ...to, method: "GET" };
  return { ...to, method: "PUT", headers: { "x-ms-blob-type": "BlockBlob" }, body: "written" };
}

/** Access policies need the account key: the headers of a Set Container ACL that is sent now. */
function signedHeaders({ epoch }: Setting, path: string, length: number): Record<string, string> {
  const date = new Date(startMilliseconds + epoch() * epochMilliseconds).toUTCString();
  const lines = ["PUT", "", "", String(length), "", "", "", "", "", "", "", ""];
  lines.push(`x-ms-date:${date}`, `x-ms-version:${apiVersion}`);
  lines.push(`/${account}/${account}${path}`, "comp:acl", "restype:container");
  return {
    "x-ms-date": date,
    authorization: `SharedKey ${account}:${signature(lines.join("\n"))}`,
  };
}

function signature(text: string): string {
  return createHmac("sha256", Buffer.from(accountKey, "base64")).update(text).digest("base64");
}

const signatures = new Map<string, string>();

/** A SAS for a container, with the permissions and the end of its stored policy. */
function serviceSas(path: string): string {
  const known = signatures.get(path);
  if (known !== undefined) return known;
  const version = "2019-12-12";
  const signed = ["", "", "", `/blob/${account}${path}`, policy, "", "", version, "c"];
  const text = [...signed, "", "", "", "", "", ""].join("\n");
  const sas = String(
    new URLSearchParams({ sv: version, si: policy, sr: "c", sig: signature(text) }),
  );
  signatures.set(path, sas);
  return sas;
}
