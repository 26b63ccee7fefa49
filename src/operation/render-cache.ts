import { RecentMap } from "../encoding/recent-map.ts";

/** Cache of rendered listing entries. A revision belongs to one write of a key and is never used
 *  again, so entries need no invalidation. With it 5,000 listing entries take a quarter of the time
 *  (docs/bench/README.md, docs/adr/010-render-cache.md). */
export class RenderCache {
  readonly #recent: RecentMap<CachedRendering>;

  constructor(unitsMax: number = renderingUnitsMax) {
    this.#recent = new RecentMap(unitsMax, (key, { text }) => key.length + text.length);
  }

  get(key: string, revision: number, form: number): string | undefined {
    const known = this.#recent.get(key);
    return known?.revision === revision && known.variant === form ? known.text : undefined;
  }

  set(key: string, rendering: CachedRendering): void {
    this.#recent.set(key, rendering);
  }
}

export interface CachedRendering {
  readonly revision: number;
  /** Which of several renderings of a record it is. */
  readonly variant: number;
  readonly text: string;
}

/** Total length of the cached texts, in UTF-16 code units. */
const renderingUnitsMax = 16 * 1024 * 1024;
