import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { edm, type Property, type Typed } from "../edm/edm.ts";
import { checkKey, checkPropertyName, checkValue, propertiesMax } from "../edm/limits.ts";

/** An entity as a client sent it, whatever the format. Properties that are null are left out. */
export interface EntityInput {
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  readonly properties: readonly Property[];
}

/** Recorded for a value that is not of the type it says. */
export function unreadable(subject?: string): Failure {
  const message = "An error occurred while processing this request.";
  return fail("InvalidInput", subject === undefined ? { message } : { message, subject });
}

const added = ok(undefined);
/** Up to here looking at each name beats a set of them. */
const fewNamesMax = 16;

/** Takes in properties one by one and holds them to the rules that need no more than one look.
 *  One can build entity after entity: then its lists need not grow anew for each. */
export class EntityBuilder {
  readonly #names: string[] = [];
  #nameCount = 0;
  #manyNames: Set<string> | undefined;
  readonly #properties: Property[] = [];
  #propertyCount = 0;
  #partitionKey: string | undefined;
  #rowKey: string | undefined;

  start(): void {
    // What lies beyond is of earlier bodies, and would keep all of each in memory.
    this.#names.length = this.#nameCount;
    this.#properties.length = this.#propertyCount;
    this.#nameCount = 0;
    this.#manyNames = undefined;
    this.#propertyCount = 0;
    this.#partitionKey = undefined;
    this.#rowKey = undefined;
  }

  /** `undefined` stands for null. */
  add(name: string, typed: Typed | undefined): Result<undefined> {
    if (!this.#isNew(name)) return fail("DuplicatePropertiesSpecified");
    if (name === "Timestamp") return added;
    if (name === "PartitionKey" || name === "RowKey") return this.#addKey(name, typed);
    const named = checkPropertyName(name);
    if (!named.ok || typed === undefined) return named;
    const fits = checkValue(typed.type, typed.value);
    if (!fits.ok) return fits;
    if (this.#propertyCount >= propertiesMax) return fail("TooManyProperties");
    this.#properties[this.#propertyCount] = [name, typed.type, typed.value];
    this.#propertyCount += 1;
    return added;
  }

  #isNew(name: string): boolean {
    if (this.#manyNames !== undefined) {
      if (this.#manyNames.has(name)) return false;
      this.#manyNames.add(name);
      return true;
    }
    const names = this.#names;
    const count = this.#nameCount;
    for (let index = 0; index < count; index += 1) if (names[index] === name) return false;
    names[count] = name;
    this.#nameCount = count + 1;
    if (this.#nameCount === fewNamesMax) this.#manyNames = new Set(names.slice(0, fewNamesMax));
    return true;
  }

  #addKey(name: "PartitionKey" | "RowKey", typed: Typed | undefined): Result<undefined> {
    if (typed === undefined) return added;
    if (typed.type !== edm.string) return unreadable();
    if (name === "PartitionKey") this.#partitionKey = typed.value;
    else this.#rowKey = typed.value;
    return checkKey(name, typed.value);
  }

  get entity(): EntityInput {
    return {
      partitionKey: this.#partitionKey,
      rowKey: this.#rowKey,
      properties: this.#properties.slice(0, this.#propertyCount),
    };
  }
}
