import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new certificate for this machine. */
export function makeCertificate(days = 30) {
  const folder = mkdtempSync(join(tmpdir(), "etagere-certificate-"));
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", "-days", String(days), ...made, ...subject], {
    stdio: "pipe",
  });
  return { folder, cert, key, ca: readFileSync(cert, "utf8") };
}
