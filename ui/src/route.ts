import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { leaveEditor } from "./edit/unsaved.ts";

/** The view that the fragment of the address selects, such as
 *  `#/blobs/account/container/a%2Fb?blob=x`. */
export interface Route {
  readonly page: string;
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...segments] = path.split("/").map(decodeLeniently);
  return { page, segments, query: Object.fromEntries(new URLSearchParams(search)) };
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function formatRoute(
  page: string,
  segments: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = [page, ...segments].map(encodeURIComponent).join("/");
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, value]],
  );
  const search = new URLSearchParams(entries).toString();
  return search === "" ? `#/${path}` : `#/${path}?${search}`;
}

export function go(hash: string): void {
  location.hash = hash;
}

/** Shows another address without a new history entry. Used to open the details of a list entry:
 *  Back then leaves the list instead of only closing the details. */
export function replaceRoute(hash: string): void {
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The view to show. With unsaved changes it stays until the user agrees to leave it. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  const shown = useRef(hash);
  // Before the page is painted: no change of the address after the first rendering is missed.
  useLayoutEffect(() => {
    const show = (): void => {
      shown.current = location.hash;
      setHash(location.hash);
    };
    const listen = (): void => {
      if (location.hash === shown.current) return;
      const stay = (): void => history.replaceState(null, "", shown.current || "#");
      leaveEditor(show, { stay });
    };
    addEventListener("hashchange", listen);
    return () => removeEventListener("hashchange", listen);
  }, []);
  return parseRoute(hash);
}
