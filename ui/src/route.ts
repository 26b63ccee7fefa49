import { createContext } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
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

/** The present address with other query values; undefined removes one. */
export function changedQuery(patch: Readonly<Record<string, string | undefined>>): string {
  const { page, segments, query } = parseRoute(location.hash);
  return formatRoute(page, segments, { ...query, ...patch });
}

/** Query values about a list: of one folder, and of all lists of a page. */
const folderValues = ["find", "by"];
const pageValues = ["flat", "history", "columns", "sort"];

/** The query values of the present address that another address of the page keeps: the order of a
 *  list stays in the next folder, its filter while an entry is opened. */
export function keptQuery(
  page: string,
  segments: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const present = parseRoute(location.hash);
  if (present.page !== page) return {};
  const isSame = segments.join("/") === present.segments.join("/");
  const names = isSame ? [...pageValues, ...folderValues] : pageValues;
  return Object.fromEntries(names.map((name) => [name, present.query[name]]));
}

const queryEvent = "etagere-query";

/** Changes query values of the present address without a new history entry. Unsaved changes stay:
 *  the values are about how something is shown, not about what. */
export function setQuery(patch: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, "", changedQuery(patch));
  dispatchEvent(new Event(queryEvent));
}

/** Set by the app: the route that it shows. */
export const RouteContext = createContext<Route>({ page: "", segments: [], query: {} });

/** A value of the query of the address, such as the open tab. The default is not in the address. */
export function useQueryValue(
  name: string,
  byDefault = "",
): readonly [string, (value: string) => void] {
  const value = useContext(RouteContext).query[name] ?? byDefault;
  return [value, (next) => setQuery({ [name]: next === byDefault ? undefined : next })];
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
    addEventListener(queryEvent, show);
    return () => {
      removeEventListener("hashchange", listen);
      removeEventListener(queryEvent, show);
    };
  }, []);
  return parseRoute(hash);
}
