import type { JSX } from "preact";

export interface Crumb {
  readonly words: string;
  readonly href?: string;
}

export function Crumbs({ crumbs }: { readonly crumbs: readonly Crumb[] }): JSX.Element {
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
