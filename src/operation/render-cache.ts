import { RecentMap } from "../process/memo.ts";

/** Cache of the XML or JSON of listed records, by record key; `Records` reads and fills it,
 *  `server/http-services.ts` makes it. A revision belongs to one write of a key and is never used
 *  again, so entries need no invalidation. A repeated listing of 5,000 blobs or a query of 1,000
 *  entities takes half of the CPU time (docs/adr/010-render-cache.md). */
export class RenderCache {
  readonly #recent: RecentMap<CachedRendering>;

  constructor(unitsMax: number = renderingUnitsMax) {
    this.#recent = new RecentMap(unitsMax, {
      weigh: (key, { text }) => key.length + text.length,
    });
  }

  /** The cached text if it was rendered from this revision of the record in this variant. */
  get(key: string, revision: number, variant: number): string | undefined {
    const cached = this.#recent.get(key);
    return cached?.revision === revision && cached.variant === variant ? cached.text : undefined;
  }

  set(key: string, rendering: CachedRendering): void {
    this.#recent.set(key, rendering);
  }
}

interface CachedRendering {
  readonly revision: number;
  /** Which of several renderings of a record this is, for example with or without metadata. A
   *  number that the operation chooses. */
  readonly variant: number;
  readonly text: string;
}

/** Total length of the cached texts, in UTF-16 code units. */
const renderingUnitsMax = 16 * 1024 * 1024;
