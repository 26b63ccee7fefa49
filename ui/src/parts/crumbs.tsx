import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

export interface Crumb {
  readonly words: string;
  readonly href?: string;
}

/** Breadcrumbs; also sets the document title, so that browser tabs differ. */
export function Crumbs({ crumbs }: { readonly crumbs: readonly Crumb[] }): JSX.Element {
  const title = crumbs.at(-1)?.words ?? "";
  useEffect(() => {
    document.title = `${title} – Etagere`;
  }, [title]);
  return (
    <h1 class="crumbs">
      {crumbs.map(({ words, href }, index) => (
        <>
          {index > 0 && (
            <span class="sep" aria-hidden="true">
              /
            </span>
          )}
          {href === undefined ? (
            <span>{words}</span>
          ) : (
            <a href={href} data-up={index === crumbs.length - 2 ? "" : undefined}>
              {words}
            </a>
          )}
        </>
      ))}
    </h1>
  );
}
