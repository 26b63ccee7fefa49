// The S3 store of the tests as a program, with the address and the variables of MinIO's image.
import { openFakeS3 } from "../../harness/fake-s3.ts";

await openFakeS3({
  host: "0.0.0.0",
  port: 9000,
  credentials: {
    accessKeyId: process.env["MINIO_ROOT_USER"] ?? "",
    secretAccessKey: process.env["MINIO_ROOT_PASSWORD"] ?? "",
  },
});
