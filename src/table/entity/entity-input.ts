import { fail, type Result, ok, type Failure } from "../../protocol/result.ts";
import {
  edm,
  type Property,
  type TypedValue,
  checkKey,
  checkPropertyName,
  checkValue,
  propertiesMax,
} from "../edm/edm.ts";

/** An entity of a request body, collected property by property and checked. The readers of JSON and
 *  Atom fill it; the write operations take it as input. */

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text of a request body; undefined if it is not valid UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** An entity in a request body, JSON or Atom. Null properties are left out. A key is undefined if
 *  the body does not contain it. */
export interface EntityInput {
  readonly partitionKey: string | undefined;
  readonly rowKey: string | undefined;
  /** Whether a key is annotated with another type than Edm.String. Only inserts reject it. */
  readonly hasTypedKey: boolean;
  readonly properties: readonly Property[];
}

/** The fault for a body that cannot be parsed, or a value that does not fit its type (recorded from
 *  Azure). `subject` names the property or annotation, for the debug log. */
export function malformedEntity(subject?: string): Failure {
  const message = "An error occurred while processing this request.";
  return fail("InvalidInput", subject === undefined ? { message } : { message, subject });
}

type KeyName = "PartitionKey" | "RowKey";

export function isKeyName(name: string): name is KeyName {
  return name === "PartitionKey" || name === "RowKey";
}

const added = ok(undefined);
/** Up to this number of property names, a linear search for duplicates is faster than a set. */
const fewNamesMax = 16;

/** Collects the properties of one entity and checks each: name, duplicates, size of the value. Can
 *  be reused: `start` begins the next entity but keeps the arrays, which would grow again. */
export class EntityBuilder {
  readonly #names: string[] = [];
  #nameCount = 0;
  #manyNames: Set<string> | undefined;
  readonly #properties: Property[] = [];
  #propertyCount = 0;
  #partitionKey: string | undefined;
  #rowKey: string | undefined;
  #hasTypedKey = false;

  start(): void {
    // Drops elements that earlier, longer entities have left in the arrays: their strings would
    // keep whole request bodies in memory.
    this.#names.length = this.#nameCount;
    this.#properties.length = this.#propertyCount;
    this.#nameCount = 0;
    this.#manyNames = undefined;
    this.#propertyCount = 0;
    this.#partitionKey = undefined;
    this.#rowKey = undefined;
    this.#hasTypedKey = false;
  }

  /** Adds a key that the body annotates with another type than Edm.String; `text` is its value. */
  addTypedKey(name: KeyName, text: string): Result<undefined> {
    this.#hasTypedKey = true;
    return this.add(name, { type: edm.string, value: text });
  }

  /** Adds a property or key. `value` is undefined if it is null: then only its name is checked.
   *  Timestamp is ignored, because the server sets it. */
  add(name: string, value: TypedValue | undefined): Result<undefined> {
    if (!this.#isNew(name)) return fail("DuplicatePropertiesSpecified");
    if (name === "Timestamp") return added;
    if (isKeyName(name)) return this.#addKey(name, value);
    const named = checkPropertyName(name);
    if (!named.ok || value === undefined) return named;
    const fits = checkValue(value.type, value.value);
    if (!fits.ok) return fits;
    if (this.#propertyCount >= propertiesMax) return fail("TooManyProperties");
    this.#properties[this.#propertyCount] = [name, value.type, value.value];
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

  #addKey(name: KeyName, value: TypedValue | undefined): Result<undefined> {
    if (value === undefined) return added;
    if (value.type !== edm.string) return fail("InvalidInput");
    if (name === "PartitionKey") this.#partitionKey = value.value;
    else this.#rowKey = value.value;
    return checkKey(name, value.value);
  }

  get entity(): EntityInput {
    return {
      partitionKey: this.#partitionKey,
      rowKey: this.#rowKey,
      hasTypedKey: this.#hasTypedKey,
      properties: this.#properties.slice(0, this.#propertyCount),
    };
  }
}
