import type { PolicyTarget } from "../admin/policies.ts";
import { formatRoute } from "../route.ts";

/** The address of the page with the access policies of a container, queue, table or share. */
export function policiesRoute({ account, service, container }: PolicyTarget): string {
  return formatRoute("settings", [account, "access", service, container]);
}
