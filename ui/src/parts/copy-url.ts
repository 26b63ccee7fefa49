import { accounts } from "../accounts.ts";
import { notify } from "./notices.tsx";

/** Copies the address of a resource for other clients, without a signature. */
export async function copyUrl(
  service: string,
  account: string,
  path: readonly string[],
): Promise<void> {
  const url = resourceUrl(service, account, path);
  try {
    await navigator.clipboard.writeText(url);
    notify("good", `Copied ${url}`);
  } catch {
    notify("bad", `The browser does not allow copying. The URL is ${url}`);
  }
}

function resourceUrl(service: string, account: string, path: readonly string[]): string {
  const known = accounts.get().find(({ name }) => name === account);
  const endpoint = known?.endpoints[service] ?? "";
  const segments = path.flatMap((part) => part.split("/"));
  return [endpoint.replace(/\/$/, ""), ...segments.map(encodeURIComponent)].join("/");
}
