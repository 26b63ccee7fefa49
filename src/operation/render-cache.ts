/** Cache of rendered listing entries. A revision belongs to one write of a key and is never used
 *  again, so entries need no invalidation. */
export class RenderCache {
  #young = new Map<string, CachedRendering>();
  #old = new Map<string, CachedRendering>();
  #youngUnits = 0;
  readonly #generationUnitsMax: number;

  constructor(unitsMax: number = renderingUnitsMax) {
    this.#generationUnitsMax = Math.floor(unitsMax / 2);
  }

  get(key: string, revision: number, form: number): string | undefined {
    const known = this.#young.get(key) ?? this.#older(key);
    return known?.revision === revision && known.form === form ? known.text : undefined;
  }

  set(key: string, rendering: CachedRendering): void {
    if (this.#youngUnits >= this.#generationUnitsMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngUnits = 0;
    }
    this.#youngUnits += key.length + rendering.text.length;
    this.#young.set(key, rendering);
  }

  #older(key: string): CachedRendering | undefined {
    const known = this.#old.get(key);
    if (known !== undefined) this.set(key, known);
    return known;
  }
}

export interface CachedRendering {
  readonly revision: number;
  /** Which of several renderings of a record it is. */
  readonly form: number;
  readonly text: string;
}

/** Total length of the cached texts, in UTF-16 code units. */
const renderingUnitsMax = 16 * 1024 * 1024;
