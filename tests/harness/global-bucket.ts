import { openFakeS3 } from "./fake-s3.ts";

/** `ETAGERE_TEST_CONTENT=s3 npm test`: one bucket for all test files of the run. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env["ETAGERE_TEST_CONTENT"] !== "s3") return undefined;
  const bucket = await openFakeS3();
  process.env["ETAGERE_TEST_CONTENT"] = bucket.location;
  process.env["AWS_ACCESS_KEY_ID"] = bucket.credentials.accessKeyId;
  process.env["AWS_SECRET_ACCESS_KEY"] = bucket.credentials.secretAccessKey;
  return () => bucket.close();
}
