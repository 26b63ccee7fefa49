import { rulesByAccount } from "../../src/account/identity.ts";
import { parseIdentity, type IdentityInput } from "../../src/account/parse-identity.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import type { AccessRules } from "../../src/protocol/roles/role.ts";

/** The rules of the development account. */
export function rulesFrom(input: IdentityInput): AccessRules | undefined {
  const parsed = parseIdentity({ ...input });
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  return rulesByAccount({ ...parsed.value, hasRoles: true })(developmentAccountName);
}
