import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { Identity } from "../../../src/admin/api-types.ts";

export type {
  PrincipalInfo,
  RoleInfo,
  AssignmentInfo,
  Identity,
} from "../../../src/admin/api-types.ts";

export const getIdentity = (signal?: AbortSignal): Promise<Result<Identity>> =>
  admin("identity", { signal });
