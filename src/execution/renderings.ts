/** What was made of records lately, for as long as they stand: a stamp is given to one write of a
 *  key and never again, so that nothing here has to be taken back. */
export class Renderings {
  #young = new Map<string, Rendering>();
  #old = new Map<string, Rendering>();
  #youngUnits = 0;
  readonly #generationUnitsMax: number;

  constructor(unitsMax: number = renderingUnitsMax) {
    this.#generationUnitsMax = Math.floor(unitsMax / 2);
  }

  get(key: string, stamp: number, form: number): string | undefined {
    const known = this.#young.get(key) ?? this.#older(key);
    return known?.stamp === stamp && known.form === form ? known.text : undefined;
  }

  set(key: string, rendering: Rendering): void {
    if (this.#youngUnits >= this.#generationUnitsMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngUnits = 0;
    }
    this.#youngUnits += key.length + rendering.text.length;
    this.#young.set(key, rendering);
  }

  #older(key: string): Rendering | undefined {
    const known = this.#old.get(key);
    if (known !== undefined) this.set(key, known);
    return known;
  }
}

export interface Rendering {
  readonly stamp: number;
  /** Of several ways to render a record, the one that was asked for. */
  readonly form: number;
  readonly text: string;
}

/** About as many bytes. */
const renderingUnitsMax = 16 * 1024 * 1024;
