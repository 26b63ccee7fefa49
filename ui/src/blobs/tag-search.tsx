import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { EntryName } from "../parts/entry-name.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import { Badge, Empty } from "../parts/states.tsx";
import { usePaged } from "../parts/use-paged.ts";
import { findBlobsByTags, type TaggedBlob } from "../rest/find-by-tags.ts";
import { formatRoute, go } from "../route.ts";
import { folderRoute, parentPrefix, tagSearchRoute } from "./blob-route.ts";

interface TagSearchProps {
  readonly account: string;
  readonly where: string;
}

/** Finds the blobs of an account by an expression on their tags. */
export function TagSearch({ account, where }: TagSearchProps): JSX.Element {
  const [typed, setTyped] = useState(where);
  const containers = { words: "Containers", href: formatRoute("blobs", [account]) };
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[containers, { words: "Find by tags" }]} />
      </div>
      <form
        class="query"
        aria-label="Find by tags"
        onSubmit={(event) => {
          event.preventDefault();
          go(tagSearchRoute(account, typed.trim()));
        }}
      >
        <div class="query-row">
          <input
            class="mono grow"
            aria-label="Tag expression"
            placeholder={`"stage" = 'final' AND "year" >= '2025' AND @container = 'library'`}
            spellcheck={false}
            data-filter
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <Button type="submit" kind="main" icon="search">
            Find blobs
          </Button>
        </div>
      </form>
      <div class="work">
        <div class="list">
          {where === "" ? (
            <Empty>
              Enter an expression on tags: names in double quotes, values in single ones.
            </Empty>
          ) : (
            <Results account={account} where={where} />
          )}
        </div>
      </div>
    </>
  );
}

function Results({ account, where }: TagSearchProps): JSX.Element {
  const { list } = usePaged(
    (marker, { signal }) => findBlobsByTags(account, { where, marker, signal }),
    [account, where],
  );
  return (
    <Listing
      label="Blobs with these tags"
      list={list}
      empty="No blobs match the expression."
      columns={columns}
      keyOf={({ container, name }) => `${container}/${name}`}
      onOpen={({ container, name }) =>
        go(folderRoute({ account, container, prefix: parentPrefix(name) }, { name }))
      }
    />
  );
}

const columns: readonly Column<TaggedBlob>[] = [
  {
    title: "Name",
    width: "minmax(0, 2fr)",
    cell: ({ name }) => <EntryName icon="file" text={name} />,
  },
  { title: "Container", width: "minmax(0, 1fr)", cell: ({ container }) => container },
  {
    title: "Tags",
    width: "minmax(0, 2fr)",
    isMinor: true,
    cell: ({ tags }) =>
      Object.entries(tags).map(([key, value]) => (
        <Badge key={key}>
          {key} = {value}
        </Badge>
      )),
  },
];
