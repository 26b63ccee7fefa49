import com.azure.core.credential.TokenCredential;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.util.BinaryData;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.models.TableTransactionFailedException;
import com.azure.identity.DefaultAzureCredentialBuilder;
import com.azure.storage.blob.BlobClient;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.blob.BlobClientBuilder;
import com.azure.storage.blob.sas.BlobSasPermission;
import com.azure.storage.blob.sas.BlobServiceSasSignatureValues;
import com.azure.storage.blob.specialized.BlobLeaseClientBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.util.List;

/** DefaultAzureCredential without an account key: `writes` as a contributor, then `refused`. */
class Identity {
  static final String name = "java";

  public static void main(String[] words) throws Exception {
    TokenCredential credential = new DefaultAzureCredentialBuilder().build();
    BlobServiceClient blobs =
        new BlobServiceClientBuilder()
            .endpoint(System.getenv("BLOB_URL") + "/devstoreaccount1")
            .credential(credential)
            .buildClient();
    TableServiceClient tables =
        new TableServiceClientBuilder()
            .endpoint(System.getenv("TABLE_URL") + "/devstoreaccount1")
            .credential(credential)
            .buildClient();
    if (words[0].equals("writes")) writes(blobs, tables);
    else refused(blobs, tables);
    System.out.println("ok");
    System.exit(0);
  }

  static void writes(BlobServiceClient blobs, TableServiceClient tables) throws Exception {
    blobs.createBlobContainer(name);
    BlobClient blob = blobs.getBlobContainerClient(name).getBlobClient("blob");
    blob.upload(BinaryData.fromString("text"));
    var lease = new BlobLeaseClientBuilder().blobClient(blob).buildClient();
    lease.acquireLease(15);
    expect(412, () -> blob.upload(BinaryData.fromString("lost"), true));
    lease.releaseLease();
    check(blob.downloadContent().toString().equals("text"), "the blob has changed");
    TableClient table = tables.createTable(name);
    table.submitTransaction(List.of(create("1", 1), create("2", 2)));
    check(table.getEntity("p", "2").getProperty("value").equals(2), "the entity has changed");
    OffsetDateTime end = OffsetDateTime.now().plusHours(1);
    var key = blobs.getUserDelegationKey(OffsetDateTime.now().minusMinutes(1), end);
    var permission = new BlobSasPermission().setReadPermission(true).setWritePermission(true);
    var values = new BlobServiceSasSignatureValues(end, permission);
    String url = blob.getBlobUrl() + "?" + blob.generateUserDelegationSas(values, key);
    signed(url).upload(BinaryData.fromString("more"), true);
    Files.writeString(Path.of("sas"), url);
  }

  static void refused(BlobServiceClient blobs, TableServiceClient tables) throws Exception {
    BlobClient blob = blobs.getBlobContainerClient(name).getBlobClient("blob");
    check(blob.downloadContent().toString().equals("more"), "the reader does not read");
    expect(403, () -> blob.upload(BinaryData.fromString("none"), true));
    TableClient table = tables.getTableClient(name);
    refusesTransaction(table);
    expect(403, () -> table.createEntity(new TableEntity("p", "3")));
    BlobClient signed = signed(Files.readString(Path.of("sas")));
    expect(403, () -> signed.upload(BinaryData.fromString("none"), true));
    check(signed.downloadContent().toString().equals("more"), "the signature does not read");
  }

  /** The exception of a transaction has no status. */
  static void refusesTransaction(TableClient table) {
    try {
      table.submitTransaction(List.of(create("3", 3)));
    } catch (TableTransactionFailedException error) {
      return;
    }
    throw new AssertionError("the reader writes entities");
  }

  static TableTransactionAction create(String row, int value) {
    TableEntity entity = new TableEntity("p", row).addProperty("value", value);
    return new TableTransactionAction(TableTransactionActionType.CREATE, entity);
  }

  static BlobClient signed(String url) {
    return new BlobClientBuilder().endpoint(url).buildClient();
  }

  static void check(boolean holds, String problem) {
    if (!holds) throw new AssertionError(problem);
  }

  static void expect(int status, Runnable act) {
    try {
      act.run();
    } catch (HttpResponseException error) {
      check(error.getResponse().getStatusCode() == status, error.toString());
      return;
    }
    throw new AssertionError(status + " was expected");
  }
}
