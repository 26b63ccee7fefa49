import { createHash, randomBytes } from "node:crypto";
import { encryptedFiles } from "../../src/content/extents/encrypted-files.ts";
import type { ExtentFiles } from "../../src/content/extents/extent-files.ts";
import type { StartOptions } from "../../src/index.ts";
import { Cipher } from "../../src/store/encryption/cipher.ts";

/** With `ETAGERE_TEST_ENCRYPTION=1` servers and contents of all tests are encrypted. */
export const isEncrypted = process.env["ETAGERE_TEST_ENCRYPTION"] === "1";

const testKey = createHash("sha256").update("test").digest();

export function encryptionOfTests(): Pick<StartOptions, "encryption"> {
  if (!isEncrypted) return {};
  process.env["ETAGERE_TEST_KEY"] ??= testKey.toString("hex");
  return { encryption: "env:ETAGERE_TEST_KEY" };
}

/** Room for few decrypted chunks, so that tests read cached and evicted ones. */
const cachedBytesMax = 512 * 1024;

/** Extents as they are, or encrypted with `ETAGERE_TEST_ENCRYPTION=1`. */
export function testFiles(files: ExtentFiles): ExtentFiles {
  return isEncrypted ? encryptedFiles(files, testCipher(), cachedBytesMax) : files;
}

/** A cipher with a data key that all tests have. */
export function testCipher(): Cipher {
  const cipher = new Cipher({ random: { bytes: (count) => new Uint8Array(randomBytes(count)) } });
  cipher.setKeys(new Map([[1, testKey]]), 1);
  return cipher;
}
